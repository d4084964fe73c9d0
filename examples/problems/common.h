/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * common.h - what the programs of examples/problems share: options, a context with a stream,
 * one kernel whose time can be chosen, and the line of result.
 *
 * The kernel: work(out, n, ns): a thread for each of n 32-bit numbers. It waits for ns
 * nanoseconds and adds 1 to its number. So a program knows what each number must be at its
 * end, and how long each launch keeps the GPU busy.
 *
 * Nothing here knows cudatrace, and a program must have no other problem than its own: no call
 * is made here once the loop has begun, except by the functions that say so.
 */
#ifndef CUDATRACE_EXAMPLES_PROBLEMS_COMMON_H
#define CUDATRACE_EXAMPLES_PROBLEMS_COMMON_H

#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EXAMPLE_MORE_CALLS(CALL)					\
	CALL(cuMemHostAlloc, 2020, cuMemHostAlloc,			\
	     (void **, size_t, unsigned int))				\
	CALL(cuMemcpyDtoH, 3020, cuMemcpyDtoH_v2,			\
	     (void *, CUdeviceptr, size_t))				\
	CALL(cuCtxGetDevice, 2000, cuCtxGetDevice, (CUdevice *))	\
	CALL(cuDevicePrimaryCtxGetState, 7000,				\
	     cuDevicePrimaryCtxGetState,				\
	     (CUdevice, unsigned int *, int *))				\
	CALL(cuPointerGetAttribute, 4000, cuPointerGetAttribute,	\
	     (void *, int, CUdeviceptr))

#include "../driver_api.h"

#define PROBLEM_BLOCK 256

static struct {
	const char *name;
	int iterations;
	bool mended;
	/* Only from problem_open() on. */
	CUdevice device;
	CUcontext context;
	CUmodule module;
	CUfunction work;
	CUstream stream;
	CUevent done[2];
	double begin_us;
} problem;

/* The driver compiles this for the GPU that it finds. */
static const char work_ptx[] =
	".version 7.0\n"
	".target sm_70\n"
	".address_size 64\n"
	"\n"
	".visible .entry work(.param .u64 pout, .param .u32 pn,\n"
	"		.param .u32 pns)\n"
	"{\n"
	"	.reg .pred %p<3>;\n"
	"	.reg .u32 %i, %n, %ns, %bx, %bd, %tx, %v;\n"
	"	.reg .u64 %out, %off, %begin, %now, %lasts;\n"
	"	mov.u64 %begin, %globaltimer;\n"
	"	mov.u32 %bx, %ctaid.x;\n"
	"	mov.u32 %bd, %ntid.x;\n"
	"	mov.u32 %tx, %tid.x;\n"
	"	mad.lo.u32 %i, %bx, %bd, %tx;\n"
	"	ld.param.u32 %n, [pn];\n"
	"	setp.ge.u32 %p1, %i, %n;\n"
	"	@%p1 bra done;\n"
	"	ld.param.u32 %ns, [pns];\n"
	"	cvt.u64.u32 %lasts, %ns;\n"
	"spin:\n"
	"	mov.u64 %now, %globaltimer;\n"
	"	sub.u64 %now, %now, %begin;\n"
	"	setp.lt.u64 %p2, %now, %lasts;\n"
	"	@%p2 bra spin;\n"
	"	ld.param.u64 %out, [pout];\n"
	"	cvta.to.global.u64 %out, %out;\n"
	"	mul.wide.u32 %off, %i, 4;\n"
	"	add.u64 %out, %out, %off;\n"
	"	ld.global.u32 %v, [%out];\n"
	"	add.u32 %v, %v, 1;\n"
	"	st.global.u32 [%out], %v;\n"
	"done:\n"
	"	ret;\n"
	"}\n";

static const char work_simulated[] = "cudatrace-sim-image 1\n"
				     "kernel work pii\n";

static inline void problem_check(CUresult result, const char *what)
{
	const char *name = NULL;

	if (result == CUDA_SUCCESS)
		return;
	if (cuGetErrorName(result, &name) || !name)
		name = "an unknown error";
	fprintf(stderr, "%s: %s: %s (%d)\n", problem.name, what, name, result);
	exit(1);
}

#define CHECK(call) problem_check(call, #call)

static inline double now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e6 + ts.tv_nsec / 1e3;
}

/* Work of the program's own on the CPU. */
static inline void host_work(double us)
{
	double end = now_us() + us;

	while (now_us() < end)
		;
}

static inline void problem_usage(FILE *to, const char *what, const char *mended)
{
	fprintf(to,
		"usage: %s [--iterations N] [--mended]\n"
		"\n"
		"  %s\n"
		"\n"
		"  --iterations N  how often (%d)\n"
		"  --mended        %s\n",
		problem.name, what, problem.iterations, mended);
}

