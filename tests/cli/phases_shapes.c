// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Programs of shapes that users have, see phases.h: what their stages are called, and that no
 * stage before or after the main one holds most of the work.  Then programs that chance makes.
 */
#include "phases.h"

#include "../tap.h"

static void begin_program(const char *name)
{
	begin_named("shape", name);
}

/* The share of the process's time that a stage has, %. */
static double time_of(const struct ct_process_phases *p, enum ct_stage which)
{
	const struct ct_stage_span *s = stage(p, which);

	return s ? 100.0 * (s->end - s->begin) / (p->end - p->begin) : 0;
}

/* It has no pattern, and does its work in the execution, which has most of the time. */
static void expect_execution(const char *name, const char *why)
{
	const struct ct_process_phases *p = find();

	expect_none(name, p, why);
	ok(time_of(p, CT_STAGE_EXECUTION) > 90 && !stage(p, CT_STAGE_WEIGHTS), "%s: it is the execution", name);
	forget();
}

/* Nothing but copies, in three threads; nothing but allocations; a launch among many copies. */
static void only_copies(void)
{
	uint64_t from;

	begin_program("copies");
	start();
	from = now;
	for (unsigned int t = 0; t < 3; t++) {
		if (t) {
			end_thread();
			now = from;
			begin_thread(100, 100 + t, t);
		}
		for (int i = 0; i < 600; i++) {
			for (uint32_t k = chance(8); k; k--)
				copy(CT_DIR_H2D, 1 + chance(65536), true);
			if (chance(3) == 0)
				wait_gpu();
			pause_for(chance(1000000));
		}
	}
	end_thread();
	expect_execution("three threads that copy", "no launch");

	begin_program("copies-without-waits");
	context();
	for (int i = 0; i < 500; i++) {
		copy(CT_DIR_H2D, 4096, true);
		pause_for(1000000);
	}
	end_thread();
	expect_execution("copies that nothing waits for", "no launch");

	begin_program("allocations");
	context();
	for (int i = 0; i < 500; i++) {
		alloc();
		pause_for(1000000);
	}
	end_thread();
	expect_execution("allocations alone", "no launch");

	begin_program("launch-among-copies");
	context();
	for (int i = 0; i < 500; i++) {
		copy(CT_DIR_H2D, 1 + chance(65536), false);
		pause_for(100000);
	}
	launch(1, 1);
	copy(CT_DIR_D2H, 4, false);
	end_thread();
	expect_execution("a launch after many copies", "1 launch");
}

/* Of several processes: one that initialises, one that sets memory, one that does it more often. */
static void only_sets(void)
{
	const struct ct_process_phases *p;
	uint64_t from;

	begin_program("sets");
	context();
	alloc();
	for (int i = 0; i < 300; i++) {
		set(4096);
		pause_for(1000000);
		if (i % 10 == 9)
			wait_gpu();
	}
	pause_for(20000000);
	getter();
	end_thread();
	p = find();
	ok(p->works && p->launching_count == 1 && found.main == 0, "a program that only sets memory gives the GPU work");
	ok(stage(p, CT_STAGE_EXECUTION) && stage(p, CT_STAGE_TEARDOWN) && main_holds(p),
	   "its execution is from its first use of the GPU to its last wait");
	forget();

	begin_program("sets-of-processes");
	from = now;
	context();
	alloc();
	end_thread();
	for (int n = 1; n < 3; n++) {
		now = from + n;
		begin_thread(100 + n, 100 + n, n);
		process("sets");
		context();
		for (int i = 0; i < 10 * n; i++)
			set(4096);
		end_thread();
	}
	look(trace_dir);
	ok(found.processes_count == 3 && !found.processes[0].works && found.processes[1].works &&
	   found.main >= 0 && found.processes[found.main].pid == 102, "the one that gave it most work is the main one");
	forget();
}

