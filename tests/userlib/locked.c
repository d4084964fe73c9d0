// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A program that is left while one of its calls waits to look at the list of objects: locked LIBRARY DIR
 *
 * It brings the library in itself, as record --pid does.  The main thread holds the loader's lock of that list, another one
 * calls cuGetProcAddress() and waits for the lock, and then the main thread puts everything back.  The other one is at it after that.
 * Prints "word CHANGED" if libcuda's word of cuMemAlloc_v2 is not what it was.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../sim/cuda_sim.h"
#include "../../userlib/include/cudatrace/attach.h"
#include "word_of.h"

static __typeof__(cudatrace_detach) *detach;
static pid_t other;
static int goes, over;

static void *call(void *arg)
{
	void *function;

	(void)arg;
	__atomic_store_n(&other, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	while (!__atomic_load_n(&goes, __ATOMIC_ACQUIRE))
		usleep(1000);
	cuGetProcAddress("cuInit", &function, 11030, 0);
	__atomic_store_n(&over, 1, __ATOMIC_RELEASE);
	return NULL;
}

/* It waits for a lock; or the call is over, as nobody looked. */
static int waits(void)
{
	char path[64], nr[16] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", __atomic_load_n(&other, __ATOMIC_ACQUIRE));
	f = fopen(path, "r");
	if (!f)
		return 1;
	if (!fgets(nr, sizeof(nr), f))
		nr[0] = '\0';
	fclose(f);
	return atoi(nr) == SYS_futex || __atomic_load_n(&over, __ATOMIC_ACQUIRE);
}

static int leave(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)info;
	(void)size;
	__atomic_store_n(&goes, 1, __ATOMIC_RELEASE);
	while (!waits())
		usleep(1000);
	*(int *)data = __atomic_load_n(&over, __ATOMIC_ACQUIRE);
	detach(CT_DETACH_PUT_BACK);
	return 1;
}

int main(int argc, char **argv)
{
	__typeof__(cudatrace_attach) *attach;
	char options[2 * PATH_MAX], path[64];
	void **word, *before, *library;
	CUcontext context;
	CUdevice device;
	pthread_t thread;
	int fd, n, early = 0;

	if (argc < 3 || cuInit(0) || cuDeviceGet(&device, 0) || cuDevicePrimaryCtxRetain(&context, device))
		return 2;
	word = word_of((const void *)cuMemAlloc_v2);
	before = word ? *word : NULL;
	fd = open(argv[1], O_RDONLY | O_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	library = dlopen(path, RTLD_NOW);
	if (!before || !library)
		return 3;
	attach = (__typeof__(attach))dlsym(library, "cudatrace_attach");
	detach = (__typeof__(detach))dlsym(library, "cudatrace_detach");
	n = snprintf(options, sizeof(options) - 1, "CUDATRACE_SINK=files%cCUDATRACE_DIR=%s", 0, argv[2]);
	options[n + 1] = '\0';
	if (!attach || !detach || attach(options, NULL) || *word == before)
		return 4;
	if (pthread_create(&thread, NULL, call, NULL))
		return 5;
	while (!__atomic_load_n(&other, __ATOMIC_ACQUIRE))
		usleep(1000);
	dl_iterate_phdr(leave, &early);
	pthread_join(thread, NULL);
	detach(CT_DETACH_LEAVE);
	if (early)
		printf("did not wait\n");
	printf("word %s\n", *word != before ? "CHANGED" : "as before");
	return 0;
}