/* Sets problem.iterations and problem.mended; ends the program where an option is wrong. */
static inline void problem_options(int argc, char **argv, const char *name, int iterations,
				   const char *what, const char *mended)
{
	static const struct option options[] = {
		{ "iterations", required_argument, NULL, 'i' },
		{ "mended", no_argument, NULL, 'm' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	long value;
	char *end;
	int c;

	problem.name = name;
	problem.iterations = iterations;
	while ((c = getopt_long(argc, argv, "i:mh", options, NULL)) != -1) {
		switch (c) {
		case 'i':
			errno = 0;
			value = strtol(optarg, &end, 10);
			if (errno || end == optarg || *end || value < 1 || value > 1000000) {
				fprintf(stderr, "%s: not a number from 1 to 1000000: %s\n", name,
					optarg);
				exit(2);
			}
			problem.iterations = value;
			break;
		case 'm':
			problem.mended = true;
			break;
		case 'h':
			problem.iterations = iterations;
			problem_usage(stdout, what, mended);
			exit(0);
		default:
			problem_usage(stderr, what, mended);
			exit(2);
		}
	}
	if (optind < argc) {
		problem_usage(stderr, what, mended);
		exit(2);
	}
}

/* Ends the program with status 77 where there is no GPU. */
static inline void problem_open(void)
{
	int count = 0, error;

	if (driver_open())
		exit(77);
	error = cuInit(0);
	if (error || cuDeviceGetCount(&count) || !count) {
		fprintf(stderr, "%s: no GPU here (cuInit: %d)\n", problem.name, error);
		exit(77);
	}
	CHECK(cuDeviceGet(&problem.device, 0));
	CHECK(cuDevicePrimaryCtxRetain(&problem.context, problem.device));
	CHECK(cuCtxSetCurrent(problem.context));
	CHECK(cuModuleLoadData(&problem.module, driver_simulated() ? work_simulated : work_ptx));
	CHECK(cuModuleGetFunction(&problem.work, problem.module, "work"));
	CHECK(cuStreamCreate(&problem.stream, CU_STREAM_NON_BLOCKING));
	CHECK(cuEventCreate(&problem.done[0], 0));
	CHECK(cuEventCreate(&problem.done[1], 0));
}

/* Bytes on the device, all zero. */
static inline CUdeviceptr device_memory(size_t bytes)
{
	CUdeviceptr ptr;

	CHECK(cuMemAlloc(&ptr, bytes));
	CHECK(cuMemsetD8Async(ptr, 0, bytes, problem.stream));
	CHECK(cuStreamSynchronize(problem.stream));
	return ptr;
}

/* One launch: n numbers at ptr grow by 1, which takes ns. Neither waits nor allocates. */
static inline void launch_work(CUdeviceptr ptr, int n, int ns)
{
	void *params[] = { &ptr, &n, &ns };

	CHECK(cuLaunchKernel(problem.work, (n + PROBLEM_BLOCK - 1) / PROBLEM_BLOCK, 1, 1,
			     PROBLEM_BLOCK, 1, 1, 0, problem.stream, params, NULL));
}

/* A graph of what queue() puts on the stream. */
static inline CUgraphExec capture(void (*queue)(void))
{
	CUgraphExec exec;
	CUgraph graph;

	CHECK(cuStreamBeginCapture(problem.stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
	queue();
	CHECK(cuStreamEndCapture(problem.stream, &graph));
	CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));
	CHECK(cuGraphDestroy(graph));
	return exec;
}

/* Waits for the GPU; after the loop. */
static inline bool all_are(CUdeviceptr ptr, int n, uint32_t wanted)
{
	uint32_t *values = malloc(n * sizeof(*values));
	bool right = true;
	int i;

	if (!values)
		return false;
	CHECK(cuStreamSynchronize(problem.stream));
	CHECK(cuMemcpyDtoH(values, ptr, n * sizeof(*values)));
	for (i = 0; i < n; i++)
		right = right && values[i] == wanted;
	free(values);
	return right;
}

/* Just before the loop. */
static inline void problem_begin(void)
{
	problem.begin_us = now_us();
}

/*
 * At the end of iteration i, from 0: waits until the GPU is done with the one before it. So the
 * host is never more than an iteration ahead, and the GPU has work while it waits and after it.
 */
static inline void problem_wait_for_last(int i)
{
	CHECK(cuEventRecord(problem.done[i % 2], problem.stream));
	if (i > 0)
		CHECK(cuEventSynchronize(problem.done[(i + 1) % 2]));
}

/* After the loop, when the GPU is done: microseconds since problem_begin(). */
static inline double problem_end(void)
{
	CHECK(cuStreamSynchronize(problem.stream));
	return now_us() - problem.begin_us;
}

/* Gives everything back, prints the line of result and returns the exit status. */
static inline int problem_close(double us, bool right)
{
	const char *simulated = driver_simulated();

	CHECK(cuEventDestroy(problem.done[0]));
	CHECK(cuEventDestroy(problem.done[1]));
	CHECK(cuStreamDestroy(problem.stream));
	CHECK(cuModuleUnload(problem.module));
	CHECK(cuDevicePrimaryCtxRelease(problem.device));
	printf("%s%s: %d iterations in %.1f ms, %.1f us each%s%s: %s\n", problem.name,
	       problem.mended ? ", mended" : "", problem.iterations, us / 1e3,
	       us / problem.iterations, simulated ? ", " : "", simulated ? simulated : "",
	       right ? "right" : "WRONG");
	return right ? 0 : 1;
}

#endif /* CUDATRACE_EXAMPLES_PROBLEMS_COMMON_H */