static void one_launch(void)
{
	const struct ct_process_phases *p;

	begin_program("one");
	start();
	launch(1, 1);
	copy(CT_DIR_D2H, 4, false);
	end_thread();
	p = find();
	expect_none("one launch", p, "1 launch");
	ok(stage(p, CT_STAGE_WEIGHTS) && stage(p, CT_STAGE_EXECUTION), "one launch: its data, then the execution");
	forget();
}

/* NCCL's communicators are made before the weights come, or in between; a pause; copies that are few bytes. */
static void ranks_start(void)
{
	const struct ct_process_phases *p;
	uint64_t made, there;

	begin_program("ranks");
	getter();
	context();
	pause_for(5000000);
	for (int i = 0; i < 2; i++)
		communicator(20000000);
	made = now;
	module();
	alloc();
	for (int i = 0; i < 8; i++)
		copy(CT_DIR_H2D, 1 << 24, false);
	there = now;
	pause_for(500000000);
	copy(CT_DIR_H2D, 4096, false);
	for (int i = 0; i < 100; i++) {
		for (int k = 1; k <= 4; k++)
			launch(k, 8);
		wait_gpu();
	}
	end_thread();
	p = find();
	ok(stage(p, CT_STAGE_COMMUNICATORS) && stage(p, CT_STAGE_COMMUNICATORS)->end < made,
	   "communicators are a stage of their own");
	ok(stage(p, CT_STAGE_MODULES) && stage(p, CT_STAGE_MODULES)->begin == stage(p, CT_STAGE_COMMUNICATORS)->end,
	   "... before code is loaded");
	ok(stage(p, CT_STAGE_WEIGHTS) && stage(p, CT_STAGE_WEIGHTS)->end <= there,
	   "what is copied after a long pause is no part of the weights (%llu of %llu)",
	   stage(p, CT_STAGE_WEIGHTS) ? (unsigned long long)stage(p, CT_STAGE_WEIGHTS)->end : 0ull,
	   (unsigned long long)there);
	forget();

	/* While one thread makes a communicator, another one copies weights. */
	begin_program("ranks-beside");
	getter();
	context();
	made = now;
	communicator(400000000);
	for (int i = 0; i < 100; i++) {
		launch(1, 8);
		wait_gpu();
	}
	end_thread();
	begin_thread(100, 101, 1);
	now = made + 200000000;
	for (int i = 0; i < 8; i++) {
		copy(CT_DIR_H2D, 1 << 24, false);
		pause_for(20000000);
	}
	end_thread();
	p = find();
	ok(stage(p, CT_STAGE_COMMUNICATORS) && stage(p, CT_STAGE_WEIGHTS) &&
	   stage(p, CT_STAGE_WEIGHTS)->begin == stage(p, CT_STAGE_COMMUNICATORS)->end &&
	   stage(p, CT_STAGE_WEIGHTS)->end - stage(p, CT_STAGE_WEIGHTS)->begin > 140000000,
	   "weights that another thread copies while a communicator is made are a stage");
	forget();

	begin_program("ranks-late");
	getter();
	context();
	pause_for(500000000);
	communicator(20000000);
	copy(CT_DIR_H2D, 4096, false);
	pause_for(500000000);
	copy(CT_DIR_H2D, 4096, false);
	for (int i = 0; i < 100; i++) {
		launch(1, 8);
		wait_gpu();
	}
	end_thread();
	p = find();
	ok(!stage(p, CT_STAGE_COMMUNICATORS), "a communicator is no stage where most of its time would be something else");
	ok(!stage(p, CT_STAGE_WEIGHTS), "some bytes in a second are no weights");
	forget();
}

static bool communicators_last(const struct ct_process_phases *p, uint64_t from, uint64_t until)
{
	const struct ct_stage_span *s = stage(p, CT_STAGE_COMMUNICATORS);
	bool is = s && s->begin <= from && s->end + 1000 >= until && s->end <= until + 1000;

	if (!is && s)
		printf("# %llu to %llu, not %llu to %llu\n", (unsigned long long)s->begin, (unsigned long long)s->end,
		       (unsigned long long)from, (unsigned long long)until);
	return is;
}

