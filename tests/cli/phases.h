/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * For the tests of stages and iterations: synthetic programs, of which each call writes a
 * record while time passes, and what is found of them.
 */
#ifndef CT_TESTS_PHASES_H
#define CT_TESTS_PHASES_H

#include <stdlib.h>
#include <string.h>

#include "../../cli/phases/find.h"

extern uint64_t now;			/* when the next record is written */
extern struct ct_trace trace;
extern struct ct_phases found;
extern const char *top;			/* the folder of the traces */
extern const char *trace_dir;		/* of the trace that was begun last */

/* A trace begins; its threads one after the other. */
void begin(const char *name);
void begin_thread(uint32_t pid, uint32_t tid, unsigned int number);
void end_thread(void);
void begin_state(void);			/* the recorder's stream; end_thread() ends it */

/* The trace GROUP-NAME of a program with one thread and that name; its chance begins anew. */
void begin_named(const char *group, const char *name);

/* Chance that is the same in each run: a number below @n.  any() is for a small one: what it repeats is longer than any program here. */
void begin_chance(uint32_t from);
uint32_t chance(uint32_t n);
uint32_t any(uint32_t n);

/* What a program does. */
void process(const char *command);
void dropped_process(uint32_t pid, const char *command);	/* in the recorder's stream */
void mark(const char *words);
void push(const char *words);
void pop(void);
void getter(void);
void context(void);
void module(void);
void capture(bool begins);
void communicator(uint64_t ns);
void communicator_begun(uint64_t comm);	/* in a group, or it does not block */
void communicator_state(uint64_t comm, bool in_progress);
void group_begins(void);
void group_ends(uint64_t ns);
void alloc(void);
void copy(unsigned int direction, uint64_t size, bool async);
void set(uint64_t size);
void launch_for(uint32_t kernel, uint32_t grid, uint64_t ns);
void launch(uint32_t kernel, uint32_t grid);
void graph(uint64_t handle);
void wait_gpu(void);
void ask(uint64_t event, bool done);	/* is the event reached? */
void wait_for(uint64_t ns);
void pause_for(uint64_t ns);
void gpu_works(uint64_t ns);

/* After the threads: the stream with all of that, of process 100. */
void end_gpu(void);

/* What every program does first. */
void start(void);

/* Reading a trace, and the one that was written last: its first process. */
bool look(const char *path);
const struct ct_process_phases *find(void);
void forget(void);

/* How many iterations do not begin where the one before ends. */
unsigned int breaks(const struct ct_process_phases *p);

/* Stages are one after the other, from its begin to its end, in their order. */
bool stages_fit(const struct ct_process_phases *p);

/* Iterations are one after the other, and are found by their time. */
bool iterations_fit(const struct ct_process_phases *p);

/*
 * Most launches of the process, of one without any most copies and sets, are in its steady state or its
 * execution; or in the warm-up of many iterations in which code is loaded.
 */
bool main_holds(const struct ct_process_phases *p);

/* How many launches of the process a stage has; CT_STAGE_COUNT: all stages. */
unsigned int launched(const struct ct_process_phases *p, enum ct_stage which);

/* The stage of the process, or NULL. */
const struct ct_stage_span *stage(const struct ct_process_phases *p, enum ct_stage stage);

/* Tests: it has @count iterations of @launches; it has none, because of @why. */
void expect(const char *name, const struct ct_process_phases *p, uint32_t count,
		uint32_t launches);
void expect_none(const char *name, const struct ct_process_phases *p, const char *why);

/* One thread whose records are in the streams of two CPUs: @count times three launches. */
void program_on_two_cpus(int count);

/* Patterns of launches, and none. */
void test_patterns(void);

/* Programs that ask instead of waiting, and launches that nothing waits for. */
void test_polls(void);

/* Programs of other shapes, and ones that chance makes. */
void test_shapes(void);

#endif
