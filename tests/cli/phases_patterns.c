// SPDX-License-Identifier: LGPL-2.1-or-later
/* The patterns of synthetic programs, and programs without one; see phases.h. */
#include "phases.h"

#include "../tap.h"

static void regular(void)
{
	const struct ct_process_phases *p;

	begin("regular");
	begin_thread(100, 100, 0);
	process("regular");
	start();
	for (int i = 0; i < 50; i++) {
		copy(CT_DIR_H2D, 1 << 10, true);
		for (int k = 1; k <= 5; k++)
			launch_for(k, 8, i ? 3000 : 900000);
		getter();
		copy(CT_DIR_D2H, 4, true);
		wait_gpu();
	}
	pause_for(1000000);
	getter();
	end_thread();
	p = find();
	expect("a regular loop", p, 50, 5);
	ok(!strcmp(p->what, "5 launches and 1 synchronisation, from the end of "
		   "cuStreamSynchronize"),
	   "what an iteration is: %s", p->what);
	ok(p->source == CT_ITER_PATTERN && p->tid == 100 && !breaks(p) && found.main == 0,
	   "it is the pattern of a thread, without breaks");
	ok(p->stages_count == 7 && stage(p, CT_STAGE_STARTUP) && stage(p, CT_STAGE_INIT) &&
	   stage(p, CT_STAGE_MODULES) && stage(p, CT_STAGE_WEIGHTS) && stage(p, CT_STAGE_WARMUP) &&
	   stage(p, CT_STAGE_STEADY) && stage(p, CT_STAGE_TEARDOWN), "it has all stages but one");
	ok(p->stages_count == 7 && stage(p, CT_STAGE_STEADY)->begin == p->iterations[1].begin &&
	   stage(p, CT_STAGE_STEADY)->end == p->iterations[49].end,
	   "the steady state begins with the first regular iteration");
	ok(p->stages_count == 7 && ct_phases_stage(p, p->begin) == CT_STAGE_STARTUP &&
	   ct_phases_stage(p, p->iterations[20].begin) == CT_STAGE_STEADY &&
	   ct_phases_stage(p, p->end) == CT_STAGE_TEARDOWN &&
	   ct_phases_stage(p, p->end + 1) == CT_STAGE_COUNT, "the stage of a moment");
	ok(ct_phases_iteration(p, p->begin) == -1 && ct_phases_iteration(p, p->end) == -1,
	   "no iteration before the first and after the last");
	/* weights: two blocking copies of 4 us; modules: a load of 2 ms */
	ok(p->stages_count == 7 &&
	   stage(p, CT_STAGE_INIT)->end - stage(p, CT_STAGE_INIT)->begin == 5000550 &&
	   stage(p, CT_STAGE_MODULES)->end - stage(p, CT_STAGE_MODULES)->begin == 2001000 &&
	   stage(p, CT_STAGE_WEIGHTS)->end - stage(p, CT_STAGE_WEIGHTS)->begin == 12000,
	   "initialisation, modules and weights last as long as they do");
	forget();
}

/*
 * A few equal ranges, then the main work, which has no pattern: no stage but "execution" may hold
 * most of the launches.
 */
static void bulk_after(void)
{
	const struct ct_process_phases *p;
	uint32_t random = 1;

	begin("bulk-after");
	begin_thread(100, 100, 0);
	process("bulk-after");
	start();
	for (int i = 0; i < 24; i++) {
		push("prepare");
		for (int k = 1; k <= 40; k++)
			launch(k, 8);
		wait_gpu();
		pop();
	}
	for (int i = 0; i < 5000; i++) {
		random = random * 1103515245u + 12345u;
		launch(1000 + (random >> 8) % 3000, 8);
		if (random >> 30 == 0)
			copy(CT_DIR_D2H, 4, true);
	}
	end_thread();
	p = find();
	expect_none("most launches after the iterations", p, "of the launches are not in them");
	ok(stage(p, CT_STAGE_EXECUTION) && !stage(p, CT_STAGE_STEADY), "they are the execution");
	forget();
}