static void work(int times)
{
	for (int i = 0; i < times; i++) {
		for (int k = 1; k <= 4; k++)
			launch(k, 8);
		wait_gpu();
	}
}

/* Communicators that their call only announces: in groups, and of those that do not block. */
static void ranks_elsewhere(void)
{
	const struct ct_process_phases *p;
	uint64_t from, until;

	begin_program("ranks-group");
	getter();
	context();
	group_begins();
	group_ends(1000000);
	group_begins();
	from = now;
	for (int i = 0; i < 2; i++) {
		group_begins();
		communicator_begun(1 + i);
		group_ends(500);
	}
	group_ends(300000000);
	until = now;
	for (int i = 0; i < 100; i++) {
		work(1);
		group_begins();
		launch(5, 8);
		group_ends(5000);
	}
	end_thread();
	p = find();
	ok(communicators_last(p, from, until) && p->makings_count == 3, "the end of a group in which communicators were made is their making");
	ok(found.processes[0].iterations_count >= 90, "groups in iterations are left alone");
	forget();

	begin_program("ranks-group-alone");
	getter();
	context();
	communicator_begun(1);
	group_begins();
	group_ends(300000000);
	work(100);
	end_thread();
	p = find();
	ok(p->makings_count == 1 && p->makings[0].end - p->makings[0].begin == 1000, "the end of a group without one is none");
	forget();

	begin_program("ranks-unblocked");
	getter();
	context();
	from = now;
	for (int i = 0; i < 2; i++)
		communicator_begun(1 + i);
	for (int i = 0; i < 30000; i++) {
		pause_for(10000);
		communicator_state(1 + i % 2, true);
	}
	for (int i = 0; i < 2; i++)
		communicator_state(1 + i, false);
	until = now;
	work(100);
	pause_for(100000000);
	/* They are finalised. */
	for (int i = 0; i < 10; i++)
		communicator_state(1, i < 9);
	end_thread();
	p = find();
	ok(communicators_last(p, from, until) && p->makings_count == 1, "a communicator that does not block is made until its state says so");
	forget();

	begin_program("ranks-alloc");
	getter();
	context();
	alloc();
	from = now;
	communicator(300000000);
	until = now;
	work(100);
	end_thread();
	p = find();
	ok(communicators_last(p, from, until), "memory that the program allocates before is no data");
	forget();

	/* Another thread asks; it stays long without being asked for. */
	begin_program("ranks-unblocked-threads");
	getter();
	context();
	from = now;
	communicator_begun(1);
	pause_for(400000000);
	until = now;
	work(100);
	end_thread();
	begin_thread(100, 101, 1);
	now = from + 100000000;
	communicator_state(1, true);
	now = until - 500;
	communicator_state(1, false);
	end_thread();
	p = find();
	ok(communicators_last(p, from, until - 500), "... whichever thread asks for it");
	forget();

	begin_program("ranks-unblocked-unasked");
	getter();
	context();
	communicator_begun(1);
	pause_for(400000000);
	communicator_state(1, false);
	work(100);
	end_thread();
	p = find();
	ok(p->makings_count == 1 && p->makings[0].end - p->makings[0].begin == 1000,
	   "one that was ready when it was asked for cost no wait");
	forget();

	/* More than a few: all count. */
	begin_program("ranks-many");
	getter();
	context();
	from = now;
	for (int i = 0; i < 400; i++) {
		communicator(1000000);
		pause_for(1000);
	}
	until = now - 1000;
	work(100);
	end_thread();
	p = find();
	ok(communicators_last(p, from, until - 500) && p->makings_count == 400, "four hundred communicators one after the other");
	forget();
}

