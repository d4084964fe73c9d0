// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * test_order.c - what happens when in the simulated libcuda: streams, events,
 * default streams, graphs, several threads.
 *
 * Expected results that carry a number in a comment were seen on an H200 with
 * driver 580.159.04. It must not test figures of time, only their order.
 */
#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cuda_sim.h"
#include "tap.h"

/* As the image says.  So long that a busy machine looks before it is over. */
#define SLOW_NS 250000000

static const char image[] =
	"cudatrace-sim-image 1\n"
	"kernel relu pi\n"
	"kernel slow - 250000000\n";

static CUcontext context;
static CUmodule module;

static CUfunction function(const char *name)
{
	CUfunction found = NULL;

	OK(cuModuleGetFunction(&found, module, name));
	return found;
}

static CUresult launch(CUfunction f, CUstream stream, void **params)
{
	return cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, stream, params, NULL);
}

static void note(void *data)
{
	__atomic_add_fetch((int *)data, 1, __ATOMIC_SEQ_CST);
}

static void test_streams_and_events(void)
{
	CUstream first, second, loose;
	CUfunction slow = function("slow");
	CUevent start, end, stale;
	int done = 0, i;
	float ms = 0;

	OK(cuStreamCreate(&first, CU_STREAM_NON_BLOCKING));
	OK(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
	OK(cuStreamCreate(&loose, CU_STREAM_NON_BLOCKING));
	OK(cuEventCreate(&start, 0));
	OK(cuEventCreate(&end, 0));
	EXPECT_RESULT(CUDA_ERROR_INVALID_HANDLE,
		      cuEventElapsedTime(&ms, start, end));	/* 400 */
	OK(cuEventQuery(end));
	OK(cuEventRecord(start, first));
	OK(launch(slow, first, NULL));
	OK(cuLaunchHostFunc(first, note, &done));
	OK(cuEventRecord(end, first));
	OK(cuStreamWaitEvent(second, end, 0));
	OK(cuLaunchHostFunc(second, note, &done));
	EXPECT_RESULT(CUDA_ERROR_NOT_READY, cuStreamQuery(first));
	EXPECT_RESULT(CUDA_ERROR_NOT_READY, cuEventQuery(end));
	EXPECT_RESULT(CUDA_ERROR_NOT_READY,
		      cuEventElapsedTime(&ms, start, end));
	EXPECT(__atomic_load_n(&done, __ATOMIC_SEQ_CST) == 0);
	OK(cuStreamSynchronize(loose));
	OK(cuStreamSynchronize(second));
	EXPECT(__atomic_load_n(&done, __ATOMIC_SEQ_CST) == 2);
	OK(cuStreamQuery(first));
	OK(cuEventElapsedTime(&ms, start, end));
	EXPECT(ms >= SLOW_NS / 1e6 && ms < 60000);
	stale = end;
	OK(cuEventDestroy_v2(end));
	OK(cuEventCreate(&end, CU_EVENT_DISABLE_TIMING));
	EXPECT(end != stale);
	EXPECT_RESULT(CUDA_ERROR_INVALID_HANDLE, cuEventQuery(stale));
	EXPECT_RESULT(CUDA_ERROR_INVALID_HANDLE,
		      cuEventQuery((CUevent)first));
	OK(launch(slow, first, NULL));
	OK(cuLaunchHostFunc(first, note, &done));
	OK(cuStreamDestroy_v2(first));
	EXPECT_RESULT(CUDA_ERROR_INVALID_HANDLE, cuStreamQuery(first));
	EXPECT_RESULT(CUDA_ERROR_INVALID_HANDLE, launch(slow, first, NULL));
	/* Destroyed, but its work is done. */
	for (i = 0; i < 2000 && __atomic_load_n(&done, __ATOMIC_SEQ_CST) < 3; i++)
		usleep(10000);
	EXPECT(__atomic_load_n(&done, __ATOMIC_SEQ_CST) == 3);
	OK(cuStreamDestroy_v2(second));
	OK(cuStreamDestroy_v2(loose));
	OK(cuEventDestroy_v2(start));
	OK(cuEventDestroy_v2(end));
}

static int noted, noted_before;

static void look(void *data)
{
	*(int *)data = __atomic_load_n(&noted, __ATOMIC_SEQ_CST);
}

static void test_default_streams(void)
{
	CUfunction slow = function("slow");
	CUstream blocking, other, loose;
	int i;

	OK(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
	OK(cuStreamCreate(&loose, CU_STREAM_NON_BLOCKING));
	for (i = 0; i < 20; i++)	/* they outlast all that follows */
		OK(launch(slow, loose, NULL));
	/* The legacy stream waits for a blocking one ... */
	OK(launch(slow, blocking, NULL));
	OK(cuLaunchHostFunc(blocking, note, &noted));
	OK(cuLaunchHostFunc(NULL, look, &noted_before));
	OK(cuStreamSynchronize(NULL));
	EXPECT(noted_before == 1);
	/* ... a blocking one for the legacy stream ... */
	OK(launch(slow, NULL, NULL));
	OK(cuLaunchHostFunc(NULL, note, &noted));
	OK(cuLaunchHostFunc(blocking, look, &noted_before));
	OK(cuStreamSynchronize(blocking));
	EXPECT(noted_before == 2);
	/* ... two blocking ones not for each other ... */
	OK(cuStreamCreate(&other, CU_STREAM_DEFAULT));
	for (i = 0; i < 3; i++)
		OK(launch(slow, blocking, NULL));
	OK(cuLaunchHostFunc(other, note, &noted));
	OK(cuStreamSynchronize(other));
	EXPECT_RESULT(CUDA_ERROR_NOT_READY, cuStreamQuery(blocking));
	OK(cuStreamSynchronize(blocking));
	OK(cuStreamDestroy_v2(other));
	/* ... and a non-blocking one for nobody. */
	EXPECT_RESULT(CUDA_ERROR_NOT_READY, cuStreamQuery(loose));
	OK(cuLaunchKernel_ptsz(slow, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
	EXPECT_RESULT(CUDA_ERROR_NOT_READY, cuStreamQuery_ptsz(NULL));
	EXPECT_RESULT(CUDA_ERROR_NOT_READY, cuStreamQuery(CU_STREAM_PER_THREAD));
	OK(cuStreamQuery(CU_STREAM_LEGACY));
	OK(cuStreamSynchronize_ptsz(NULL));
	OK(cuStreamSynchronize(loose));
	OK(cuStreamDestroy_v2(blocking));
	OK(cuStreamDestroy_v2(loose));
}

/* Pageable memory is the caller's again when the call returns. */
static void test_pageable_copies(void)
{
	int in = 1, out = 0;
	CUdeviceptr ptr;
	CUstream stream;

	OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	OK(cuMemAlloc_v2(&ptr, sizeof(in)));
	OK(launch(function("slow"), stream, NULL));
	OK(cuMemcpyHtoDAsync_v2(ptr, &in, sizeof(in), stream));
	in = 2;
	EXPECT_RESULT(CUDA_ERROR_NOT_READY, cuStreamQuery(stream));
	OK(cuMemcpyDtoHAsync_v2(&out, ptr, sizeof(out), stream));
	EXPECT(out == 1);
	OK(cuMemFree_v2(ptr));
	OK(cuStreamDestroy_v2(stream));
}

static void test_graphs(void)
{
	float in[8], out[8];
	CUdeviceptr x;
	CUstream stream, side;
	CUgraphExec exec;
	CUgraph graph;
	CUevent fork_event, join_event;
	size_t count = 0;
	int n = 8, i, calls = 0;

	for (i = 0; i < n; i++)
		in[i] = i - 4;
	OK(cuStreamCreate(&stream, 0));
	OK(cuStreamCreate(&side, CU_STREAM_NON_BLOCKING));
	OK(cuEventCreate(&fork_event, CU_EVENT_DISABLE_TIMING));
	OK(cuEventCreate(&join_event, CU_EVENT_DISABLE_TIMING));
	OK(cuMemAlloc_v2(&x, sizeof(in)));
	EXPECT_RESULT(CUDA_ERROR_ILLEGAL_STATE,
		      cuStreamEndCapture(stream, &graph));	/* 401 */
	EXPECT_RESULT(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
		      cuStreamBeginCapture_v2(NULL, 0));	/* 900 */
	OK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
	EXPECT_RESULT(CUDA_ERROR_ILLEGAL_STATE,
		      cuStreamBeginCapture_v2(stream, 0));
	OK(cuMemcpyHtoDAsync_v2(x, in, sizeof(in), stream));
	OK(cuEventRecord(fork_event, stream));
	OK(cuStreamWaitEvent(side, fork_event, 0));
	OK(launch(function("relu"), side, (void *[]){ &x, &n }));
	OK(cuLaunchHostFunc(side, note, &calls));
	OK(cuEventRecord(join_event, side));
	OK(cuStreamWaitEvent(stream, join_event, 0));
	OK(cuMemcpyDtoHAsync_v2(out, x, sizeof(out), stream));
	OK(cuStreamEndCapture(stream, &graph));
	EXPECT(calls == 0);
	OK(cuGraphGetNodes(graph, NULL, &count));
	EXPECT(count == 4);
	OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
	OK(cuGraphDestroy(graph));
	OK(cuGraphUpload(exec, stream));
	memset(out, 0, sizeof(out));
	in[7] = 99;			/* captured was the address */
	OK(cuGraphLaunch(exec, stream));
	OK(cuGraphLaunch(exec, stream));
	OK(cuStreamSynchronize(stream));
	EXPECT(calls == 2 && out[0] == 0 && out[6] == 2 && out[7] == 99);
	OK(cuGraphExecDestroy(exec));
	EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuGraphLaunch(exec, stream));

	OK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
	EXPECT_RESULT(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
		      cuStreamSynchronize(stream));		/* 900 */
	EXPECT_RESULT(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
		      cuStreamEndCapture(stream, &graph));	/* 901 */
	OK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
	EXPECT_RESULT(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
		      cuMemcpyHtoD_v2(x, in, 4));		/* 906 */
	EXPECT_RESULT(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
		      cuStreamEndCapture(stream, &graph));
	OK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
	EXPECT_RESULT(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
		      cuMemFree_v2(x));				/* 900 */
	EXPECT_RESULT(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
		      cuStreamEndCapture(stream, &graph));
	OK(cuMemFree_v2(x));
	OK(cuEventDestroy_v2(fork_event));
	OK(cuEventDestroy_v2(join_event));
	OK(cuStreamDestroy_v2(stream));
	OK(cuStreamDestroy_v2(side));
}

static void *hammer(void *arg)
{
	CUfunction f = arg;
	CUstream stream;
	CUdeviceptr x;
	float value = -1;
	int n = 1, i;

	if (cuCtxSetCurrent(context) || cuStreamCreate(&stream, 0) ||
	    cuMemAlloc_v2(&x, sizeof(value)))
		return "set up";
	for (i = 0; i < 50; i++) {
		value = -1;
		if (cuMemcpyHtoDAsync_v2(x, &value, 4, stream) ||
		    launch(f, stream, (void *[]){ &x, &n }) ||
		    cuMemcpyDtoHAsync_v2(&value, x, 4, stream) ||
		    cuStreamSynchronize(stream) || value != 0)
			return "a token";
	}
	if (cuMemFree_v2(x) || cuStreamDestroy_v2(stream))
		return "clean up";
	return NULL;
}

static void test_threads(void)
{
	pthread_t threads[4];
	void *failed;
	int i;

	for (i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, hammer, function("relu"));
	for (i = 0; i < 4; i++) {
		pthread_join(threads[i], &failed);
		if (failed)
			printf("# thread %d: %s\n", i, (char *)failed);
		EXPECT(!failed);
	}
}

static double seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

/* A kernel lasts as long as its parameter says, and a load as long as the image does. */
static void test_asked_times(void)
{
	static const char timed[] = "cudatrace-sim-image 1\n"
				    "load 20000000\n"
				    "kernel work pii\n"
				    "kernel mix pii\n";
	uint32_t values[3] = { 7, 8, 9 }, wanted = 8;
	int n = 2, ns = 30000000, seed = 5, i;
	CUfunction work, mix;
	CUdeviceptr ptr;
	CUmodule other;
	double begin;

	begin = seconds();
	OK(cuModuleLoadData(&other, timed));
	EXPECT(seconds() - begin >= 0.02);
	EXPECT_RESULT(CUDA_ERROR_INVALID_IMAGE,
		      cuModuleLoadData(&other, "cudatrace-sim-image 1\nload 1 2"));
	OK(cuModuleGetFunction(&work, other, "work"));
	OK(cuModuleGetFunction(&mix, other, "mix"));
	OK(cuMemAlloc_v2(&ptr, sizeof(values)));
	OK(cuMemcpyHtoD_v2(ptr, values, sizeof(values)));
	begin = seconds();
	OK(launch(work, NULL, (void *[]){ &ptr, &n, &ns }));
	OK(cuCtxSynchronize());
	EXPECT(seconds() - begin >= 0.03);
	OK(cuMemcpyDtoH_v2(values, ptr, sizeof(values)));
	EXPECT(values[0] == 8 && values[1] == 9 && values[2] == 9);
	n = 1;
	OK(launch(mix, NULL, (void *[]){ &ptr, &n, &seed }));
	OK(cuMemcpyDtoH_v2(values, ptr, sizeof(values)));
	for (i = 0; i < 2000; i++)
		wanted = wanted * 1664525 + 5;
	EXPECT(values[0] == wanted && values[1] == 9);
	OK(cuMemFree_v2(ptr));
	OK(cuModuleUnload(other));
}

int main(void)
{
	OK(cuInit(0));
	OK(cuDevicePrimaryCtxRetain(&context, 0));
	OK(cuCtxSetCurrent(context));
	OK(cuModuleLoadData(&module, image));
	tap_run(test_streams_and_events, "streams keep order, events time it");
	tap_run(test_default_streams, "legacy and per-thread default streams");
	tap_run(test_pageable_copies, "asynchronous copies of pageable memory");
	tap_run(test_graphs, "capture, instantiate, launch; broken captures");
	tap_run(test_threads, "four threads at once");
	tap_run(test_asked_times, "kernels and loads last as long as asked");
	OK(cuDevicePrimaryCtxRelease_v2(0));
	return tap_end();
}
