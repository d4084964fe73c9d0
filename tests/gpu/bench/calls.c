// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What a call costs the caller: a round, for each line that comes in, prints the
 * nanoseconds of a query (cuCtxGetCurrent), of a call that is stamped twice
 * (cuCtxSetCurrent) and of the launch of an empty kernel, on one line.  Linked to
 * libcuda, so that a preloaded wrapper is called too.
 */
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define QUERIES		200000
#define SWITCHES	100000
#define LAUNCHES	2000
#define BATCH		250	/* fewer than the GPU's queue takes: a full one makes us wait */

static const char kernel[] =
	".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry nothing() { ret; }\n";

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static void check(CUresult result, const char *what)
{
	if (result == CUDA_SUCCESS)
		return;
	fprintf(stderr, "calls: %s: error %d\n", what, result);
	exit(1);
}

static double query(void)
{
	CUcontext context;
	double begin = now();

	for (int i = 0; i < QUERIES; i++)
		cuCtxGetCurrent(&context);
	return (now() - begin) / QUERIES;
}

static double set(CUcontext context)
{
	double begin = now();

	for (int i = 0; i < SWITCHES; i++)
		cuCtxSetCurrent(context);
	return (now() - begin) / SWITCHES;
}

static double launch(CUfunction function)
{
	double sum = 0, begin;

	for (int n = 0; n < LAUNCHES; n += BATCH) {
		check(cuCtxSynchronize(), "cuCtxSynchronize");
		begin = now();
		for (int i = 0; i < BATCH; i++)
			cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0);
		sum += now() - begin;
	}
	check(cuCtxSynchronize(), "cuCtxSynchronize");
	return sum / LAUNCHES;
}

int main(void)
{
	CUcontext context;
	CUdevice device;
	CUmodule module;
	CUfunction function;
	char line[16];

	check(cuInit(0), "cuInit");
	check(cuDeviceGet(&device, 0), "cuDeviceGet");
	check(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
	check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
	check(cuModuleLoadData(&module, kernel), "cuModuleLoadData");
	check(cuModuleGetFunction(&function, module, "nothing"), "cuModuleGetFunction");
	query(), set(context), launch(function);
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		double q = query(), s = set(context);

		printf("%.2f %.2f %.2f\n", q, s, launch(function));
		fflush(stdout);
	}
	return 0;
}
