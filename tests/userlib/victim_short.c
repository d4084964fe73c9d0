// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Threads that live for three calls: their streams go on with other threads.
 */
#include "victim.h"

#include <pthread.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CALLS	3

static void *run(void *unused)
{
	calls(CALLS);
	return unused;
}

static void one_after_the_other(int n)
{
	pthread_t t;

	for (int i = 0; i < n; i++) {
		CHECK(!pthread_create(&t, NULL, run, NULL));
		pthread_join(t, NULL);
	}
}

/* A child, whose own threads end, too. */
static void child(void)
{
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (!pid) {
		one_after_the_other(2);
		calls(CALLS);
		exit(0);
	}
	CHECK(!await(pid));
}

static void *renamed(void *unused)
{
	CHECK(!prctl(PR_SET_NAME, "early"));
	calls(CALLS);
	CHECK(!prctl(PR_SET_NAME, "late"));
	return unused;
}

/* A thread with a name of its own, which it changes after its calls; and one without. */
int short_names(void)
{
	pthread_t t;

	load();
	calls(CALLS);
	CHECK(!pthread_create(&t, NULL, renamed, NULL));
	pthread_join(t, NULL);
	one_after_the_other(1);
	return 0;
}

/* 5,000 threads, then children that have nothing of their streams, then a thread once more. */
int short_threads(void)
{
	load();
	one_after_the_other(5000);
	child();
	child();
	one_after_the_other(1);
	return 0;
}

#define MAKERS	16

static void *make(void *unused)
{
	one_after_the_other(500);
	return unused;
}

/* 16 times 500 threads, which end while others begin; and children meanwhile. */
int short_crowd(void)
{
	pthread_t t[MAKERS];

	load();
	for (int i = 0; i < MAKERS; i++)
		CHECK(!pthread_create(&t[i], NULL, make, NULL));
	for (int i = 0; i < 30; i++)
		child();
	for (int i = 0; i < MAKERS; i++)
		pthread_join(t[i], NULL);
	return 0;
}

static void *hang_in_thread(void *unused)
{
	calls(CALLS);
	printf("tid %ld\n", syscall(SYS_gettid));
	fflush(stdout);
	GET(cuMockHang)();
	return unused;
}

/* One of them hangs, and the process is killed. */
int short_hang(void)
{
	pthread_t t;

	load();
	one_after_the_other(100);
	CHECK(!pthread_create(&t, NULL, hang_in_thread, NULL));
	pthread_join(t, NULL);
	return 1;
}
