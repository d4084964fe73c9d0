// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Stages and iterations: of the real traces, and of synthetic programs with and without a
 * pattern.
 *
 *	phases NEWDIR [TRACE...]	TRACE: a real trace, unpacked, under its name
 *
 * Prints TAP.
 */
#include <sys/stat.h>

#include "../tap.h"
#include "phases.h"

/* --------------------------------------------------------- what it says --- */

static void ranges(void)
{
	const struct ct_process_phases *p;
	char words[64];

	begin("ranges");
	begin_thread(100, 100, 0);
	process("ranges");
	start();
	for (int i = 0; i < 25; i++) {
		snprintf(words, sizeof(words), "step %d", i + 95);
		push(words);
		push("forward");
		for (int k = 0; k < 8; k++)
			launch(1 + k % 2, 4);
		pop();
		push("backward");
		for (int k = 0; k < 10; k++)
			launch(3 + k % 2, 4);
		pop();
		pop();
		if (i == 10)
			pause_for(900000000);
	}
	end_thread();
	p = find();
	expect("ranges", p, 25, 18);
	ok(p->source == CT_ITER_RANGES && !strcmp(p->what, "range 'step #'") && breaks(p) == 1,
	   "ranges: %s, one break", p->what);
	forget();

	/* Ranges of a framework that contain few of the launches. */
	begin("few-ranges");
	begin_thread(100, 100, 0);
	process("few ranges");
	start();
	for (int i = 0; i < 30; i++) {
		push("scan");
		launch(9, 1);
		pop();
		for (int k = 1; k <= 8; k++)
			launch(k, 4);
		wait_gpu();
	}
	end_thread();
	p = find();
	expect("ranges of few launches", p, 30, 9);
	ok(p->source == CT_ITER_PATTERN, "they are not taken");
	forget();

	begin("marks");
	begin_thread(100, 100, 0);
	process("marks");
	start();
	for (int i = 0; i < 20; i++) {
		snprintf(words, sizeof(words), "step %d", i);
		mark(words);
		for (int k = 0; k < 6; k++)
			launch(1, 4);
		wait_gpu();
	}
	end_thread();
	p = find();
	expect("marks", p, 20, 6);
	ok(p->source == CT_ITER_MARKS && !strcmp(p->what, "mark 'step #'"), "marks: %s", p->what);
	forget();
}

/* -------------------------------------------------------------- processes --- */

static void loop_of(int count, uint32_t kernel)
{
	start();
	for (int i = 0; i < count; i++) {
		launch(kernel, 1);
		launch(kernel + 1, 1);
		wait_gpu();
	}
}

static void reused_pid(void)
{
	const struct ct_process_phases *a, *b;

	begin("reused");
	begin_thread(100, 100, 0);
	process("first");
	loop_of(20, 1);
	end_thread();
	pause_for(5000000);
	begin_thread(100, 100, 1);
	process("first");
	loop_of(30, 5);
	end_thread();
	ok(look(trace_dir) && found.processes_count == 2,
	   "a pid that is used again is two processes");
	if (found.processes_count == 2) {
		a = &found.processes[0];
		b = &found.processes[1];
		ok(a->generation == 0 && b->generation == 1 && a->end < b->begin,
		   "one after the other");
		expect("the first of them", a, 20, 2);
		expect("the second of them", b, 30, 2);
		ok(ct_phases_process(&found, 100, a->end) == a &&
		   ct_phases_process(&found, 100, b->end) == b && found.main == 1,
		   "each is found by its time");
	}
	forget();
}

static void first_program(void)
{
	begin_thread(100, 100, 0);
	for (int i = 0; i < 40; i++) {
		launch(1, 1);
		launch(2, 1);
		wait_gpu();
	}
	end_thread();
}

/*
 * A flight recorder (record --keep) that dropped the first packets of a process that became another program: it wrote their
 * process records when it did, long after the programs began.
 */
static void exec_dropped(void)
{
	for (int both = 0; both < 2; both++) {
		uint64_t middle = 0;

		begin(both ? "exec-dropped-both" : "exec-dropped-first");
		first_program();
		pause_for(5000000);
		begin_thread(100, 100, 1);
		if (!both)
			process("second");
		for (int i = 0; i < 60; i++) {
			for (int k = 5; k <= 7; k++)
				launch(k, 1);
			wait_gpu();
			middle = i == 30 ? now : middle;
		}
		end_thread();
		begin_state();
		now = middle;
		dropped_process(100, "first");
		if (both)
			dropped_process(100, "second");
		end_thread();
		ok(look(trace_dir) && found.processes_count == 2, "exec, %s dropped: %u processes",
		   both ? "both programs' first packets" : "the first program's first packet", found.processes_count);
		if (found.processes_count == 2) {
			expect("the first one", &found.processes[0], 40, 2);
			expect("the second one", &found.processes[1], 60, 3);
		}
		forget();
	}

	/* The record of a program that was not replaced is no other one. */
	begin("dropped");
	first_program();
	begin_state();
	now -= 100000;
	dropped_process(100, "first");
	end_thread();
	ok(look(trace_dir) && found.processes_count == 1, "a packet that was dropped: one process");
	if (found.processes_count == 1)
		expect("it", &found.processes[0], 40, 2);
	forget();
}

