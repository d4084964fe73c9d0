// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Programs for record --gpu over the simulated libcuda, whose kernels are those of
 * tests/sim/module.c:
 *
 *	gpu work N	N times: two launches, a set, a copy
 *	gpu sets N	N sets, without a launch or a copy
 *	gpu copies N	N times a set and a copy, without a launch; first a child that only calls cuInit
 *	gpu held N	work; ends when the trace has a GPU stream with records
 *	gpu threads N	four threads, N launches each of one kernel with one grid, each in a
 *			stream of its own
 *	gpu capture	launches into a capture, one that fails, and the same that run; a capture
 *			that is refused comes first, and one end of it is refused
 *	gpu again N	work, time for CUPTI to deliver it; exec() of the same, as "work"
 *	gpu exec PROGRAM...	work, and at once exec() of PROGRAM
 *	gpu killed N	work, a tenth of a second and more, and work, of which no record comes
 *	gpu limit N	work, with no right to write files
 *	gpu exit	work, time for CUPTI to deliver it, and _exit()
 *	gpu fork	a child before cuInit, which works, too; then one after it, which exits
 *	gpu profiler	work; another collector comes; work
 *	gpu blocked N	the writer of records never gets done with a write(); work; another
 *			collector comes; exit
 *	gpu inside	exit() as in a handler that interrupted CUPTI
 *	gpu meets	another collector comes while cuInit begins to collect
 *	gpu names N	no right to write files; N launches of kernels whose names are new; says how
 *			often the registry was opened
 *	gpu first	another collector is there before cuInit; work
 */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../sim/cuda_sim.h"

/* Of the stand-in for libcupti, as a profiler is linked to it. */
int cuptiActivityRegisterCallbacks(void (*requested)(uint8_t **, size_t *, size_t *),
				   void (*completed)(void *, uint32_t, uint8_t *, size_t, size_t));
int cuptiActivityEnable(uint32_t kind);
int cuptiActivityFlushAll(uint32_t flag);
int cuptiActivityDisable(uint32_t kind);
int cuptisim_hardware(void) __attribute__((weak));
void cuptisim_inside(void (*f)(void)) __attribute__((weak));

static CUcontext context;
static CUfunction small, large;
static CUdeviceptr memory;

static void ok(CUresult result, int line)
{
	if (result == CUDA_SUCCESS)
		return;
	fprintf(stderr, "gpu.c:%d: %d\n", line, (int)result);
	exit(1);
}
#define OK(call)	ok(call, __LINE__)

static void start(void)
{
	static const char image[] = "cudatrace-sim-image 1\nkernel _Z5smallv - 3000\n"
				    "kernel _Z5largev - 9000\n";
	CUmodule module;
	CUdevice device;

	OK(cuInit(0));
	OK(cuDeviceGet(&device, 0));
	OK(cuDevicePrimaryCtxRetain(&context, device));
	OK(cuCtxSetCurrent(context));
	OK(cuModuleLoadData(&module, image));
	OK(cuModuleGetFunction(&small, module, "_Z5smallv"));
	OK(cuModuleGetFunction(&large, module, "_Z5largev"));
	OK(cuMemAlloc_v2(&memory, 4096));
}

static void work(int n)
{
	static char here[4096];

	for (int i = 0; i < n; i++) {
		OK(cuLaunchKernel(small, 1 + i % 7, 1, 1, 32, 1, 1, 64, NULL, NULL, NULL));
		OK(cuLaunchKernel(large, 2, 3, 4, 8, 8, 1, 0, NULL, NULL, NULL));
		OK(cuMemsetD8_v2(memory, 1, 100 + i % 100));
		OK(cuMemcpyDtoH_v2(here, memory, 200 + i % 100));
	}
	OK(cuCtxSynchronize());
}

/* No launch. */
static void transfers(int n, bool copies)
{
	static char here[4096];

	for (int i = 0; i < n; i++) {
		OK(cuMemsetD8_v2(memory, 1, 4096));
		if (copies)
			OK(cuMemcpyDtoH_v2(here, memory, 4096));
	}
	OK(cuCtxSynchronize());
}

