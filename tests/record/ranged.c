// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A program with a part that is to be recorded: ranged HOW [ROUNDS]
 *
 * Its rounds allocate 16 bytes times their number, launch a kernel, free, and synchronise. With 1,000 rounds
 * (the default) those from 400 to 599 are the part.  HOW says how it shows: profiler (cuProfilerStart
 * and cuProfilerStop), range (nested in others of the name "other"), mark (it has no end), numbered (as the NVTX plugin
 * has it), none.  The part comes twice if HOW is twice; with "fork" it is in a child,
 * with "forked" in one that is forked after the first call.
 * With LAYERS=N another thread launches two more kernels in each round, N times.
 * With SLOW=N round N takes a second more.  Waits before the first round while the file that WAIT names is not there.  Prints "wrong N".
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../userlib/include/cudatrace/cudatrace.h"
#include "../sim/cuda_sim.h"

static unsigned long wrong;
static const char *slow;
static unsigned long layers;
static CUfunction kernel, layer[2];
static pthread_barrier_t barrier;

/* As autograd's, which launches the backward pass while the main thread waits. */
static void *launch_layers(void *context)
{
	if (cuCtxSetCurrent(context))
		abort();
	for (;;) {
		pthread_barrier_wait(&barrier);
		for (unsigned long i = 0; i < 2 * layers; i++)
			if (cuLaunchKernel(layer[i % 2], 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL))
				abort();
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

static void round_of(unsigned long n)
{
	CUdeviceptr p = 0;

	wrong += cuMemAlloc_v2(&p, 16 * n) != CUDA_SUCCESS;
	wrong += cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL) != CUDA_SUCCESS;
	if (layers) {
		pthread_barrier_wait(&barrier);
		pthread_barrier_wait(&barrier);
	}
	wrong += cuMemFree_v2(p) != CUDA_SUCCESS;
	wrong += cuCtxSynchronize() != CUDA_SUCCESS;
	usleep(slow && n == strtoul(slow, NULL, 10) ? 1000000 : 500);
}

static void begins(const char *how)
{
	if (!strcmp(how, "profiler") || !strcmp(how, "twice"))
		cuProfilerStart();
	else if (!strcmp(how, "range"))
		cudatrace_begin("part");
	else if (!strcmp(how, "mark"))
		cudatrace_note("part");
	else if (!strcmp(how, "numbered"))
		cudatrace_note("range 7 begins: part");
}

static void ends(const char *how)
{
	if (!strcmp(how, "profiler") || !strcmp(how, "twice"))
		cuProfilerStop();
	else if (!strcmp(how, "range"))
		cudatrace_end();
	else if (!strcmp(how, "numbered"))
		cudatrace_note("range 7 ends");
}

int main(int argc, char **argv)
{
	static const char image[] = "cudatrace-sim-image 1\nkernel _Z4partv - 3000\nkernel _Z6linearv - 3000\nkernel _Z4geluv - 3000\n";
	const char *how = argc > 1 ? argv[1] : "none", *wait = getenv("WAIT");
	unsigned long rounds = argc > 2 ? strtoul(argv[2], NULL, 10) : 1000;
	CUcontext context;
	int version;
	CUmodule module;
	CUdevice device;

	slow = getenv("SLOW");
	layers = getenv("LAYERS") ? strtoul(getenv("LAYERS"), NULL, 10) : 0;
	if (!strcmp(how, "forked"))
		wrong += cuDriverGetVersion(&version) != CUDA_SUCCESS;
	if (!strncmp(how, "fork", 4)) {
		int status = fork();

		if (status)
			return waitpid(status, &status, 0) < 0 || status;
		how = "profiler";
	}
	if (cuInit(0) || cuDeviceGet(&device, 0) || cuDevicePrimaryCtxRetain(&context, device) || cuCtxSetCurrent(context) ||
	    cuModuleLoadData(&module, image) || cuModuleGetFunction(&kernel, module, "_Z4partv") ||
	    cuModuleGetFunction(&layer[0], module, "_Z6linearv") || cuModuleGetFunction(&layer[1], module, "_Z4geluv"))
		return 2;
	if (layers) {
		pthread_t thread;

		pthread_barrier_init(&barrier, NULL, 2);
		if (pthread_create(&thread, NULL, launch_layers, context))
			return 2;
	}
	printf("ready %d\n", getpid());
	fflush(stdout);
	while (wait && access(wait, F_OK))
		usleep(5000);
	cudatrace_begin("other");
	for (unsigned long n = 1; n <= rounds; n++) {
		bool again = !strcmp(how, "twice");

		if (n == rounds * 2 / 5 || (again && n == rounds * 4 / 5))
			begins(how);
		cudatrace_begin("other");
		round_of(n);
		cudatrace_end();
		if (n == rounds * 3 / 5 - 1 || (again && n == rounds - 1))
			ends(how);
	}
	cudatrace_end();
	printf("wrong %lu\n", wrong);
	return wrong != 0;
}