static void threads(void)
{
	const struct ct_process_phases *p;
	uint64_t from;

	begin("threads");
	begin_thread(100, 100, 0);
	process("threads");
	start();
	from = now;
	for (int i = 0; i < 40; i++) {
		for (int k = 1; k <= 5; k++)
			launch(k, 4);
		pause_for(100000);	/* the other thread launches */
		launch(6, 4);
		copy(CT_DIR_D2H, 4, true);
		wait_gpu();
	}
	end_thread();
	now = from;
	begin_thread(100, 101, 1);
	for (int i = 0; i < 40; i++) {
		pause_for(5 * 3500 + 10000);
		for (int k = 20; k < 28; k++)
			launch(k, 4);
		pause_for(100000 - 10000 - 8 * 3500 + 3500 + 4500 + 9500);
	}
	end_thread();
	p = find();
	expect("two threads that launch in turn", p, 40, 14);
	ok(p->tid == 100, "the one that waits makes the iterations");
	forget();
}

static void cpu_streams(void)
{
	begin("cpus");
	program_on_two_cpus(50);
	expect("a thread in the streams of two CPUs", find(), 50, 3);
	forget();
}

/* ------------------------------------------------------------ real traces --- */

static const struct {
	const char *name;
	unsigned int pid_index;		/* the how manyth process with iterations */
	uint32_t count, launches;	/* launches of the iterations in the middle */
	enum ct_iteration_source source;
	unsigned int breaks;
	const char *what;
} real[] = {
	{ "gpt2", 0, 7, 252, CT_ITER_PATTERN, 0, "252 launches and 2 synchronisations" },
	{ "long/gpt2", 0, 64, 252, CT_ITER_PATTERN, 1, "252 launches and 2 synchronisations" },
	{ "train", 0, 40, 35, CT_ITER_PATTERN, 0, "35 launches and 3 synchronisations" },
	{ "train-nvtx", 0, 20, 35, CT_ITER_RANGES, 0, "range 'step #'" },
	{ "graph", 0, 300, 1, CT_ITER_PATTERN, 0, "1 launch of a graph and 1 synchronisation" },
	{ "jax", 0, 100, 1, CT_ITER_RANGES, 0, "hlo_module=jit_step" },
	{ "processes", 0, 60, 7, CT_ITER_PATTERN, 0, "7 launches and 2 synchronisations" },
	{ "processes", 1, 60, 7, CT_ITER_PATTERN, 0, "7 launches and 2 synchronisations" },
	{ "inference", 0, 200, 4, CT_ITER_PATTERN, 0, "4 launches and 1 synchronisation" },
	{ "guest-inference", 0, 50, 4, CT_ITER_PATTERN, 0, "4 launches and 1 synchronisation" },
	{ "guest-two", 0, 100, 4, CT_ITER_PATTERN, 0, "4 launches and 1 synchronisation" },
	{ "guest-two", 1, 100, 4, CT_ITER_PATTERN, 0, "4 launches and 1 synchronisation" },
	{ "guest-off-cpu", 0, 60, 7, CT_ITER_PATTERN, 0, "7 launches and 1 synchronisation" },
};

static void real_trace(const char *path)
{
	const char *name = strrchr(path, '/');
	unsigned int seen = 0, expected = 0;

	name = name ? name + 1 : path;
	/* Whole traces of the same names. */
	if (name - path >= 5 && !strncmp(name - 5, "long/", 5))
		name -= 5;
	if (!ok(look(path), "%s: is read", name)) {
		forget();
		return;
	}
	for (unsigned int i = 0; i < found.processes_count; i++) {
		const struct ct_process_phases *p = &found.processes[i];
		const struct ct_stage_span *init = stage(p, CT_STAGE_INIT);

		ok((p->calls ? stages_fit(p) : !p->stages_count) && iterations_fit(p),
		   "%s: times of process %u are in order", name, p->pid);
		for (unsigned int k = 0; k < sizeof(real) / sizeof(*real); k++) {
			if (strcmp(real[k].name, name) || real[k].pid_index != seen ||
			    !p->iterations_count)
				continue;
			ok(p->iterations_count == real[k].count, "%s: %u iterations (%u)", name,
			   real[k].count, p->iterations_count);
			ok(p->iterations[p->iterations_count / 3].launches == real[k].launches &&
			   p->source == real[k].source && strstr(p->what, real[k].what),
			   "%s: an iteration is %s", name, p->what);
			ok(breaks(p) == real[k].breaks, "%s: %u breaks (%u)", name, real[k].breaks,
			   breaks(p));
			ok(init && stage(p, CT_STAGE_STEADY) && stage(p, CT_STAGE_TEARDOWN) &&
			   stage(p, CT_STAGE_WARMUP) && !stage(p, CT_STAGE_EXECUTION),
			   "%s: it warms up, has a steady state and a teardown", name);
		}
		seen += p->iterations_count > 0;
	}
	for (unsigned int k = 0; k < sizeof(real) / sizeof(*real); k++)
		expected += !strcmp(real[k].name, name);
	if (expected)
		ok(seen == expected && found.main >= 0 &&
		   found.processes[found.main].iterations_count,
		   "%s: %u processes have iterations, and the main one is one of them", name,
		   expected);
	forget();
}

int main(int argc, char **argv)
{
	if (argc < 2 || mkdir(argv[1], 0777)) {
		fprintf(stderr, "usage: phases NEWDIR [TRACE...]\n");
		return 2;
	}
	top = argv[1];
	test_patterns();
	test_polls();
	test_shapes();
	ranges();
	reused_pid();
	exec_dropped();
	threads();
	cpu_streams();
	for (int i = 2; i < argc; i++)
		real_trace(argv[i]);
	return tap_done();
}