/* A communicator that one thread makes, while another launches already. */
static void ranks_beside(void)
{
	const struct ct_process_phases *p;
	uint64_t from, first;

	for (int waits = 0; waits < 2; waits++) {
		begin_program(waits ? "ranks-waits" : "ranks-works");
		getter();
		context();
		from = now;
		communicator(1000000000);
		end_thread();
		begin_thread(100, 101, 1);
		now = first = from + 300000000;
		/* Some kernels, then it waits; or all the time. */
		for (int i = 0; i < 60; i++) {
			launch(1, 8);
			wait_gpu();
			pause_for(waits ? 100000 : 20000000);
		}
		if (waits)
			now = from + 1000000500;
		work(100);
		end_thread();
		p = find();
		if (waits)
			ok(communicators_last(p, from, from + 1000000000), "a process that waits for a communicator: until it is made");
		else
			ok(communicators_last(p, from, first), "one that works beside it: until it begins");
		ok(stages_fit(p), "... and the stages are in order");
		forget();
	}
}

/* Graphs and small copies back; a sample of the model takes as many as a random tree needs. */
static void sampling(void)
{
	const struct ct_process_phases *p;

	begin_program("sampling");
	start();
	for (int i = 0; i < 600; i++)
		launch(1 + chance(200), 8);
	wait_gpu();
	for (int i = 0; i < 400; i++) {
		for (uint32_t k = 1u << chance(6); k; k--) {
			graph(1 + chance(3));
			copy(CT_DIR_D2H, 1, false);
			if (chance(4) == 0)
				copy(CT_DIR_D2H, 8, false);
		}
		launch(500, 1);
		copy(CT_DIR_D2H, 256, false);
	}
	end_thread();
	p = find();
	ok(main_holds(p) && time_of(p, CT_STAGE_TEARDOWN) < 1, "a loop of graphs and copies back: %s%s", p->what, p->why_none);
	forget();
}

/* Two models in two threads, each with a loop of its own. */
static void two_models(void)
{
	const struct ct_process_phases *p;
	uint64_t from;

	begin_program("two-models");
	start();
	from = now;
	for (int i = 0; i < 300; i++) {
		for (int k = 1; k <= 12; k++)
			launch(k, 4);
		wait_gpu();
		pause_for(10000);
	}
	end_thread();
	now = from;
	begin_thread(100, 101, 1);
	for (int i = 0; i < 120; i++) {
		for (int k = 1; k <= 30; k++)
			launch(100 + k, 4);
		wait_gpu();
		pause_for(20000);
	}
	end_thread();
	p = find();
	ok(p->iterations_count >= 100 && main_holds(p), "two models in two threads: %u iterations, %s", p->iterations_count,
	   p->what);
	ok(p->launching_count == 2, "two models in two threads: both give work");
	forget();
}

/* @count steps of @launches, of which the first one is @kernel. */
static void loop(int count, uint32_t kernel, uint32_t launches, uint64_t pause)
{
	for (int i = 0; i < count; i++) {
		for (uint32_t k = 0; k < launches; k++)
			launch(kernel + k, 4);
		wait_gpu();
		pause_for(pause + chance(1000));
	}
}

/* The share of launches, in %, that a stage has. */
static double launches_of(const struct ct_process_phases *p, enum ct_stage which)
{
	return launched(p, which) * 100.0 / (launched(p, CT_STAGE_COUNT) ? : 1);
}

