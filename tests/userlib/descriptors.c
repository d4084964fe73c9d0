// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A program that looks at its own descriptors: threads that fill packets, a child, markers and
 * a thread's end leave none behind, nor may what it executes inherit one.  Prints what is open
 * at each of these moments, in which no call is on its way.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "include/cudatrace/cudatrace.h"

static int (*call)(void *);

static void list(const char *when)
{
	DIR *d = opendir("/proc/self/fd");
	struct dirent *e;
	int ours = d ? dirfd(d) : -1, open[64], n = 0;

	while (d && (e = readdir(d)))
		if (*e->d_name != '.' && atoi(e->d_name) != ours && n < 64)
			open[n++] = atoi(e->d_name);
	printf("%s:", when);
	/* (The directory's own order is that of the numbers.) */
	for (int i = 0; i < n; i++)
		printf(" %d", open[i]);
	putchar('\n');
	fflush(stdout);
	if (d)
		closedir(d);
}

static void *fill(void *arg)
{
	for (int i = 0; i < 20000; i++)
		call(arg);
	cudatrace_note("a thread");
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[8];
	void *l;
	pid_t child;

	if (argc > 1) {
		list(argv[1]);
		return 0;
	}
	list("start");
	l = dlopen("libcuda.so.1", RTLD_NOW);
	call = (int (*)(void *))dlsym(l, "cuCtxSetCurrent");
	call(NULL);
	list("first call");
	for (int i = 0; i < 8; i++)
		pthread_create(&threads[i], NULL, fill, NULL);
	for (int i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
	list("threads");
	child = fork();
	if (!child) {
		fill(NULL);
		list("child");
		execl("/proc/self/exe", "descriptors", "executed", NULL);
		_exit(1);
	}
	waitpid(child, NULL, 0);
	fill(NULL);
	list("end");
	return 0;
}
