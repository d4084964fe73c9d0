// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A program that runs while it is attached to: running THREADS [SECONDS [ROUNDS]]
 *
 * Each thread allocates and frees, without a pause or (odd ones) with pauses, and
 * the first launches a kernel, too.  With ROUNDS also even ones pause, for a millisecond after so many:
 * without them there are a million calls in a second, where a test does not need them.  The size of an
 * allocation is its number in the thread, from 1 to WRAP and again, times 16, so that a trace shows whether one is
 * missing, and the GPU has memory for them.
 * Prints "ready PID"; at the end, or at SIGTERM, the numbers of allocations, "word CHANGED" if
 * libcuda's word of cuMemAlloc_v2 is not what it was ("word LIBRARY": it leads into cudatrace's
 * library after the first calls), and "wrong N": results that were not success.
 *
 * With RUNNING_FAULTS it has a handler of SIGSEGV.  At SIGUSR1 it forks a child that calls until SIGTERM, with pauses, prints "child PID", and the child
 * whether libcuda's word is as before.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../sim/cuda_sim.h"
#include "word_of.h"

#define MOST	256
#define WRAP	5000000

static volatile sig_atomic_t stop, forks;
static unsigned long made[MOST], wrong[MOST];
static CUcontext context;
static unsigned long rounds;	/* 0: no pause */
static CUfunction kernel;	/* looked up before anybody attaches */

static void on_term(int signal)
{
	(void)signal;
	stop = 1;
}

static void on_fork(int signal)
{
	(void)signal;
	forks = 1;
}

static void on_fault(int signal)
{
	_exit(64 + signal);
}

static void *work(void *arg)
{
	unsigned int me = (unsigned int)(uintptr_t)arg;

	cuCtxSetCurrent(context);
	while (!stop) {
		CUdeviceptr p = 0;

		made[me]++;
		wrong[me] += cuMemAlloc_v2(&p, 16 * ((made[me] - 1) % WRAP + 1)) != CUDA_SUCCESS;
		wrong[me] += cuMemFree_v2(p) != CUDA_SUCCESS;
		if (!me)
			wrong[me] += cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL) != CUDA_SUCCESS;
		if (me % 2)
			usleep(200);
		else if (rounds && !(made[me] % rounds))
			usleep(1000);
	}
	return NULL;
}

static void child(void *const *word, const void *before)
{
	/* Of libcuda it can have errors only. */
	while (!stop) {
		cuMemFree_v2(0);
		usleep(500);
	}
	printf("child's word %s\n", word && *word != before ? "CHANGED" : "as before");
	fflush(stdout);
	_exit(0);
}

int main(int argc, char **argv)
{
	unsigned int threads = argc > 1 ? (unsigned int)atoi(argv[1]) : 2;
	double seconds = argc > 2 ? atof(argv[2]) : 600;
	const char *pause_after = argc > 3 ? argv[3] : "0";
	pthread_t thread[MOST];
	unsigned long bad = 0;
	void **word, *before, *init;
	CUdevice device;
	Dl_info info;
	static const char image[] = "cudatrace-sim-image 1\nkernel _Z5earlyv - 3000\n";
	/* The same kernel for a real GPU: tests/gpu/cycles.sh. */
	static const char real[] = ".version 7.0\n.target sm_50\n.address_size 64\n.visible .entry _Z5earlyv() { ret; }\n";
	time_t end = time(NULL) + (time_t)seconds;
	CUmodule module;

	rounds = strtoul(pause_after, NULL, 10);
	signal(SIGTERM, on_term);
	signal(SIGUSR1, on_fork);
	if (getenv("RUNNING_FAULTS"))
		signal(SIGSEGV, on_fault);
	/* First, as the runtime library does. */
	if (cuGetProcAddress("cuInit", &init, 11030, 0))
		return 2;
	if (threads > MOST || cuInit(0) || cuDeviceGet(&device, 0) || cuDevicePrimaryCtxRetain(&context, device))
		return 2;
	cuCtxSetCurrent(context);
	if ((cuModuleLoadData(&module, image) && cuModuleLoadData(&module, real)) || cuModuleGetFunction(&kernel, module, "_Z5earlyv"))
		return 2;
	word = word_of((const void *)cuMemAlloc_v2);
	before = word ? *word : NULL;
	if (before && dladdr(before, &info) && strstr(info.dli_fname, "libcudatrace"))
		printf("word LIBRARY\n");
	for (unsigned int i = 0; i < threads; i++)
		if (pthread_create(&thread[i], NULL, work, (void *)(uintptr_t)i))
			return 2;
	printf("ready %d\n", getpid());
	fflush(stdout);
	while (!stop && time(NULL) < end) {
		usleep(20000);
		if (forks) {
			pid_t pid = fork();

			forks = 0;
			if (!pid)
				child(word, before);
			printf("child %d\n", pid);
			fflush(stdout);
		}
	}
	stop = 1;
	for (unsigned int i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	for (unsigned int i = 0; i < threads; i++) {
		printf("thread %u %lu\n", i, made[i]);
		bad += wrong[i];
	}
	if (word && *word != before)
		printf("word CHANGED\n");
	printf("wrong %lu\n", bad);
	return bad != 0;
}