/* Two or three loops one after the other: a training and its evaluation, several models. */
static void loops(void)
{
	static const struct {
		const char *name;
		struct { int count; uint32_t kernel, launches; } loops[3];
		uint32_t iterations;		/* at least */
		double execution, steady;	/* % of the launches, at least */
	} shapes[] = {
		{ "train-evaluate", { { 60, 1, 4 }, { 100, 10, 3 } }, 95, 40, 50 },
		{ "long-train-evaluate", { { 400, 1, 12 }, { 150, 50, 2 } }, 390, 5, 90 },
		{ "evaluate-long-train", { { 150, 50, 2 }, { 400, 1, 12 } }, 390, 0, 90 },
		{ "two-equal-models", { { 100, 1, 10 }, { 100, 50, 10 } }, 95, 45, 45 },
		{ "small-then-large", { { 300, 1, 3 }, { 40, 50, 30 } }, 35, 40, 50 },
		{ "large-then-small", { { 40, 50, 30 }, { 300, 1, 3 } }, 35, 40, 50 },
		{ "again", { { 150, 1, 12 }, { 150, 50, 2 }, { 20, 1, 12 } }, 165, 0, 95 },
		{ "three-models", { { 100, 1, 8 }, { 100, 30, 8 }, { 100, 60, 8 } }, 0, 60, 0 },
	};

	for (unsigned int s = 0; s < sizeof(shapes) / sizeof(*shapes); s++) {
		const struct ct_process_phases *p;

		begin_program(shapes[s].name);
		start();
		for (unsigned int i = 0; i < 3; i++)
			loop(shapes[s].loops[i].count, shapes[s].loops[i].kernel, shapes[s].loops[i].launches, 20000);
		pause_for(1000000);
		getter();
		end_thread();
		p = find();
		if (!ok(p->iterations_count >= shapes[s].iterations && launches_of(p, CT_STAGE_EXECUTION) >= shapes[s].execution &&
			launches_of(p, CT_STAGE_STEADY) >= shapes[s].steady,
			"%s: both loops are work, and one is the steady state", shapes[s].name))
			printf("# %u iterations: %s%s; %.1f %% in the execution, %.1f %% in the steady state\n", p->iterations_count,
			       p->what, p->why_none, launches_of(p, CT_STAGE_EXECUTION), launches_of(p, CT_STAGE_STEADY));
		ok(main_holds(p) && stages_fit(p) && iterations_fit(p) && launches_of(p, CT_STAGE_WARMUP) <= 20 &&
		   launches_of(p, CT_STAGE_TEARDOWN) <= 5, "%s: and none of them is a warm-up or a teardown", shapes[s].name);
		forget();
	}
}

/* @count small steps, each with a wait: @launches from @kernel on. */
static void parts(int count, uint32_t kernel, uint32_t launches)
{
	for (int i = 0; i < count; i++) {
		for (uint32_t k = 0; k < launches; k++)
			launch(kernel + k, 8);
		wait_gpu();
	}
}

/* A step has several parts that are alike, and another one: gradients that are summed up and an optimizer, two models in turn. */
static void steps_of_parts(void)
{
	const struct ct_process_phases *p;

	begin_program("accumulates");
	start();
	for (int i = 0; i < 60; i++) {
		parts(4, 1, 10);
		for (uint32_t k = 0; k < 6; k++)
			launch(40 + k, 8);
		if (i % 10 == 9)
			parts(8, 1, 5);		/* an evaluation */
	}
	wait_gpu();
	end_thread();
	p = find();
	ok(p->iterations_count >= 54 && p->iterations[20].launches == 46, "four small batches and an optimizer are a step: %u iterations, %s",
	   p->iterations_count, p->what);
	forget();

	begin_program("five-and-one");
	start();
	for (int i = 0; i < 40; i++) {
		parts(5, 1, 12);
		parts(1, 30, 12);
	}
	end_thread();
	p = find();
	ok(p->iterations_count >= 39 && p->iterations[20].launches == 72, "five steps of one model and one of another: %u iterations, %s",
	   p->iterations_count, p->what);
	forget();

	/* Several trainings one after the other, each with its weights: their steps are what comes again. */
	begin_program("trainings");
	start();
	for (int i = 0; i < 4; i++) {
		for (int k = 0; k < 12; k++)
			copy(CT_DIR_H2D, 1 << 23, false);
		parts(40, 1, 20);
		pause_for(10000000);
	}
	end_thread();
	p = find();
	ok(p->iterations_count >= 150 && p->iterations[20].launches == 20, "steps of four trainings: %u iterations, %s", p->iterations_count,
	   p->what);
	forget();

	/* Answers of any length are told from their tokens by the same. */
	begin_program("answers");
	start();
	for (int i = 0; i < 30; i++) {
		parts(1, 100, 24);
		parts(10 + chance(30), 1, 24);
	}
	end_thread();
	p = find();
	ok(p->iterations_count >= 300 && p->iterations[20].launches == 24, "tokens of answers: %u iterations, %s%s", p->iterations_count,
	   p->what, p->why_none);
	forget();
}

