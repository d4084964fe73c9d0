/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Synthetic programs for phases.c: each call writes a record, and time passes. */
#ifndef CT_TESTS_PHASES_H
#define CT_TESTS_PHASES_H

#include "writer.h"

enum {
	GETTER = CT_CLASS_DYNAMIC, CONTEXT, MODULE, ALLOC, COPY, LAUNCH, GRAPH, WAIT, RUNTIME,
};

static uint64_t now, operation;
static uint32_t thread_pid, thread_tid;
static struct writer stream;

static void registry(void)
{
	FILE *f = create(".registry");

	fprintf(f, "cudatrace %u uuid=", CT_ABI_VERSION);
	for (int i = 0; i < 16; i++)
		fprintf(f, "%02x", uuid[i]);
	fprintf(f, " start=%llu realtime=1700000000123456789\n", START);
#define CLASS(id, words, layout, names)					\
	fprintf(f, "class %u %s %s %s\n", id, words,			\
		*CT_LAYOUT_SPEC(layout) ? CT_LAYOUT_SPEC(layout) : "-", names)
	CLASS(GETTER, "user query -", none, "cuCtxGetCurrent cuCtxGetCurrent");
	CLASS(CONTEXT, "user context create", context, "cuCtxCreate cuCtxCreate_v4");
	CLASS(MODULE, "user module load", module, "cuModuleLoadData cuModuleLoadData");
	CLASS(ALLOC, "user memory alloc", alloc, "cuMemAlloc cuMemAlloc_v2");
	CLASS(COPY, "user transfer copy", copy, "cuMemcpyAsync cuMemcpyAsync");
	CLASS(LAUNCH, "user kernel launch", launch, "cuLaunchKernel cuLaunchKernel");
	CLASS(GRAPH, "user graph launch", graph, "cuGraphLaunch cuGraphLaunch");
	CLASS(WAIT, "user sync wait", handle, "cuStreamSynchronize cuStreamSynchronize");
	CLASS(RUNTIME, "user runtime -", none, "cudaLaunchKernel cudaLaunchKernel");
	fclose(f);
}

static void begin_thread(uint32_t pid, uint32_t tid, unsigned int number)
{
	char name[64];

	snprintf(name, sizeof(name), "u-%u-%u", pid, number);
	open_writer(&stream, name, CT_STREAM_THREAD, 16384);
	stream.head.pid = thread_pid = pid;
	stream.head.tid = thread_tid = tid;
	now += 1000;
}

static void end_thread(void)
{
	close_writer(&stream);
}

static void record(unsigned int class, uint64_t ns, const void *fields, uint32_t len)
{
	thread_record(&stream, (struct spec){
		class, 0, ns ? 0 : CT_F_INSTANT, 0, now, now + ns, ++operation, thread_tid, 0 },
		fields, len);
	now += ns + 500;
}

static void text(unsigned int class, const char *words)
{
	uint32_t fields[2] = { 1, 1000 };
	uint8_t buf[512];

	record(class, 0, buf, with_text(buf, fields, class == CT_CLASS_process ? 8 : 4, words));
}

static void process(const char *command)	{ text(CT_CLASS_process, command); }
static void mark(const char *words)		{ text(CT_CLASS_mark, words); }
static void push(const char *words)		{ text(CT_CLASS_range_push, words); }
static void pop(void)				{ record(CT_CLASS_range_pop, 0, "", 0); }
static void getter(void)			{ record(GETTER, 50, "", 0); }

static void context(void)
{
	record(CONTEXT, 5000000, &(struct ct_context){ 1, 0, 0 }, sizeof(struct ct_context));
}

static void module(void)
{
	record(MODULE, 2000000, &(struct ct_module){ 1, 0, 0 }, sizeof(struct ct_module));
}

static void alloc(void)
{
	record(ALLOC, 3000, &(struct ct_alloc){ 4096, 0x7000 }, sizeof(struct ct_alloc));
}

static void copy(unsigned int direction, uint64_t size, bool async)
{
	struct ct_copy c = { .size = size, .direction = direction, .async = async };

	record(COPY, 4000, &c, sizeof(c));
}

static void launch_for(uint32_t kernel, uint32_t grid, uint64_t ns)
{
	struct ct_launch l = {
		.kernel = kernel, .grid_x = grid, .grid_y = 1, .grid_z = 1,
		.block_x = 128, .block_y = 1, .block_z = 1,
	};

	record(LAUNCH, ns, &l, sizeof(l));
}

static void launch(uint32_t kernel, uint32_t grid)
{
	launch_for(kernel, grid, 3000);
}

static void graph(uint64_t handle)
{
	record(GRAPH, 3000, &(struct ct_graph){ handle, 0 }, sizeof(struct ct_graph));
}

static void wait_gpu(void)
{
	record(WAIT, 9000, &(struct ct_handle){ 1 }, sizeof(struct ct_handle));
}

static void pause_for(uint64_t ns)
{
	now += ns;
}

/* What every program does first. */
static void start(void)
{
	getter();
	context();
	module();
	alloc();
	copy(CT_DIR_H2D, 1 << 20, false);
	copy(CT_DIR_H2D, 1 << 20, false);
}

#endif
