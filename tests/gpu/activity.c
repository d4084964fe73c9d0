// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Work for a GPU whose times and order are known, by the driver API alone:
 *
 *	activity idle N		N times: a kernel of 1 ms, wait, sleep 2 ms; prints how long
 *				the GPU was idle between the first and the last of them
 *	activity calls		each kind of call that submits work, and such that submit none
 *	activity threads N	four threads: N launches each, of one kernel with one grid, in
 *				streams of their own and in one of all
 *	activity graph N	a graph of three kernels, a copy and a set, N times; prints how long
 *				that took
 *	activity kill		1,000 launches, waits, sleeps a second, and is killed
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

typedef unsigned long long u64;
typedef void *handle;

/* nop: ends at once.  spin: lasts as many ns as its parameter says. */
static const char ptx[] =
	".version 7.0\n.target sm_70\n.address_size 64\n"
	".visible .entry nop(.param .u64 ns)\n{\n ret;\n}\n"
	".visible .entry spin(.param .u64 ns)\n{\n"
	" .reg .pred %p;\n .reg .u64 %t, %begin, %ns;\n"
	" ld.param.u64 %ns, [ns];\n mov.u64 %begin, %globaltimer;\n"
	"again:\n mov.u64 %t, %globaltimer;\n sub.u64 %t, %t, %begin;\n"
	" setp.lt.u64 %p, %t, %ns;\n @%p bra again;\n ret;\n}\n";

#define FUNCTIONS(X)							\
	X(cuInit, (unsigned)) X(cuDeviceGet, (int *, int))		\
	X(cuDevicePrimaryCtxRetain, (handle *, int)) X(cuCtxSetCurrent, (handle))	\
	X(cuModuleLoadData, (handle *, const void *))			\
	X(cuModuleGetFunction, (handle *, handle, const char *))	\
	X(cuLaunchKernel, (handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,	\
			   unsigned, handle, void **, void **))		\
	X(cuStreamCreate, (handle *, unsigned)) X(cuStreamSynchronize, (handle))	\
	X(cuCtxSynchronize, (void)) X(cuMemAlloc_v2, (u64 *, size_t)) X(cuMemFree_v2, (u64))	\
	X(cuMemAllocHost_v2, (void **, size_t))				\
	X(cuMemcpyHtoD_v2, (u64, const void *, size_t)) X(cuMemcpyDtoH_v2, (void *, u64, size_t))	\
	X(cuMemcpyDtoD_v2, (u64, u64, size_t))				\
	X(cuMemcpyHtoDAsync_v2, (u64, const void *, size_t, handle))	\
	X(cuMemcpyDtoHAsync_v2, (void *, u64, size_t, handle))		\
	X(cuMemcpy, (u64, u64, size_t)) X(cuMemsetD8_v2, (u64, unsigned char, size_t))	\
	X(cuMemsetD32Async, (u64, unsigned, size_t, handle))		\
	X(cuMemsetD2D8_v2, (u64, size_t, unsigned char, size_t, size_t))	\
	X(cuEventCreate, (handle *, unsigned)) X(cuEventRecord, (handle, handle))	\
	X(cuStreamWaitEvent, (handle, handle, unsigned))		\
	X(cuLaunchHostFunc, (handle, void (*)(void *), void *))		\
	X(cuMemAllocAsync, (u64 *, size_t, handle)) X(cuMemFreeAsync, (u64, handle))	\
	X(cuStreamBeginCapture_v2, (handle, int)) X(cuStreamEndCapture, (handle, handle *))	\
	X(cuGraphInstantiateWithFlags, (handle *, handle, u64)) X(cuGraphLaunch, (handle, handle))

#define POINTER(name, parameters)	static int (*name) parameters;
FUNCTIONS(POINTER)

static handle context, nop, spin;

#define OK(call)	ok(call, #call)
static void ok(int result, const char *what)
{
	if (!result)
		return;
	fprintf(stderr, "activity: %s: %d\n", what, result);
	exit(1);
}

static u64 now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static int launch(handle function, unsigned grid, u64 ns, handle stream)
{
	void *params[] = { &ns };

	return cuLaunchKernel(function, grid, 1, 1, 32, 1, 1, 0, stream, params, NULL);
}

static void start(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW);
	handle module;
	int device;

	if (!driver)
		exit(77);
#define LOOK(name, parameters)						\
	name = (int (*) parameters)dlsym(driver, #name);		\
	if (!name)							\
		exit(77);
	FUNCTIONS(LOOK)
	OK(cuInit(0));
	OK(cuDeviceGet(&device, 0));
	OK(cuDevicePrimaryCtxRetain(&context, device));
	OK(cuCtxSetCurrent(context));
	OK(cuModuleLoadData(&module, ptx));
	OK(cuModuleGetFunction(&nop, module, "nop"));
	OK(cuModuleGetFunction(&spin, module, "spin"));
}

static void idle(int n)
{
	const struct timespec pause = { .tv_nsec = 2000000 };
	handle stream;
	u64 begin = 0, end = 0;

	OK(cuStreamCreate(&stream, 1));
	OK(launch(nop, 1, 0, stream));
	OK(cuStreamSynchronize(stream));
	for (int i = 0; i < n; i++) {
		if (i)
			nanosleep(&pause, NULL);
		else
			begin = now();
		OK(launch(spin, 1, 1000000, stream));
		OK(cuStreamSynchronize(stream));
		end = now();
	}
	printf("idle_ms %.3f\n", (double)(end - begin) / 1e6 - n);
}