/* Large kernels before a loop of many small ones: few launches, but most of the GPU's work. */
static void heavy(void)
{
	const struct ct_process_phases *p;

	for (int gpu = 0; gpu < 2; gpu++) {
		begin_program(gpu ? "heavy-gpu" : "heavy");
		start();
		for (int i = 0; i < 50; i++) {
			launch(900 + i % 7, 64);
			if (gpu)
				gpu_works(2000000);
			wait_for(2000000);
		}
		for (int i = 0; i < 300; i++) {
			for (int k = 1; k <= 4; k++)
				launch(k, 4);
			if (gpu)
				gpu_works(1000);
			wait_gpu();
		}
		end_thread();
		if (gpu)
			end_gpu();
		p = find();
		ok(p->iterations_count >= 290 && (stage(p, gpu ? CT_STAGE_WARMUP : CT_STAGE_EXECUTION) == NULL) && stage(p, gpu ? CT_STAGE_EXECUTION : CT_STAGE_WARMUP),
		   "most of the GPU's work before the iterations is %s", gpu ? "an execution" : "not seen without its records");
		forget();
	}
}

/* The same where code is loaded all the time before: those are kernels that are tried. */
static void tried(void)
{
	const struct ct_process_phases *p;

	begin_program("tried");
	start();
	for (int i = 0; i < 100; i++) {
		module();
		for (int k = 0; k < 10; k++)
			launch(1000 + i, 8);
		wait_gpu();
	}
	loop(100, 1, 2, 20000);
	end_thread();
	p = find();
	ok(p->iterations_count >= 95 && launches_of(p, CT_STAGE_WARMUP) > 80 && main_holds(p), "kernels that are tried are a warm-up: %u iterations",
	   p->iterations_count);
	forget();
}

/* A model that is captured, and replayed: what it captured is no work, and each replay is as many kernels. */
static void captured(void)
{
	const struct ct_process_phases *p;

	begin_program("captured");
	start();
	loop(3, 1, 400, 20000);
	capture(true);
	for (uint32_t k = 0; k < 400; k++)
		launch(1 + k, 4);
	capture(false);
	for (int i = 0; i < 50; i++) {
		graph(1);
		wait_gpu();
	}
	end_thread();
	p = find();
	ok(p->captured == 400 && p->captures == 1 && ct_phases_graph_kernels(p) == 400, "400 launches are captured");
	ok(p->iterations_count >= 48 && stage(p, CT_STAGE_WARMUP) && !stage(p, CT_STAGE_EXECUTION),
	   "a graph of them is the steady state, and what came before the warm-up: %u iterations, %s", p->iterations_count, p->what);
	forget();
}

/* Launches that nothing waits for but the end, when the GPU does most of them. */
static void runs_ahead(void)
{
	const struct ct_process_phases *p;
	const struct ct_stage_span *steady;

	for (int i = 0; i < 3; i++) {
		static const char *const names[] = { "ahead", "ahead-copy", "ahead-pause" };
		uint64_t end;

		begin_program(names[i]);
		start();
		for (int k = 0; k < 800; k++)
			launch(1 + k % 4, 8);
		if (i == 2)
			pause_for(500000000);
		if (i == 1)
			copy(CT_DIR_D2H, 4096, true);
		wait_for(80000000);
		end = now - 500;
		pause_for(3000000);
		getter();
		end_thread();
		p = find();
		steady = stage(p, CT_STAGE_STEADY);
		ok(main_holds(p) && steady && (steady->end == end) == (i < 2) && time_of(p, CT_STAGE_TEARDOWN) < 10 + 90 * (i == 2),
		   "%s: %s", names[i], i == 2 ? "a wait long after the loop is none for it" : "the wait for the loop is in its steady state");
		forget();
	}
}

