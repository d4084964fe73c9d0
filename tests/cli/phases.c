// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Stages and iterations: of the real traces, and of synthetic programs with and without a
 * pattern.
 *
 *	phases NEWDIR [TRACE...]	TRACE: a real trace, unpacked; its name says what is expected
 *
 * Prints TAP.
 */
#include <stdbool.h>
#include <sys/stat.h>

#include "../../cli/phases/process.h"
#include "../tap.h"
#include "phases.h"

static struct ct_trace trace;
static struct ct_phases found;
static const char *top;

static void begin(const char *name)
{
	static char path[4096];

	snprintf(path, sizeof(path), "%s/%s", top, name);
	dir = path;
	if (mkdir(path, 0777))
		die(path);
	registry();
	now = START + 1000000;
	operation = 0;
}

static void forget(void)
{
	ct_phases_free(&found);
	ct_trace_close(&trace);
}

static bool look(const char *path)
{
	struct ct_error err = { 0 };

	return !ct_trace_open(&trace, path, &err) && !ct_phases_find(&found, &trace);
}

/* The one process of the trace that was begun last. */
static const struct ct_process_phases *find(void)
{
	static const struct ct_process_phases nothing;

	return look(dir) && found.processes_count ? &found.processes[0] : &nothing;
}

/* How many iterations do not begin where the one before ends. */
static unsigned int breaks(const struct ct_process_phases *p)
{
	unsigned int n = 0;

	for (uint32_t i = 1; i < p->iterations_count; i++)
		n += p->iterations[i].begin != p->iterations[i - 1].end;
	return n;
}

static bool launches_are(const struct ct_process_phases *p, uint32_t launches)
{
	for (uint32_t i = 0; i < p->iterations_count; i++)
		if (p->iterations[i].launches != launches)
			return false;
	return true;
}

/* Stages are one after the other, from its begin to its end, in their order. */
static bool stages_fit(const struct ct_process_phases *p)
{
	uint64_t at = p->begin;

	for (unsigned int i = 0; i < p->stages_count; i++) {
		const struct ct_stage_span *s = &p->stages[i];

		if (s->begin != at || s->end <= s->begin || (i && s->stage <= s[-1].stage))
			return false;
		at = s->end;
	}
	return p->stages_count && at == p->end;
}

static bool iterations_fit(const struct ct_process_phases *p)
{
	for (uint32_t i = 0; i < p->iterations_count; i++) {
		const struct ct_iteration *it = &p->iterations[i];
		uint64_t middle = it->begin + (it->end - it->begin) / 2;

		if (it->end <= it->begin || (i && it->begin < it[-1].end) || it->begin < p->begin ||
		    it->end > p->end || ct_phases_iteration(p, it->begin) != i ||
		    ct_phases_iteration(p, middle) != i)
			return false;
	}
	return true;
}

static const struct ct_stage_span *stage(const struct ct_process_phases *p, enum ct_stage stage)
{
	for (unsigned int i = 0; i < p->stages_count; i++)
		if (p->stages[i].stage == stage)
			return &p->stages[i];
	return NULL;
}

/* ------------------------------------------------------------ iterations --- */

static void expect(const char *name, const struct ct_process_phases *p, uint32_t count,
		   uint32_t launches)
{
	if (!ok(p->iterations_count == count && launches_are(p, launches),
		"%s: %u iterations of %u launches", name, count, launches))
		printf("# %u of %u: %s%s\n", p->iterations_count,
		       p->iterations_count ? p->iterations[0].launches : 0, p->what, p->why_none);
	ok(iterations_fit(p) && stages_fit(p), "%s: times are in order", name);
}

