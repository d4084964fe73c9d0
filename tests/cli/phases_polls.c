// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Programs that ask whether the GPU is done instead of waiting for it, see phases.h; and launches at which nothing shows where
 * an iteration begins.
 */
#include "phases.h"

#include "../tap.h"

static void begin_program(const char *name)
{
	begin_named("polls", name);
	start();
}

/* Asks so many times in vain, and once more. */
static void ask_until(uint64_t event, uint32_t times)
{
	for (uint32_t i = 0; i < times; i++) {
		ask(event, false);
		pause_for(1000);
	}
	ask(event, true);
}

static bool from_question(const struct ct_process_phases *p)
{
	return strstr(p->what, "1 synchronisation, from the end of cuEventQuery");
}

/* A step ends when the event is reached: sometimes at once. */
static void steps(void)
{
	const struct ct_process_phases *p;

	begin_program("steps");
	for (int i = 0; i < 60; i++) {
		for (int k = 1; k <= 3; k++)
			launch(k, 4);
		ask_until(7, i % 4 == 3 ? 0 : 20 + any(30));
		pause_for(5000);
	}
	end_thread();
	p = find();
	expect("steps that are asked for", p, 60, 3);
	ok(from_question(p) && p->asks, "they end with the answer: %s", p->what);
	ok(!breaks(p) && p->iterations[59].end + 10000 > p->end, "... each of them, the last one, too");
	forget();

	/* The same where more was recorded than is kept. */
	ok(!ct_trace_open(&trace, trace_dir, &(struct ct_error){ 0 }) && !ct_phases_find_bounded(&found, &trace, 60) &&
	   found.processes_count == 1, "more of them than are kept");
	if (found.processes_count == 1) {
		expect("steps that are read again", &found.processes[0], 60, 3);
		ok(from_question(&found.processes[0]), "... end with the answer, too");
	}
	forget();
}

/* One kernel a request, and the thread asks all the time: also while there is nothing to wait for. */
static void requests(void)
{
	const struct ct_process_phases *p;

	begin_program("requests");
	for (int i = 0; i < 40; i++) {
		launch(1, 4);
		ask_until(7, 5 + any(10));
		for (uint32_t k = any(300); k; k--) {
			ask(7, true);
			pause_for(20000);
		}
	}
	end_thread();
	p = find();
	ok(p->iterations_count >= 39 && from_question(p), "requests, and questions between them: %u iterations, %s%s", p->iterations_count,
	   p->what, p->why_none);
	forget();
}

/* Events that a library looks at between the launches, of which each is another one or work goes on meanwhile: no waits. */
static void looks(void)
{
	const struct ct_process_phases *p;

	begin_program("looks");
	for (int i = 0; i < 50; i++) {
		for (int k = 1; k <= 8; k++) {
			launch(k, 4);
			ask(100 + i, k > 4);
		}
		ask(200 + i, false);
		ask(100 + i, true);
		copy(CT_DIR_D2H, 4, true);
		wait_gpu();
	}
	end_thread();
	p = find();
	expect("questions between launches", p, 50, 8);
	ok(strstr(p->what, "1 synchronisation, from the end of cuStreamSynchronize") && !p->asks, "... are no waits: %s", p->what);
	forget();
}

/* A program that waits for many events at the same time: what it finds reached at once says nothing. */
static void many_events(void)
{
	const struct ct_process_phases *p;

	begin_program("events");
	for (int i = 0; i < 200; i++) {
		launch(1, 4);
		ask_until(1000 + i, i < 100);
		launch(2, 4);
		wait_gpu();
	}
	end_thread();
	p = find();
	ok(p->iterations_count >= 199 && strstr(p->what, "cuStreamSynchronize"), "many events: %u iterations, %s", p->iterations_count, p->what);
	forget();
}

/* One kernel that is launched when there is work; or in bursts; or in each step of a simulation, or with its data. */
static void lone(void)
{
	begin_program("lone-at-random");
	for (int i = 0; i < 60; i++) {
		launch(1, 4);
		pause_for(10000000 + 1000ull * any(90000));
	}
	wait_gpu();
	end_thread();
	expect_none("a kernel now and then", find(), "no sequence that comes again");
	forget();

	begin_program("lone-in-bursts");
	for (int i = 0; i < 3; i++) {
		for (int k = 0; k < 20; k++)
			launch(1, 4);
		wait_gpu();
	}
	end_thread();
	expect_none("three bursts of a kernel", find(), "no sequence that comes again");
	forget();

	begin_program("lone-with-data");
	for (int i = 0; i < 60; i++) {
		copy(CT_DIR_H2D, 4096, true);
		launch(1, 4);
		pause_for(10000000 + 1000ull * any(90000));
	}
	end_thread();
	expect("a kernel and its data now and then", find(), 60, 1);
	forget();

	begin_program("lone-steps");
	for (int i = 0; i < 60; i++) {
		launch(1, 4);
		pause_for(1000000 + 1000ull * any(200));
		if (i % 10 == 9)
			pause_for(9000000);
	}
	wait_gpu();
	end_thread();
	expect("a kernel in each step", find(), 60, 1);
	forget();
}

void test_polls(void)
{
	steps();
	requests();
	looks();
	many_events();
	lone();
}