/* Steps of which the first three are much slower, in the call or behind it; and requests that come when they come. */
static void slow_at_first(void)
{
	const struct ct_process_phases *p;

	for (int behind = 0; behind < 2; behind++) {
		begin_program(behind ? "slow-behind" : "slow-inside");
		start();
		for (int i = 0; i < 80; i++) {
			for (int k = 1; k <= 4; k++)
				launch(k, 4);
			if (i < 3 && !behind)
				wait_for(20000000);
			else
				wait_gpu();
			pause_for(i < 3 && behind ? 20000000 : 20000 + chance(1000));
		}
		end_thread();
		p = find();
		expect(behind ? "steps with pauses at first" : "steps that are slow at first", p, 80, 4);
		ok(ct_phases_warmup(p) == 3 && time_of(p, CT_STAGE_WARMUP) > 70, "... three of them are the warm-up (%u)", ct_phases_warmup(p));
		forget();
	}

	begin_program("slow-at-random");
	start();
	for (int i = 0; i < 200; i++) {
		for (int k = 1; k <= 4; k++)
			launch(k, 4);
		wait_gpu();
		pause_for(i == 0 || any(5) == 0 ? 300000 : 100000);
	}
	end_thread();
	p = find();
	ok(p->iterations_count == 200 && !ct_phases_warmup(p), "a long one at first is no warm-up where others are as long (%u of %u)",
	   ct_phases_warmup(p), p->iterations_count);
	forget();

	/* The first step comes after other waits than the others do: it is one all the same. */
	begin_program("first");
	start();
	for (int i = 0; i < 8; i++)
		copy(CT_DIR_H2D, 1 << 24, false);
	for (int i = 0; i < 40; i++) {
		for (int k = 0; k < 8; k++)
			launch(1 + k % 2, 4);
		wait_gpu();
		pause_for(20000);
	}
	end_thread();
	expect("the first step after copies", find(), 40, 8);
	forget();
}

/* A server: requests, and minutes without one. */
static void server(void)
{
	const struct ct_process_phases *p;

	begin_program("server");
	start();
	for (int i = 0; i < 40; i++) {
		copy(CT_DIR_H2D, 4096, true);
		for (int k = 1; k <= 20; k++)
			launch(k, 4);
		copy(CT_DIR_D2H, 64, false);
		pause_for(i % 10 == 9 ? 120000000000ull : 1000000ull * chance(50));
	}
	end_thread();
	p = find();
	expect("a server with idle minutes", p, 40, 20);
	ok(time_of(p, CT_STAGE_WARMUP) < 50 && time_of(p, CT_STAGE_STEADY) > 50, "its pauses are in the steady state");
	forget();
}

/* Each new shape is compiled: seconds without a call, then a module. */
static void compiled(void)
{
	const struct ct_process_phases *p;

	begin_program("compiled");
	start();
	for (int i = 0; i < 6; i++) {
		pause_for(2000000000);
		module();
		for (int k = 0; k < 4; k++)
			launch(10 * i + k, 2);
		wait_gpu();
	}
	for (int i = 0; i < 200; i++) {
		launch(900, 8);
		launch(901, 8);
		wait_gpu();
	}
	end_thread();
	p = find();
	expect("steps after code was compiled", p, 200, 2);
	ok(time_of(p, CT_STAGE_WARMUP) > 90, "compiling is the warm-up");
	forget();
}

/*
 * Requests of as many launches as it happens, of a few kernels in no order: long pieces of it are alike, by as many as they have
 * of each, but none comes again.
 */
static void requests(void)
{
	static const struct { uint32_t kernels, grids, most; bool copies; } shapes[] = {
		{ 3, 64, 60, true }, { 3, 1, 200, false }, { 12, 64, 60, true }, { 40, 1, 100, false }, { 2, 4, 300, true },
	};

	for (unsigned int s = 0; s < sizeof(shapes) / sizeof(*shapes); s++)
		for (unsigned int n = 0; n < 8; n++) {
			const struct ct_process_phases *p;
			char name[32];

			snprintf(name, sizeof(name), "requests-%u-%u", s, n);
			begin_program(name);
			begin_chance(s * 100 + n + 1);
			start();
			for (int i = 0; i < 120; i++) {
				if (shapes[s].copies)
					copy(CT_DIR_H2D, 64 * (1 + chance(64)), true);
				for (uint32_t k = 3 + any(shapes[s].most); k; k--)
					launch(1 + any(shapes[s].kernels), 1 + any(shapes[s].grids));
				if (shapes[s].copies)
					copy(CT_DIR_D2H, 64, true);
				wait_gpu();
				pause_for(chance(5000000));
			}
			end_thread();
			p = find();
			if (!ok(!p->iterations_count && launches_of(p, CT_STAGE_EXECUTION) == 100, "%s: nothing comes again", name))
				printf("# %u iterations: %s%s\n", p->iterations_count, p->what, p->why_none);
			forget();
		}
}