static void expect_none(const char *name, const struct ct_process_phases *p, const char *why)
{
	if (!ok(p->source == CT_ITER_NONE && !p->iterations_count && strstr(p->why_none, why),
		"%s: no iterations, because of '%s'", name, why))
		printf("# %u: %s%s\n", p->iterations_count, p->what, p->why_none);
	ok(stages_fit(p) && !stage(p, CT_STAGE_STEADY) && !stage(p, CT_STAGE_WARMUP),
	   "%s: no steady state", name);
}

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
	ok(!strcmp(p->what, "5 launches and 1 synchronisation, from the end of cuStreamSynchronize"),
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

static void outliers(void)
{
	const struct ct_process_phases *p;

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
	ok(p->iterations_count == 60 && iterations_fit(p), "a loop with outliers: 60 iterations (%u)",
	   p->iterations_count);
	ok(p->iterations_count == 60 && p->iterations[37].end - p->iterations[37].begin > 28000000,
	   "the slow one stays an iteration");
	ok(breaks(p) == 1 && p->iterations_count == 60 &&
	   p->iterations[30].begin >= p->iterations[29].end + 80000000,
	   "a long pause is a break, and no part of an iteration");
	ok(p->iterations_count == 60 && ct_phases_iteration(p, p->iterations[29].end + 1000) == -1,
	   "in a break there is no iteration");
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
				launch(token < 16 ? 3 : 4, 3 + token / 8);	/* another variant */
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
	ok(p->iterations_count == 100 && iterations_fit(p) && !breaks(p),
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
	ok(!ct_trace_open(&trace, dir, &err) && !ct_phases_find_bounded(&found, &trace, 2000) &&
	   found.processes_count == 2, "a trace of more than is kept");
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
	ok(stage(&found.processes[0], CT_STAGE_EXECUTION) != NULL, "two launches: they are the execution");
	ok(ct_phases_process(&found, 100, START) && !ct_phases_process(&found, 101, START),
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
	ok(found.main == -1, "without launches no process is the main one");
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
	ok(look(dir) && found.processes_count == 2, "a pid that is used again is two processes");
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

/* Records of one thread in the streams of two CPUs. */
static void cpu_streams(void)
{
	struct writer cpus[2];
	uint8_t buf[256];
	uint32_t ids[2] = { 1, 0 };

	begin("cpus");
	open_writer(&cpus[0], "k-0", CT_STREAM_CPU, 8192);
	open_writer(&cpus[1], "k-1", CT_STREAM_CPU, 8192);
	cpus[1].head.cpu = 1;
	cpu_record(&cpus[0], (struct spec){ CT_CLASS_process, 0, CT_F_INSTANT, 0, now, now, 1, PID, 0 },
		   buf, with_text(buf, ids, sizeof(ids), "spread"));
	for (int i = 0; i < 50; i++)
		for (int k = 0; k < 4; k++) {
			struct ct_launch l = { .kernel = k + 1, .grid_x = 1 };
			struct ct_handle h = { 1 };

			now += 500;
			cpu_record(&cpus[(i * 4 + k) / 3 % 2],
				   (struct spec){ k < 3 ? LAUNCH : WAIT, 0, 0, 0, now, now + 2000,
				   ++operation, PID, 0 }, k < 3 ? (void *)&l : &h,
				   k < 3 ? sizeof(l) : sizeof(h));
			now += 2000;
		}
	close_writer(&cpus[0]);
	close_writer(&cpus[1]);
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
	{ "gpt2", 0, 64, 252, CT_ITER_PATTERN, 1, "252 launches and 2 synchronisations" },
	{ "train", 0, 40, 35, CT_ITER_PATTERN, 0, "35 launches and 3 synchronisations" },
	{ "train-nvtx", 0, 20, 35, CT_ITER_RANGES, 0, "range 'step #'" },
	{ "graph", 0, 300, 1, CT_ITER_PATTERN, 0, "1 launch of a graph and 1 synchronisation" },
	{ "jax", 0, 100, 1, CT_ITER_RANGES, 0, "hlo_module=jit_step" },
	{ "processes", 0, 60, 7, CT_ITER_PATTERN, 0, "7 launches and 2 synchronisations" },
	{ "processes", 1, 60, 7, CT_ITER_PATTERN, 0, "7 launches and 2 synchronisations" },
	{ "inference", 0, 200, 4, CT_ITER_PATTERN, 0, "4 launches and 1 synchronisation" },
};

static void real_trace(const char *path)
{
	const char *name = strrchr(path, '/');
	unsigned int seen = 0;

	name = name ? name + 1 : path;
	if (!ok(look(path), "%s: is read", name)) {
		forget();
		return;
	}
	for (unsigned int i = 0; i < found.processes_count; i++) {
		const struct ct_process_phases *p = &found.processes[i];
		const struct ct_stage_span *init = stage(p, CT_STAGE_INIT);

		ok(stages_fit(p) && iterations_fit(p) && init, "%s: times of process %u are in order",
		   name, p->pid);
		for (unsigned int k = 0; k < sizeof(real) / sizeof(*real) && p->iterations_count; k++) {
			if (strcmp(real[k].name, name) || real[k].pid_index != seen)
				continue;
			ok(p->iterations_count == real[k].count, "%s: %u iterations (%u)", name,
			   real[k].count, p->iterations_count);
			ok(p->iterations[p->iterations_count / 3].launches == real[k].launches &&
			   p->source == real[k].source && strstr(p->what, real[k].what),
			   "%s: an iteration is %s", name, p->what);
			ok(breaks(p) == real[k].breaks, "%s: %u breaks (%u)", name, real[k].breaks,
			   breaks(p));
			ok(stage(p, CT_STAGE_STEADY) && stage(p, CT_STAGE_TEARDOWN) &&
			   stage(p, CT_STAGE_WARMUP) && !stage(p, CT_STAGE_EXECUTION),
			   "%s: it warms up, has a steady state and a teardown", name);
		}
		seen += p->iterations_count > 0;
	}
	ok(seen == (!strcmp(name, "processes") ? 2 : 1) && found.main >= 0 &&
	   found.processes[found.main].iterations_count, "%s: the main process has iterations", name);
	forget();
}

int main(int argc, char **argv)
{
	if (argc < 2 || mkdir(argv[1], 0777))
		die("phases NEWDIR [TRACE...]");
	top = argv[1];
	regular();
	outliers();
	nested(true);
	nested(false);
	growing();
	epochs();
	varying();
	bounded();
	graphs();
	no_waits();
	none();
	ranges();
	reused_pid();
	threads();
	cpu_streams();
	for (int i = 2; i < argc; i++)
		real_trace(argv[i]);
	return tap_done();
}
