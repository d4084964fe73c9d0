// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What an event costs in the kernel, in instructions: run in a guest whose clock
 * counts instructions (QEMU -icount shift=0: one a nanosecond, so the time-stamp
 * counter counts them).  Each row is the median of several loops, without the loop.
 *
 *   kernel call              instructions of one ioctl of the bench device
 *   kernel ioctl-null        of an ioctl of /dev/null
 *   kernel cudatrace         rows of the shipped module, records checked
 *   kernel marker-raw FILE   of a write of 32 bytes to FILE
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <x86intrin.h>

#include "../../module/uapi/cudatrace.h"

#define LOOPS	11
#define CALLS	2000

struct target {
	int fd;
	unsigned long cmd;
	void *arg;
	size_t size;		/* a write of so many bytes instead of an ioctl */
};

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Instructions of one call, the median of LOOPS loops. */
static double measure(const struct target *t)
{
	uint64_t loop[LOOPS], begin, empty;
	int i, j;

	begin = __rdtsc();
	for (j = 0; j < CALLS; j++)
		__asm__ volatile("" ::: "memory");
	empty = __rdtsc() - begin;
	for (i = 0; i < LOOPS; i++) {
		begin = __rdtsc();
		if (t->size) {
			for (j = 0; j < CALLS; j++)
				if (write(t->fd, t->arg, t->size) < 0)
					exit(3);
		} else {
			for (j = 0; j < CALLS; j++)
				ioctl(t->fd, t->cmd, t->arg);
		}
		loop[i] = __rdtsc() - begin - empty;
	}
	qsort(loop, LOOPS, sizeof(loop[0]), compare);
	return (double)loop[LOOPS / 2] / CALLS;
}

static int must_open(const char *path, int flags)
{
	int fd = open(path, flags);

	if (fd < 0) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		exit(2);
	}
	return fd;
}

static void row(const char *name, double instructions)
{
	printf("%s\t%.0f\n", name, instructions);
	fflush(stdout);
}

static double bench_call(void)
{
	struct target t = { .fd = must_open("/dev/ct_bench", O_RDONLY), .cmd = 0xb101 };
	double n = measure(&t);

	close(t.fd);
	return n;
}

/* ------------------------------------------------------ the module --------- */

struct text_mark {
	struct ct_mark_head head;
	uint32_t uid;
	uint16_t len;
	char text[26];
} __attribute__((packed));

static struct ct_cpu_status *status;

static void session(int fd, uint64_t groups)
{
	struct ct_session s = { .size = sizeof(s), .flags = CT_SESSION_OVERWRITE,
				.groups = groups };

	if (ioctl(fd, CT_IOC_START, &s)) {
		perror("CT_IOC_START");
		exit(2);
	}
	status = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, CT_MMAP_STATUS(0));
}

/* The records that a measurement must have made, or it measured something else. */
static void check(const char *what, uint64_t before, uint64_t each)
{
	uint64_t made = status->records - before, want = (uint64_t)LOOPS * CALLS * each;

	if (made < want || made > want + 100) {
		fprintf(stderr, "%s: %llu records, not %llu\n", what,
			(unsigned long long)made, (unsigned long long)want);
		exit(4);
	}
}

static void cudatrace_rows(double bare)
{
	int fd = must_open(CT_DEVICE_PATH, O_RDWR), w = must_open(CT_DEVICE_PATH, O_WRONLY);
	struct ct_probe_add add = { .size = sizeof(add) };
	struct ct_filter filter = { .size = sizeof(filter), .pids = 1, .pid[0] = 1 };
	struct ct_filter none = { .size = sizeof(none) };
	struct text_mark m[4] = { 0 };
	struct target t;
	double null, one;
	uint64_t before;
	int i;

	strcpy(add.module, "ct_bench");
	strcpy(add.symbol, "ct_bench_traced");
	strcpy(add.arg[0].name, "cmd");
	add.arg[0].type = CT_TYPE_x64;
	strcpy(add.arg[1].name, "arg");
	add.arg[1].number = 1;
	add.arg[1].type = CT_TYPE_x64;
	add.args = 2;
	if (ioctl(fd, CT_IOC_PROBE_ADD, &add)) {
		perror("CT_IOC_PROBE_ADD");
		exit(2);
	}
	row("cudatrace.disabled", bench_call() - bare);
	session(fd, 1u << CT_GROUP_ADDED);
	before = status->records;
	row("cudatrace.pair", bench_call() - bare);
	check("cudatrace.pair", before, 1);
	ioctl(fd, CT_IOC_FILTER, &filter);
	before = status->records;
	row("cudatrace.rejected", bench_call() - bare);
	check("cudatrace.rejected", before, 0);
	ioctl(fd, CT_IOC_FILTER, &none);

	for (i = 0; i < 4; i++) {
		m[i].head = (struct ct_mark_head){ .size = sizeof(m[i]), .class = CT_CLASS_mark,
						   .flags = CT_F_INSTANT };
		m[i].len = sizeof(m[i].text);
		memcpy(m[i].text, "a marker of 26 characters.", 26);
	}
	t = (struct target){ .fd = w, .cmd = _IO(CT_IOC_TYPE, 200) };
	null = measure(&t);
	t = (struct target){ .fd = w, .cmd = CT_IOC_MARK(sizeof(m[0])), .arg = m };
	before = status->records;
	one = measure(&t);
	check("cudatrace.marker", before, 1);
	row("cudatrace.marker", one - null);
	t.cmd = CT_IOC_MARK(sizeof(m));
	before = status->records;
	row("cudatrace.marker_next", (measure(&t) - one) / 3);
	check("cudatrace.marker_next", before, 4);
	close(fd);
	fd = must_open(CT_DEVICE_PATH, O_RDWR);
	ioctl(fd, CT_IOC_PROBE_REMOVE, &add);
	close(fd);
	close(w);
}

int main(int argc, char **argv)
{
	struct target t;
	char text[32] = "a marker of thirty-two bytes...";

	if (argc < 2)
		return 64;
	if (!strcmp(argv[1], "call")) {
		printf("%.1f\n", bench_call());
	} else if (!strcmp(argv[1], "ioctl-null")) {
		t = (struct target){ .fd = must_open("/dev/null", O_RDONLY), .cmd = 0xb101 };
		row("ioctl.null", measure(&t));
	} else if (!strcmp(argv[1], "cudatrace")) {
		cudatrace_rows(bench_call());
	} else if (!strcmp(argv[1], "marker-raw") && argc > 2) {
		t = (struct target){ .fd = must_open(argv[2], O_WRONLY), .arg = text,
				     .size = sizeof(text) };
		row("trace_marker_raw", measure(&t));
	} else {
		return 64;
	}
	return 0;
}