/* Kernels are tried before a few iterations, or before many. */
static void bulk_before(int count)
{
	const struct ct_process_phases *p;
	uint32_t random = 1;

	begin(count < 16 ? "bulk-before" : "bulk-before-many");
	begin_thread(100, 100, 0);
	process("bulk-before");
	start();
	for (int i = 0; i < 600; i++) {
		random = random * 1103515245u + 12345u;
		launch(100 + (random >> 8) % 300, 8);
	}
	wait_gpu();
	for (int i = 0; i < count; i++) {
		graph(1);
		wait_gpu();
	}
	end_thread();
	p = find();
	if (count < 16)
		expect_none("most launches before a few iterations", p, "");
	else
		expect("most launches before many iterations", p, count, 1);
	forget();
}

/* Weights are many small copies; the first steps of the training are not like the later ones. */
static void weights_and_steps(void)
{
	const struct ct_process_phases *p;
	uint64_t steps;

	begin("weights");
	begin_thread(100, 100, 0);
	process("weights");
	start();
	for (int i = 0; i < 2000; i++)
		copy(CT_DIR_H2D, 1 << 12, false);
	steps = now;
	for (int i = 0; i < 80; i++) {
		copy(CT_DIR_H2D, 1 << 20, true);
		for (int k = 1; k <= 40; k++)
			launch(i < 20 ? 1000 + 40 * i + k : k, 8);
		wait_gpu();
	}
	end_thread();
	p = find();
	ok(p->iterations_count >= 59 && p->iterations_count <= 61, "the later steps are iterations (%u)",
	   p->iterations_count);
	ok(stage(p, CT_STAGE_WEIGHTS) && stage(p, CT_STAGE_WEIGHTS)->end < steps + 100000,
	   "the weights end with the first step, not with the last copy before the pattern (%llu of %llu)",
	   stage(p, CT_STAGE_WEIGHTS) ? (unsigned long long)stage(p, CT_STAGE_WEIGHTS)->end : 0ull,
	   (unsigned long long)steps);
	forget();
}

/* A recording that began in the middle. */
static void middle(void)
{
	const struct ct_process_phases *p;

	begin("middle");
	begin_thread(100, 100, 0);
	for (int i = 0; i < 50; i++) {
		for (int k = i ? 1 : 3; k <= 4; k++)
			launch(k, 8);
		wait_gpu();
	}
	end_thread();
	p = find();
	ok(p->iterations_count == 49 || p->iterations_count == 50,
	   "a program from the middle on: 49 whole iterations (%u)", p->iterations_count);
	ok(p->stages_count && p->stages[0].stage == CT_STAGE_STEADY && stages_fit(p),
	   "and no initialisation is invented");
	forget();
}

static void outliers(void)
{
	const struct ct_process_phases *p;
	struct ct_coverage c;

	begin("outliers");
	begin_thread(100, 100, 0);
	process("outliers");
	start();
	for (int i = 0; i < 60; i++) {
		for (int k = 1; k <= 6; k++) {
			launch_for(k, 8, i == 37 && k == 3 ? 28000000 : 3000);
			if (i % 20 == 11 && k == 2)
				launch(77, i);
		}
		wait_gpu();
		if (i == 29)	/* between two calls of the model */
			pause_for(80000000);
	}
	end_thread();
	p = find();
	ok(p->iterations_count == 60 && iterations_fit(p),
	   "a loop with outliers: 60 iterations (%u)", p->iterations_count);
	ok(p->iterations_count == 60 && p->iterations[37].end - p->iterations[37].begin > 28000000,
	   "the slow one stays an iteration");
	ok(breaks(p) == 1 && p->iterations_count == 60 &&
	   p->iterations[30].begin >= p->iterations[29].end + 80000000,
	   "a long pause is a break, and no part of an iteration");
	ok(p->iterations_count == 60 && ct_phases_iteration(p, p->iterations[29].end + 1000) == -1,
	   "in a break there is no iteration");
	ct_phases_coverage(p, &c);
	ok(p->iterations_count == 60 && c.from == p->iterations[29].end && c.to == p->iterations[30].begin &&
	   c.steady - c.covered == c.to - c.from, "the break is the part of the steady state without iterations");
	forget();
}

