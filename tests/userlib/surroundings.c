// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Programs in unfriendly surroundings, for surroundings.sh.
 *
 *	surroundings busy	makes a call, says "ready", waits for the file $GO, and makes 20,000 calls;
 *				"made" how many
 *	surroundings lease FILE	takes a lease for reading on FILE, prints a line, and waits
 *	surroundings names LENGTH	launches kernels whose names differ in their last byte only
 *	surroundings misaligned	makes calls with a stack that is 8 bytes off
 *	surroundings keys	300 threads in a program that has all keys of pthread_key_create();
 *				"left" how many of their in-flight pages are still mapped
 *	surroundings unread	runs itself with a standard error that is a full pipe, and its
 *				first message is about a directory that is none
 *	surroundings tls FILE LIBRARY	loads FILE and then LIBRARY
 * Exit status 0, or 1 if something went wrong; 77: not here.
 */
#include "victim.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

void *lib;

void load(void)
{
	lib = dlopen("libcuda.so.1", RTLD_NOW);
	CHECK(lib);
}

void calls(int n)
{
	__typeof__(cuCtxSetCurrent) *set = GET(cuCtxSetCurrent);

	for (int i = 0; i < n; i++)
		CHECK(!set((void *)1));
}

static int busy(void)
{
	const char *go = getenv("GO");

	load();
	calls(1);
	puts("ready");
	fflush(stdout);
	while (go && access(go, F_OK))
		usleep(1000);
	calls(20000);
	printf("made %d\n", 1 + 1 + 20000);	/* and the process's record */
	return 0;
}

static int lease(const char *file)
{
	int fd = open(file, O_RDONLY);

	signal(SIGIO, SIG_IGN);
	if (fd < 0 || fcntl(fd, F_SETLEASE, F_RDLCK))
		return 77;
	puts("leased");
	fflush(stdout);
	pause();
	return 1;
}

static int many_names(const char *length)
{
	size_t n = (size_t)atoi(length);
	char *name = malloc(n + 1);
	void *kernel;

	load();
	CHECK(name);
	memset(name, 'k', n);
	name[n] = 0;
	for (int i = 0; i < 4; i++) {
		name[n - 1] = (char)('0' + i);
		CHECK(!GET(cuModuleGetFunction)(&kernel, (void *)1, name));
		for (int j = 0; j <= i; j++)
			CHECK(!GET(cuLaunchKernel)(kernel, 1, 2, 3, 4, 5, 6, 7, (void *)8,
						   (void *)9, (void *)10));
	}
	return 0;
}

/* As code does that was written by hand, or generated. */
static int call_misaligned(void *function, void *a, void *b, const void *c)
{
	int result;

	__asm__ volatile("movq %%rsp, %%rbx\n\tandq $-16, %%rsp\n\tsubq $8, %%rsp\n\t"
			 "call *%1\n\tmovq %%rbx, %%rsp"
			 : "=a"(result), "+r"(function), "+D"(a), "+S"(b), "+d"(c)
			 :
			 : "rbx", "rcx", "r8", "r9", "r10", "r11", "memory", "cc",
			   "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7");
	return result;
}

static int misaligned(void)
{
	void *current = NULL, *kernel;
	dptr p;

	load();
	for (int i = 0; i < 3; i++) {
		CHECK(!call_misaligned((void *)GET(cuCtxGetCurrent), &current, NULL, NULL));
		CHECK(current == (void *)0xc0ffee);
		CHECK(!call_misaligned((void *)GET(cuCtxSetCurrent), NULL, NULL, NULL));
		CHECK(!call_misaligned((void *)GET(cuMemAlloc_v2), &p, (void *)4096, NULL));
		CHECK(!call_misaligned((void *)GET(cuModuleGetFunction), &kernel, (void *)1,
				       i ? "first" : "second"));
	}
	CHECK(call_misaligned((void *)GET(cuMockCount), NULL, NULL, NULL) == 12);
	return 0;
}

static void *thread(void *unused)
{
	calls(1);
	return unused;
}

static int keys(void)
{
	char line[4096];
	pthread_key_t key;
	pthread_t t;
	FILE *maps;
	int left = 0;

	load();
	while (!pthread_key_create(&key, NULL))
		;
	CHECK(errno != ENOMEM);
	for (int i = 0; i < 300; i++)
		CHECK(!pthread_create(&t, NULL, thread, NULL) && !pthread_join(t, NULL));
	maps = fopen("/proc/self/maps", "r");
	CHECK(maps);
	while (fgets(line, sizeof(line), maps))
		left += strstr(line, "/.open-") != NULL;
	printf("left %d\n", left);
	return 0;
}

static int full_pipe(char **argv)
{
	char zeros[4096] = "";
	int ends[2];

	CHECK(!pipe2(ends, O_NONBLOCK));
	while (write(ends[1], zeros, sizeof(zeros)) > 0)
		;
	CHECK(!fcntl(ends[1], F_SETFL, 0) && dup2(ends[1], 2) == 2);
	CHECK(!setenv("CUDATRACE_DIR", "/dev/null/trace", 1));
	argv[1] = "busy";
	execv("/proc/self/exe", argv);
	return 1;
}

static int tls(const char *file, const char *library)
{
	CHECK(dlopen(file, RTLD_NOW));
	if (!dlopen(library, RTLD_NOW)) {
		printf("%s\n", dlerror());
		return 1;
	}
	load();
	calls(10);
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "busy"))
		return busy();
	if (!strcmp(what, "lease") && argc == 3)
		return lease(argv[2]);
	if (!strcmp(what, "names") && argc == 3)
		return many_names(argv[2]);
	if (!strcmp(what, "misaligned"))
		return misaligned();
	if (!strcmp(what, "keys"))
		return keys();
	if (!strcmp(what, "unread"))
		return full_pipe(argv);
	if (!strcmp(what, "tls") && argc == 4)
		return tls(argv[2], argv[3]);
	fprintf(stderr, "usage: surroundings COMMAND\n");
	return 2;
}
