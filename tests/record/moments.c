// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A program that is attached to at wrong moments: moments WHAT [SECONDS]
 *
 * Two threads allocate and free device memory without a pause; others do WHAT all the time: dlopen, malloc, fork,
 * handler (a signal handler that calls CUDA), threads (they begin and end), exec (of itself), exit (soon).  With "leader" the
 * main thread ends, and the others go on until they are killed.  At the end,
 * or at SIGTERM, prints "wrong N": results that were not success.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../sim/cuda_sim.h"

static volatile sig_atomic_t stop;
static unsigned long wrong;
static CUcontext context;
static const char *what;

static void on_term(int signal)
{
	(void)signal;
	stop = 1;
}

static void call(size_t size)
{
	CUdeviceptr p = 0;

	if (cuMemAlloc_v2(&p, size) != CUDA_SUCCESS || cuMemFree_v2(p) != CUDA_SUCCESS)
		__atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
}

static void on_alarm(int signal)
{
	int version;

	(void)signal;
	/* One that takes no lock of libcuda's, which the interrupted call may have. */
	if (cuDriverGetVersion(&version) != CUDA_SUCCESS)
		__atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
}

static void *calls(void *arg)
{
	(void)arg;
	cuCtxSetCurrent(context);
	while (!stop)
		call(16);
	return NULL;
}

static void *nothing(void *arg)
{
	cuCtxSetCurrent(context);
	call(48);
	return arg;
}

static void one(unsigned int n)
{
	if (!strcmp(what, "dlopen")) {
		void *library = dlopen(n % 2 ? "libresolv.so.2" : "libutil.so.1", RTLD_NOW);

		if (library)
			dlclose(library);
	} else if (!strcmp(what, "malloc")) {
		void *p[64];

		for (unsigned int i = 0; i < 64; i++)
			p[i] = malloc((n * 7 + i * 977) % 70000 + 1);
		for (unsigned int i = 0; i < 64; i++)
			free(p[i]);
	} else if (!strcmp(what, "fork")) {
		pid_t child = fork();

		if (!child)
			_exit(0);
		if (child > 0)
			waitpid(child, NULL, 0);
	} else if (!strcmp(what, "threads")) {
		pthread_t thread;

		if (!pthread_create(&thread, NULL, nothing, NULL))
			pthread_join(thread, NULL);
	} else {
		usleep(1000);
	}
}

static void *does(void *arg)
{
	for (unsigned int n = (unsigned int)(uintptr_t)arg; !stop; n++)
		one(n);
	return NULL;
}

int main(int argc, char **argv)
{
	double seconds = argc > 2 ? atof(argv[2]) : 600;
	bool leaves = argc > 1 && (!strcmp(argv[1], "exec") || !strcmp(argv[1], "exit"));
	struct timespec now;
	pthread_t thread[4];
	CUdevice device;

	what = argc > 1 ? argv[1] : "nothing";
	signal(SIGTERM, on_term);
	if (cuInit(0) || cuDeviceGet(&device, 0) || cuDevicePrimaryCtxRetain(&context, device) || cuCtxSetCurrent(context))
		return 2;
	for (unsigned int i = 0; i < 4; i++)
		if (pthread_create(&thread[i], NULL, i < 2 ? calls : does, (void *)(uintptr_t)i))
			return 2;
	if (!strcmp(what, "handler")) {
		const struct itimerval often = { { 0, 500 }, { 0, 500 } };
		struct sigaction act = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };

		sigaction(SIGALRM, &act, NULL);
		setitimer(ITIMER_REAL, &often, NULL);
	}
	printf("ready %d\n", getpid());
	fflush(stdout);
	if (!strcmp(what, "leader"))
		pthread_exit(NULL);
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (leaves)
		seconds = 0.05 + (double)(now.tv_nsec / 1000 % 300) / 1000;
	for (double t = 0; !stop && t < seconds; t += 0.005)
		usleep(5000);
	if (!strcmp(what, "exec") && !stop)
		execv("/proc/self/exe", argv);
	stop = 1;
	for (unsigned int i = 0; i < 4 && !leaves; i++)
		pthread_join(thread[i], NULL);
	printf("wrong %lu\n", wrong);
	return wrong != 0;
}