/* A wait more or less makes no other step of one with the same launches. */
static void waits_differ(void)
{
	const struct ct_process_phases *p;
	struct ct_coverage c;

	begin("waits-differ");
	begin_thread(100, 100, 0);
	process("waits differ");
	start();
	for (int i = 0; i < 39; i++) {
		for (int k = 1; k <= 20; k++) {
			launch(k, 8);
			if (k == 6 && (i < 12 || i >= 22))	/* not in ten steps in a row */
				wait_gpu();
			if (k == 9 && i >= 30 && i < 34)
				copy(CT_DIR_D2D, 4, false);
		}
		copy(CT_DIR_D2H, 4, true);
		wait_gpu();
		pause_for(30000);
	}
	end_thread();
	p = find();
	expect("steps whose waits differ", p, 39, 20);
	ok(!breaks(p) && iterations_fit(p), "steps whose waits differ: one after the other (%u breaks)", breaks(p));
	ct_phases_coverage(p, &c);
	ok(c.steady && c.covered == c.steady && !c.from && !c.to, "they cover the steady state");
	forget();

	/* Its end lacks the wait that ends the others. */
	begin("no-last-wait");
	begin_thread(100, 100, 0);
	process("no last wait");
	start();
	for (int i = 0; i < 30; i++) {
		for (int k = 1; k <= 20; k++)
			launch(k, 8);
		if (i < 12 || i >= 22)
			wait_gpu();
	}
	end_thread();
	p = find();
	ok(p->iterations_count == 30 && iterations_fit(p) && !breaks(p),
	   "ten steps without a wait: 30 iterations (%u, %u breaks)", p->iterations_count, breaks(p));
	forget();
}

static void nested(bool waits)
{
	const struct ct_process_phases *p;
	const char *name = waits ? "layers in tokens" : "layers in steps without waits";

	begin(waits ? "nested" : "nested-no-waits");
	begin_thread(100, 100, 0);
	process("nested");
	start();
	for (int generation = 0; generation < 4; generation++) {
		for (int token = 0; token < 32; token++) {
			launch(1, 2);
			for (int layer = 0; layer < 12; layer++)
				for (int k = 0; k < 8; k++)
					launch(10 + k % 5, 4 + k / 4);
			launch(2, 7);
			launch(3, 7);
			if (waits) {
				copy(CT_DIR_D2H, 8, true);
				wait_gpu();
			}
			pause_for(20000);
		}
	}
	end_thread();
	p = find();
	expect(name, p, 128, 99);
	ok(!breaks(p), "%s: no breaks", name);
	forget();
}

/* A generation's first token is a longer one, and the shapes grow with each token. */
static void growing(void)
{
	const struct ct_process_phases *p;

	begin("growing");
	begin_thread(100, 100, 0);
	process("growing");
	start();
	for (int generation = 0; generation < 3; generation++) {
		for (int token = 0; token < 40; token++) {
			if (!token)
				for (int k = 0; k < 6; k++)
					launch(80 + k, 1);
			for (int layer = 0; layer < 6; layer++) {
				launch(1, 12);
				launch(2, 3 + token);		/* attention over the past */
				launch(token < 16 ? 3 : 4, 3 + token / 8);	/* variants */
				launch(5, 12);
			}
			launch(6, 50);
			copy(CT_DIR_D2H, 8, true);
			wait_gpu();
		}
		pause_for(5000000);
	}
	end_thread();
	p = find();
	ok(p->iterations_count == 120 && iterations_fit(p), "growing shapes: 120 tokens (%u, %s%s)",
	   p->iterations_count, p->what, p->why_none);
	ok(breaks(p) == 2, "growing shapes: a break between generations (%u)", breaks(p));
	forget();
}