/* Requests of one model, each with its own size: the grids differ, the kernels and their order do not. */
static void sizes(void)
{
	const struct ct_process_phases *p;

	begin_program("sizes");
	start();
	for (int i = 0; i < 100; i++) {
		uint32_t size = 1 + chance(64);

		copy(CT_DIR_H2D, 64 * size, true);
		for (uint32_t k = 0; k < 40; k++)
			launch(1 + k % 7, size * (1 + k % 3));
		copy(CT_DIR_D2H, 64, false);
		pause_for(chance(5000000));
	}
	end_thread();
	p = find();
	ok(p->iterations_count >= 98, "requests of any size: %u iterations, %s", p->iterations_count, p->what);
	forget();
}

static void long_without_pattern(void)
{
	begin_program("long-random");
	start();
	for (int i = 0; i < 20000; i++) {
		launch(chance(3000), 1 + chance(9));
		if (chance(9) == 0)
			copy(chance(2) ? CT_DIR_D2H : CT_DIR_H2D, 1 + chance(100000), chance(2));
		if (chance(50) == 0)
			alloc();
	}
	end_thread();
	expect_execution("a long run without repetition", "no sequence that comes again explains");
}

/* A piece of a program that chance makes. */
static void piece(void)
{
	uint32_t count = 1 + chance(60), launches = chance(12), kernel = 1 + chance(100), kind = chance(6);

	for (uint32_t i = 0; i < count; i++) {
		if (kind == 5)
			module();
		for (uint32_t k = 0; kind != 1 && k < launches; k++)
			launch(kind == 2 ? 1 + chance(500) : kernel + k, 4);
		if (kind == 3)
			graph(kernel);
		for (uint32_t k = chance(3); (kind == 1 || kind == 4) && k; k--)
			copy(chance(3) ? CT_DIR_H2D : CT_DIR_D2H, 1 + chance(1 << 20), chance(2));
		if (kind != 2 || chance(5) == 0)
			wait_gpu();
		pause_for(chance(4) ? chance(100000) : chance(50000000));
	}
}

static void by_chance(void)
{
	unsigned int bad = 0;
	char name[32];

	for (uint32_t n = 0; n < 400; n++) {
		const struct ct_process_phases *p;
		uint64_t from;

		snprintf(name, sizeof(name), "chance-%u", n);
		begin_program(name);
		begin_chance(n * 7919 + 1);
		start();
		from = now;
		for (uint32_t t = 0, threads = 1 + chance(3); t < threads; t++) {
			if (t) {
				end_thread();
				now = from + chance(1000000);
				begin_thread(100, 100 + t, t);
			}
			for (uint32_t k = 1 + chance(5); k; k--)
				piece();
		}
		end_thread();
		p = find();
		if (!main_holds(p) || !stages_fit(p) || !iterations_fit(p)) {
			printf("# %s: %s%s\n", name, p->what, p->why_none);
			bad++;
		}
		forget();
	}
	ok(!bad, "programs that chance made: most work is in the steady state or the execution");
}

void test_shapes(void)
{
	only_copies();
	only_sets();
	ranks_start();
	ranks_elsewhere();
	ranks_beside();
	one_launch();
	sampling();
	two_models();
	loops();
	steps_of_parts();
	heavy();
	tried();
	captured();
	runs_ahead();
	slow_at_first();
	server();
	compiled();
	requests();
	sizes();
	long_without_pattern();
	by_chance();
}
