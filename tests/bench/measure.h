/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Instructions of one system call, by a time-stamp counter that counts them: QEMU's
 * -icount shift=0 lets an instruction take one nanosecond.
 *
 * The calls are made in short loops, so that most have no timer interrupt in them,
 * and the median of the loops is taken.  The program runs with a real-time
 * priority, so that what reads a tracer's buffers does so between two loops (there
 * is a pause for it) and its own instructions are not counted as the caller's.
 */
#ifndef CT_BENCH_MEASURE_H
#define CT_BENCH_MEASURE_H

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <x86intrin.h>

#define LOOPS		81	/* and one before them, to warm up */
#define CALLS		100	/* in a loop */
#define ALL_CALLS	((LOOPS + 1) * CALLS)
#define PAUSE_US	5000

struct target {
	int fd;
	unsigned long cmd;
	void *arg;
	size_t size;		/* a write of so many bytes instead of an ioctl */
	int fails;		/* the errno that each call must end with */
};

static void fail(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(2);
}

static __attribute__((unused)) int must_open(const char *path, int flags)
{
	int fd = open(path, flags);

	if (fd < 0)
		fail(path);
	return fd;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The call itself is inline assembly: a C library's wrapper is not what is asked. */
static inline long system_call(long number, long a, long b, long c)
{
	long ret;

	__asm__ volatile("syscall" : "=a"(ret) : "0"(number), "D"(a), "S"(b), "d"(c)
			 : "rcx", "r11", "memory");
	return ret;
}

static uint64_t loop_of(const struct target *t, long number, long b, long c, int calls)
{
	long ret, expected = t->size ? (long)t->size : -t->fails;
	uint64_t begin = __rdtsc();
	int i, wrong = 0;

	for (i = 0; i < calls; i++) {
		ret = system_call(number, t->fd, b, c);
		wrong += ret != expected;
	}
	begin = __rdtsc() - begin;
	if (wrong) {
		errno = ret < 0 ? -ret : 0;
		fail("a measured call did not return what it must");
	}
	return begin;
}

/* Does the counter count instructions? */
static __attribute__((unused)) void check_counter(void)
{
	uint64_t begin, least = UINT64_MAX;
	int i;

	for (i = 0; i < 5; i++) {
		begin = __rdtsc();
		__asm__ volatile(".rept 10000\n\tnop\n\t.endr");
		begin = __rdtsc() - begin;
		if (begin < least)
			least = begin;
	}
	if (least < 10000 || least > 10050) {
		fprintf(stderr, "10,000 instructions move the time-stamp counter by %llu: this is no -icount shift=0\n",
			(unsigned long long)least);
		exit(2);
	}
}

/* Instructions of one call. */
static __attribute__((unused)) double measure(const struct target *t)
{
	long number = t->size ? 1 : 16;		/* write, ioctl */
	long b = t->size ? (long)t->arg : (long)t->cmd;
	long c = t->size ? (long)t->size : (long)t->arg;
	struct sched_param fifo = { .sched_priority = 1 };
	uint64_t loop[LOOPS + 1], empty;
	int i;

	if (sched_setscheduler(0, SCHED_FIFO, &fifo))
		fail("SCHED_FIFO");
	/* The two readings; the loop's own handful of instructions stays. */
	empty = loop_of(t, number, b, c, 0);
	for (i = 0; i <= LOOPS; i++) {
		usleep(PAUSE_US);
		loop[i] = loop_of(t, number, b, c, CALLS) - empty;
	}
	qsort(loop + 1, LOOPS, sizeof(loop[0]), compare);
	return (double)loop[1 + LOOPS / 2] / CALLS;
}

#endif