/* Two kinds of steps in turn: those of which there are more are the iterations. */
static void epochs(void)
{
	const struct ct_process_phases *p;
	uint32_t of_eval = 0;

	begin("epochs");
	begin_thread(100, 100, 0);
	process("epochs");
	start();
	for (int epoch = 0; epoch < 5; epoch++) {
		for (int i = 0; i < 50; i++) {
			for (int k = 1; k <= 20; k++)
				launch(k, 4);
			wait_gpu();
		}
		for (int i = 0; i < 10; i++) {
			for (int k = 1; k <= 4; k++)
				launch(k, 2);
			wait_gpu();
		}
	}
	end_thread();
	p = find();
	for (uint32_t i = 0; i < p->iterations_count; i++)
		of_eval += p->iterations[i].launches != 20;
	ok(p->iterations_count >= 245 && p->iterations_count <= 250 && breaks(p) == 4 && !of_eval,
	   "epochs: about 250 steps (%u), %u breaks, %s%s", p->iterations_count, breaks(p),
	   p->what, p->why_none);
	forget();
}

/* As many launches as there are requests: no two iterations are the same. */
static void varying(void)
{
	const struct ct_process_phases *p;

	begin("varying");
	begin_thread(100, 100, 0);
	process("varying");
	start();
	srand(2);
	for (int i = 0; i < 100; i++) {
		launch(1, 1 + rand() % 50);
		for (int k = 0, n = 8 + rand() % 3; k < n; k++) {
			launch(2, 1 + rand() % 50);
			launch(3, 16);
		}
		launch(4, 1);
		copy(CT_DIR_D2H, 8, true);
		wait_gpu();
	}
	end_thread();
	p = find();
	/* The first one may lack what the others are recognised by. */
	ok((p->iterations_count == 99 || p->iterations_count == 100) && iterations_fit(p) &&
	   !breaks(p),
	   "launches that vary: 100 iterations (%u, %s%s)", p->iterations_count, p->what,
	   p->why_none);
	forget();
}

/* More launches than are kept: the pattern is found in the kept part, all are cut. */
static void bounded(void)
{
	const struct ct_process_phases *p;
	struct ct_error err = { 0 };
	char words[64];

	begin("bounded");
	begin_thread(100, 100, 0);
	process("bounded");
	start();
	for (int i = 0; i < 2000; i++) {
		for (int k = 1; k <= 5; k++)
			launch(k, 4);
		wait_gpu();
	}
	end_thread();
	begin_thread(200, 200, 0);
	process("bounded ranges");
	start();
	for (int i = 0; i < 1000; i++) {
		snprintf(words, sizeof(words), "step %d", i);
		push(words);
		for (int k = 1; k <= 5; k++)
			launch(k, 4);
		pop();
	}
	end_thread();
	ok(!ct_trace_open(&trace, trace_dir, &err) &&
	   !ct_phases_find_bounded(&found, &trace, 2000) && found.processes_count == 2,
	   "a trace of more than is kept");
	if (found.processes_count == 2) {
		p = &found.processes[0];
		expect("more than is kept", p, 2000, 5);
		ok(!breaks(p) && p->end - p->iterations[p->iterations_count - 1].end < 1000,
		   "until the end");
		p = &found.processes[1];
		expect("more ranges than are kept", p, 1000, 5);
		ok(p->source == CT_ITER_RANGES, "they are ranges");
	}
	forget();
}

/* A process that becomes another program (exec), with more launches than are kept. */
static void bounded_exec(void)
{
	for (int after = 0; after < 2; after++) {
		static const int counts[2][2] = { { 1500, 20 }, { 20, 1500 } };
		struct ct_error err = { 0 };

		begin(after ? "bounded-exec-after" : "bounded-exec-before");
		for (int i = 0; i < 2; i++) {
			begin_thread(100, 100, i);
			process(i ? "the other" : "the one");
			start();
			for (int n = 0; n < counts[after][i]; n++) {
				for (int k = 1; k <= 5; k++)
					launch(10 * i + k, 4);
				wait_gpu();
			}
			end_thread();
			pause_for(1000000);
		}
		ok(!ct_trace_open(&trace, trace_dir, &err) && !ct_phases_find_bounded(&found, &trace, 4000) &&
		   found.processes_count == 2, "a program that becomes another one is two processes");
		for (unsigned int i = 0; i < 2 && found.processes_count == 2; i++) {
			const struct ct_process_phases *p = &found.processes[i];

			expect(i ? "after exec" : "before exec", p, counts[after][i], 5);
			ok(stages_fit(p) && stage(p, CT_STAGE_STEADY), "... it has its stages");
		}
		ok(found.main == after, "the one with the most launches is the main one");
		forget();
	}
}