/* It comes before its parent calls libcuda. */
static void initialises(void)
{
	pid_t child = fork();

	if (!child) {
		OK(cuInit(0));
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

/* Launches into a capture, then the same ones that run. */
static void capture(void)
{
	CUlaunchConfig config = { .gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 32,
				  .blockDimY = 1, .blockDimZ = 1 };
	CUgraphExec exec;
	CUgraph graph;

	OK(cuStreamCreate(&config.hStream, CU_STREAM_NON_BLOCKING));
	if (cuStreamBeginCapture_v2(NULL, CU_STREAM_CAPTURE_MODE_GLOBAL) == CUDA_SUCCESS)
		exit(1);
	for (int i = 0; i < 20; i++)
		OK(cuLaunchKernel(large, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
	OK(cuStreamBeginCapture_v2(config.hStream, CU_STREAM_CAPTURE_MODE_GLOBAL));
	for (int i = 0; i < 4; i++) {
		/* Refused: the capture goes on. */
		if (i == 1 && cuStreamEndCapture(config.hStream, NULL) == CUDA_SUCCESS)
			exit(1);
		OK(cuLaunchKernelEx(&config, small, NULL, NULL));
		OK(cuLaunchKernel(small, 1, 1, 1, 32, 1, 1, 0, config.hStream, NULL, NULL));
	}
	OK(cuStreamEndCapture(config.hStream, &graph));
	OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
	cuLaunchKernel(small, 0, 1, 1, 32, 1, 1, 0, config.hStream, NULL, NULL);
	for (int i = 0; i < 20; i++)
		OK(cuLaunchKernel(small, 1, 1, 1, 32, 1, 1, 0, config.hStream, NULL, NULL));
	OK(cuGraphLaunch(exec, config.hStream));
	/* All streams: the launches before the capture are in the default one. */
	OK(cuCtxSynchronize());
}

static int each;

/* Its first launches are nobody else's: who reads the trace learns its stream from them. */
static void *thread(void *number)
{
	CUstream stream;

	OK(cuCtxSetCurrent(context));
	OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	for (int i = 0; i < each; i++)
		OK(cuLaunchKernel(small, i < 5 ? 2 + (unsigned int)(uintptr_t)number : 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL));
	OK(cuStreamSynchronize(stream));
	return number;
}

static void threads(int n)
{
	pthread_t id[4];

	each = n;
	for (int i = 0; i < 4; i++)
		pthread_create(&id[i], NULL, thread, (void *)(uintptr_t)i);
	for (int i = 0; i < 4; i++)
		pthread_join(id[i], NULL);
}

/* ------------------------------------------------------ another collector --- */
static unsigned int theirs, foreign;
static uint8_t *given;

static void requested(uint8_t **buffer, size_t *size, size_t *most)
{
	*buffer = given = malloc(1 << 20);
	*size = 1 << 20;
	*most = 0;
}

static void completed(void *c, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	(void)c;
	(void)stream;
	(void)size;
	foreign += buffer != given;
	theirs += valid != 0;
	free(given);
	given = NULL;
}

static void profiler(void)
{
	if (cuptiActivityRegisterCallbacks(requested, completed) || cuptiActivityEnable(2))
		exit(1);
	work(10);
	cuptiActivityFlushAll(1);
	cuptiActivityDisable(2);
	printf("profiler: buffers %u, of somebody else %u\n", theirs, foreign);
	if (cuptisim_hardware && cuptisim_hardware())
		printf("hardware events are still on\n");
}

/* ----------------------------------------------------------- a blocked disk --- */
static bool block, blocked;

/* What the plugin calls.  The main thread is never blocked. */
ssize_t write(int fd, const void *from, size_t size)
{
	while (__atomic_load_n(&block, __ATOMIC_ACQUIRE) && getpid() != syscall(SYS_gettid)) {
		__atomic_store_n(&blocked, true, __ATOMIC_RELEASE);
		pause();
	}
	return syscall(SYS_write, fd, from, size);
}

static void blocks(int n)
{
	__atomic_store_n(&block, true, __ATOMIC_RELEASE);
	work(n);
	while (!__atomic_load_n(&blocked, __ATOMIC_ACQUIRE))
		usleep(1000);
	work(n);
	profiler();
}

/* --------------------------------------------------------------- other ways --- */
static void leave(void)
{
	exit(5);
}

static void *meet(void *unused)
{
	usleep(100000);
	if (cuptiActivityRegisterCallbacks(requested, completed))
		exit(1);
	return unused;
}

static void meets(void)
{
	pthread_t other;

	pthread_create(&other, NULL, meet, NULL);
	start();
	pthread_join(other, NULL);
	profiler();
}

static void many_names(int n)
{
	char image[256], path[4352], events[65536];
	int notify = inotify_init1(IN_NONBLOCK), opened = 0;
	CUfunction function[500];
	CUmodule module;
	ssize_t got;

	snprintf(path, sizeof(path), "%s/.registry", getenv("CUDATRACE_DIR") ? getenv("CUDATRACE_DIR") : "");
	if (notify < 0 || inotify_add_watch(notify, path, IN_OPEN | IN_CLOSE) < 0)
		exit(77);
	if (setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 0, RLIM_INFINITY }))
		exit(1);
	for (int i = 0; i < 500; i++) {
		snprintf(image, sizeof(image), "cudatrace-sim-image 1\nkernel _Z3k%03dv - 1000\n", i);
		OK(cuModuleLoadData(&module, image));
		snprintf(path, sizeof(path), "_Z3k%03dv", i);
		OK(cuModuleGetFunction(&function[i], module, path));
	}
	for (int i = 0; i < n; i++)
		OK(cuLaunchKernel(function[i % 500], 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
	OK(cuCtxSynchronize());
	sleep(1);
	while ((got = read(notify, events, sizeof(events))) > 0)
		for (char *e = events; e < events + got; e += sizeof(struct inotify_event) + ((struct inotify_event *)e)->len)
			opened += !!(((struct inotify_event *)e)->mask & IN_OPEN);
	setrlimit(RLIMIT_FSIZE, &(struct rlimit){ RLIM_INFINITY, RLIM_INFINITY });
	printf("%d\n", opened);
}

/* What CUPTI has delivered so far is in a file before the program ends. */
static void held(int n)
{
	const char *dir = getenv("CUDATRACE_DIR");
	char path[4352];

	work(n);
	snprintf(path, sizeof(path), "%s/g-%d-1", dir ? dir : "", (int)getpid());
	while (access(path, F_OK))
		usleep(1000);
}

static void forks(void)
{
	pid_t child = fork();
	int status;

	start();
	work(10);
	if (!child)
		exit(0);
	if (waitpid(child, &status, 0) != child || status)
		exit(1);
	child = fork();
	if (!child)
		exit(0);
	waitpid(child, &status, 0);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int n = argc > 2 && atoi(argv[2]) ? atoi(argv[2]) : 100;

	if (!strcmp(what, "fork")) {
		forks();
		return 0;
	}
	if (!strcmp(what, "first") && cuptiActivityRegisterCallbacks(requested, completed))
		return 1;
	if (!strcmp(what, "meets")) {
		meets();
		return 0;
	}
	if (!strcmp(what, "copies"))
		initialises();
	start();
	if (!strcmp(what, "sets") || !strcmp(what, "copies"))
		transfers(n, *what == 'c');
	else if (!strcmp(what, "threads"))
		threads(n);
	else if (!strcmp(what, "held"))
		held(n);
	else if (!strcmp(what, "blocked"))
		blocks(n);
	else if (!strcmp(what, "names"))
		many_names(n);
	else if (!strcmp(what, "capture"))
		capture();
	else
		work(n);
	if (!strcmp(what, "limit") && setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 0, 0 }))
		return 1;
	if (!strcmp(what, "again")) {
		sleep(1);
		execl("/proc/self/exe", "gpu", "work", argv[2], NULL);
	}
	if (!strcmp(what, "inside"))
		cuptisim_inside(leave);
	if (!strcmp(what, "killed")) {
		usleep(150000);
		work(n);
		raise(SIGKILL);
	}
	if (!strcmp(what, "exec"))
		execvp(argv[2], argv + 2);
	if (!strcmp(what, "profiler"))
		profiler();
	if (!strcmp(what, "exit")) {
		sleep(1);
		_exit(3);
	}
	return 0;
}
