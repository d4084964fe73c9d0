// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A program that is attached to and left while one of its threads waits to look at the list of objects: locked call|leave LIBRARY DIR
 *
 * It brings the library in itself, as record --pid does.  The main thread holds the loader's lock of that list, and another one
 * waits for the lock; then
 *	call	it calls cuGetProcAddress(), and the main thread puts everything back: it is at it after that
 *	leave	it leaves, and the main thread begins another recording
 * Prints "did not wait" if it never waited, and at the end whether libcuda's word of cuMemAlloc_v2 is "as before", or "ours".
 * "old" and a word is printed where leaving a recording that is over, by its number, changes the word.
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

#include "mock.h"
#include "../record/word_of.h"
#include "../../userlib/include/cudatrace/attach.h"

static __typeof__(cudatrace_attach) *attach;
static __typeof__(cudatrace_detach) *detach;
static char options[2 * PATH_MAX];
static void **word, *before;
static int leaves;
static pid_t other;
static int goes, over;

static void *works(void *arg)
{
	void *function;

	(void)arg;
	__atomic_store_n(&other, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	while (!__atomic_load_n(&goes, __ATOMIC_ACQUIRE))
		usleep(1000);
	if (leaves)
		detach(CT_DETACH_PUT_BACK, 0);
	else
		cuGetProcAddress_v2("cuInit", &function, 11030, 0, NULL);
	__atomic_store_n(&over, 1, __ATOMIC_RELEASE);
	return NULL;
}

/* It waits for a lock; or its work is over, as nobody looked. */
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

static int meanwhile(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)info;
	(void)size;
	__atomic_store_n(&goes, 1, __ATOMIC_RELEASE);
	while (!waits())
		usleep(1000);
	*(int *)data = __atomic_load_n(&over, __ATOMIC_ACQUIRE);
	if (leaves)
		attach(options, NULL);
	else
		detach(CT_DETACH_PUT_BACK, 0);
	return 1;
}

static void leave(uint32_t number)
{
	detach(CT_DETACH_PUT_BACK, number);
	detach(CT_DETACH_LEAVE, number);
}

static const char *word_is(void)
{
	return *word != before ? "ours" : "as before";
}

int main(int argc, char **argv)
{
	const struct ct_attach_answer *answer;
	void *library;
	pthread_t thread;
	char path[64];
	int fd, n, early = 0;
	uint32_t first;

	if (argc < 4 || cuInit(0))
		return 2;
	leaves = !strcmp(argv[1], "leave");
	word = word_of((const void *)cuMemAlloc_v2);
	before = word ? *word : NULL;
	fd = open(argv[2], O_RDONLY | O_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	library = dlopen(path, RTLD_NOW);
	if (!before || !library)
		return 3;
	attach = (__typeof__(attach))dlsym(library, "cudatrace_attach");
	detach = (__typeof__(detach))dlsym(library, "cudatrace_detach");
	answer = dlsym(library, "cudatrace_attach_answer");
	n = snprintf(options, sizeof(options) - 1, "CUDATRACE_SINK=files%cCUDATRACE_DIR=%s", 0, argv[3]);
	options[n + 1] = '\0';
	if (!attach || !detach || !answer || attach(options, NULL) || *word == before)
		return 4;
	first = answer->running;
	leave(first);
	if (*word != before || answer->running || attach(options, NULL))
		return 5;
	leave(first);
	printf("old %s\n", word_is());
	if (pthread_create(&thread, NULL, works, NULL))
		return 6;
	while (!__atomic_load_n(&other, __ATOMIC_ACQUIRE))
		usleep(1000);
	dl_iterate_phdr(meanwhile, &early);
	pthread_join(thread, NULL);
	if (early)
		printf("did not wait\n");
	printf("%s\n", word_is());
	detach(CT_DETACH_LEAVE, 0);
	return 0;
}