static void graphs(void)
{
	const struct ct_process_phases *p;

	begin("graphs");
	begin_thread(100, 100, 0);
	process("graphs");
	start();
	for (int k = 0; k < 20; k++)
		launch(k % 3 + 1, 1);
	wait_gpu();
	pause_for(1000000);
	for (int i = 0; i < 300; i++) {
		copy(CT_DIR_H2D, 100, true);
		graph(0x1234);
		wait_gpu();
	}
	end_thread();
	p = find();
	expect("replays of a graph", p, 300, 1);
	ok(!strcmp(p->what, "1 launch of a graph and 1 synchronisation, from the end of "
		   "cuStreamSynchronize"), "replays of a graph: %s", p->what);
	forget();
}

static void no_waits(void)
{
	const struct ct_process_phases *p;

	begin("no-waits");
	begin_thread(100, 100, 0);
	process("no waits");
	start();
	for (int i = 0; i < 40; i++) {
		for (int k = 1; k <= 9; k++)
			launch(k == 9 ? 1 : k, 4);
		pause_for(30000);
	}
	wait_gpu();
	end_thread();
	p = find();
	expect("a loop without waits", p, 40, 9);
	/* Nine launches of 3 us with pauses of 500 ns in between. */
	ok(p->iterations_count == 40 && p->iterations[39].end - p->iterations[39].begin == 31000,
	   "the last iteration ends with its last launch");
	forget();

	begin("one-kernel");
	begin_thread(100, 100, 0);
	process("one kernel");
	start();
	for (int i = 0; i < 1000; i++)
		launch(1, 4);
	end_thread();
	expect("a loop of one kernel", find(), 1000, 1);
	forget();

	begin("copies");
	begin_thread(100, 100, 0);
	process("copies");
	start();
	for (int i = 0; i < 30; i++) {
		launch(1, 4);
		launch(1, 8);
		copy(CT_DIR_D2H, 100, false);
	}
	end_thread();
	p = find();
	expect("copies that block", p, 30, 2);
	ok(strstr(p->what, "a copy that blocks") != NULL, "copies that block: %s", p->what);
	forget();
}

static void none(void)
{
	const struct ct_process_phases *p;

	begin("random");
	begin_thread(100, 100, 0);
	process("random");
	start();
	srand(1);
	for (int i = 0; i < 2000; i++) {
		if (rand() % 7)
			launch(1 + rand() % 40, 1 + rand() % 3);
		else
			wait_gpu();
	}
	end_thread();
	expect_none("random launches", find(), "no sequence that comes again explains");
	forget();

	begin("two");
	begin_thread(100, 100, 0);
	process("two");
	start();
	launch(1, 1);
	launch(1, 1);
	wait_gpu();
	end_thread();
	expect_none("two launches", find(), "2 launches, no sequence came again 4 times");
	ok(stage(&found.processes[0], CT_STAGE_EXECUTION) != NULL,
	   "two launches: they are the execution");
	ok(ct_phases_process(&found, 100, 0) && !ct_phases_process(&found, 101, 0),
	   "a process is found by its pid");
	forget();

	begin("idle");
	begin_thread(100, 100, 0);
	process("idle");
	start();
	pause_for(1000);
	getter();
	end_thread();
	expect_none("a program without launches", find(), "no launch");
	ok(found.main == 0 && found.processes[0].works, "a process that only copies gave the GPU work");
	forget();

	begin("nothing");
	begin_thread(100, 100, 0);
	process("nothing");
	mark("a");
	end_thread();
	p = find();
	ok(p->pid == 100 && !p->calls && !p->stages_count,
	   "a process that does not call libcuda has no stages");
	forget();
}

void test_patterns(void)
{
	regular();
	bulk_after();
	bulk_before(8);
	bulk_before(60);
	weights_and_steps();
	middle();
	outliers();
	waits_differ();
	nested(true);
	nested(false);
	growing();
	epochs();
	varying();
	bounded();
	bounded_exec();
	graphs();
	no_waits();
	none();
}