static void nothing(void *unused)
{
	(void)unused;
}

static void calls(void)
{
	static char here[1 << 16];
	handle stream, event;
	void *pinned;
	u64 a, b, c;

	OK(cuStreamCreate(&stream, 1));
	OK(cuEventCreate(&event, 0));
	OK(cuMemAlloc_v2(&a, sizeof(here)));
	OK(cuMemAlloc_v2(&b, sizeof(here)));
	OK(cuMemAllocHost_v2(&pinned, sizeof(here)));
	for (unsigned i = 1; i <= 3; i++) {
		OK(launch(nop, i, 0, stream));
		OK(cuMemcpyHtoD_v2(a, here, 1000 * i));
		OK(cuMemcpyHtoD_v2(a, here, 65536));
		OK(launch(nop, 10 + i, 0, stream));
		OK(cuMemcpyHtoDAsync_v2(a, pinned, 2000 * i, stream));
		OK(cuMemcpyDtoHAsync_v2(pinned, a, 2000 * i, stream));
		OK(cuMemcpyHtoDAsync_v2(a, here, 3000 * i, stream));
		OK(cuMemcpyDtoD_v2(b, a, 4000 * i));
		OK(launch(nop, 20 + i, 0, stream));
		OK(cuMemcpyHtoD_v2(a, here, 0));
		OK(launch(nop, 30 + i, 0, stream));
		OK(cuMemsetD8_v2(a, 1, 5000 * i));
		OK(cuMemsetD32Async(a, 1, 1000 * i, stream));
		OK(cuMemsetD2D8_v2(a, 1024, 1, 100 * i, 10));
		OK(launch(nop, 40 + i, 0, stream));
		launch(nop, 0, 0, stream);
		OK(launch(nop, 50 + i, 0, stream));
		OK(cuEventRecord(event, stream));
		OK(cuStreamWaitEvent(stream, event, 0));
		OK(cuLaunchHostFunc(stream, nothing, NULL));
		OK(launch(nop, 60 + i, 0, stream));
		OK(cuMemAllocAsync(&c, 1 << 20, stream));
		OK(cuMemFreeAsync(c, stream));
		OK(launch(nop, 70 + i, 0, stream));
		OK(cuMemcpyDtoH_v2(here, a, 6000 * i));
		OK(cuMemcpy(b, a, 7000 * i));
		OK(cuMemcpy((u64)pinned, (u64)(uintptr_t)here, 8000 * i));
		OK(launch(nop, 80 + i, 0, NULL));
		OK(cuCtxSynchronize());
	}
}

static handle shared;
static int each;

static void *thread(void *arg)
{
	handle own;

	OK(cuCtxSetCurrent(context));
	OK(cuStreamCreate(&own, 1));
	for (int i = 0; i < each; i++)
		OK(launch(nop, i % 3 ? 1 : 2 + (unsigned)(uintptr_t)arg, 0, i % 2 ? own : shared));
	OK(cuStreamSynchronize(own));
	OK(cuStreamSynchronize(shared));
	return NULL;
}

static void threads(int n)
{
	pthread_t id[4];

	each = n;
	OK(cuStreamCreate(&shared, 1));
	for (uintptr_t i = 0; i < 4; i++)
		pthread_create(&id[i], NULL, thread, (void *)i);
	for (int i = 0; i < 4; i++)
		pthread_join(id[i], NULL);
}

static void graph(int n)
{
	handle stream, made, exec;
	void *pinned;
	u64 a, begin;

	OK(cuStreamCreate(&stream, 1));
	OK(cuMemAlloc_v2(&a, 65536));
	OK(cuMemAllocHost_v2(&pinned, 65536));
	OK(launch(nop, 1, 0, stream));
	OK(cuStreamBeginCapture_v2(stream, 0));
	OK(launch(nop, 1, 0, stream));
	OK(cuMemcpyHtoDAsync_v2(a, pinned, 65536, stream));
	OK(launch(nop, 2, 0, stream));
	OK(cuMemsetD32Async(a, 1, 1024, stream));
	OK(launch(nop, 3, 0, stream));
	OK(cuStreamEndCapture(stream, &made));
	OK(cuGraphInstantiateWithFlags(&exec, made, 0));
	OK(cuStreamSynchronize(stream));
	begin = now();
	for (int i = 0; i < n; i++) {
		OK(cuGraphLaunch(exec, stream));
		if (i % 10 == 9)
			OK(launch(nop, 4, 0, stream));
	}
	OK(cuStreamSynchronize(stream));
	printf("%d graphs in %.6f s\n", n, (double)(now() - begin) / 1e9);
}

static void killed(void)
{
	handle stream;

	OK(cuStreamCreate(&stream, 1));
	for (int i = 0; i < 1000; i++)
		OK(launch(nop, 1, 0, stream));
	OK(cuStreamSynchronize(stream));
	sleep(1);
	raise(SIGKILL);
}

int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[2]) : 100;

	start();
	if (argc < 2)
		return 2;
	if (!strcmp(argv[1], "idle"))
		idle(n);
	else if (!strcmp(argv[1], "calls"))
		calls();
	else if (!strcmp(argv[1], "threads"))
		threads(n);
	else if (!strcmp(argv[1], "graph"))
		graph(n);
	else
		killed();
	return 0;
}
