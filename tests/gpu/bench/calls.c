// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What a call costs the caller: a round, for each line that comes in, prints the
 * nanoseconds of a query (cuCtxGetCurrent), of a call that is stamped twice
 * (cuCtxSetCurrent) and of the launch of an empty kernel, on one line.  Linked to
 * libcuda, so that a preloaded wrapper is called too.
 *
 * Each batch of calls is made again directly, past whatever stands
 * before libcuda, and with PAST, the path of past.so, past a library that stands in its table, in
 * turns with the others, and the line has three more numbers: the
 * medians of what a batch took longer than the direct one beside it.  Where a process
 * lies in memory, and on the GPU, is then the same for both.
 *
 * A shared server's processors change every few ms between two speeds, by whether
 * another guest is at work on the other hyperthread of the core.  A loop of additions
 * before, between and after two batches tells, and if somebody is, the next are made on
 * another processor.  Three numbers more are the medians of the pairs in which nobody
 * was (nan: there were none), and three how many pairs that are, of a hundred.
 */
#define _GNU_SOURCE
#include "quiet.h"

#include <cuda.h>
#include <dlfcn.h>
#include <link.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BATCHES		32
#define QUERIES		2000	/* of a batch */
#define SWITCHES	1000
#define LAUNCHES	125	/* fewer than the GPU's queue takes: a full one makes us wait */

static const char kernel[] =
	".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry nothing() { ret; }\n";

static void check(CUresult result, const char *what)
{
	if (result == CUDA_SUCCESS)
		return;
	fprintf(stderr, "calls: %s: error %d\n", what, result);
	exit(1);
}

typedef void batch(void *function);

static CUcontext context;
static CUfunction nothing;

static void query(void *function)
{
	__typeof__(cuCtxGetCurrent) *f = function;
	CUcontext current;

	for (int i = 0; i < QUERIES; i++)
		f(&current);
}

static void set(void *function)
{
	__typeof__(cuCtxSetCurrent) *f = function;

	for (int i = 0; i < SWITCHES; i++)
		f(context);
}

static void launch(void *function)
{
	__typeof__(cuLaunchKernel) *f = function;

	for (int i = 0; i < LAUNCHES; i++)
		f(nothing, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0);
}

static struct call {
	batch *make;
	int calls;
	const char *name;
	void *function, *direct;
} calls[] = {
	{ query, QUERIES, "cuCtxGetCurrent", cuCtxGetCurrent, NULL },
	{ set, SWITCHES, "cuCtxSetCurrent", cuCtxSetCurrent, NULL },
	{ launch, LAUNCHES, "cuLaunchKernel", cuLaunchKernel, NULL },
};

#define CALLS	(int)(sizeof(calls) / sizeof(*calls))

static int no_library(int on)
{
	(void)on;
	return -1;
}

static int (*past)(int on) = no_library;

static double timed(const struct call *c, void *function)
{
	double begin;

	check(cuCtxSynchronize(), "cuCtxSynchronize");
	begin = now();
	c->make(function);
	return (now() - begin) / c->calls;
}

/* Goes to the processor that is the least disturbed, of those that it may use. */
static void settle(void)
{
	double best = 1e9;
	int cpu = -1;

	for (int i = 0; i < CPU_SETSIZE; i++) {
		double took = 0;

		if (!CPU_ISSET(i, allowed()) || !move_to(i))
			continue;
		for (int n = 0; n < 4; n++)
			took += additions();
		if (took < best) {
			best = took;
			cpu = i;
		}
	}
	if (cpu < 0 || !move_to(cpu))
		perror("calls: sched_setaffinity");
}

static int order(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *of, int n)
{
	qsort(of, n, sizeof(*of), order);
	return n ? (of[(n - 1) / 2] + of[n / 2]) / 2 : NAN;
}

struct figures {
	double mean, over, over_alone, alone;
};

static struct figures round_of(const struct call *c)
{
	double all[BATCHES], some[BATCHES], took[2], sum = 0;
	int n, quiet = 0;

	for (n = 0; n < BATCHES; n++) {
		bool was = alone();

		if (!was) {
			settle();
			was = alone();
		}
		/* took[1] is the direct one's. */
		for (int i = 0; i < 2; i++) {
			int which = (i + n) & 1;

			past(which);
			took[which] = timed(c, which ? c->direct : c->function);
			was &= alone();
		}
		past(0);
		sum += took[0];
		all[n] = took[0] - took[1];
		if (was)
			some[quiet++] = all[n];
	}
	return (struct figures){ sum / n, median(all, n), median(some, quiet), 100. * quiet / n };
}

/* The functions in libcuda's own table, which nobody stands before. */
static int find(struct dl_phdr_info *info, size_t size, void *data)
{
	const char *name = strrchr(info->dlpi_name, '/'), *strings = NULL;
	const ElfW(Sym) *symbol = NULL;
	const ElfW(Dyn) *d = NULL;

	(void)size;
	(void)data;
	if (!name || strncmp(name, "/libcuda.so", 11))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			d = (void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
	for (; d && d->d_tag != DT_NULL; d++) {
		if (d->d_tag == DT_SYMTAB)
			symbol = (void *)d->d_un.d_ptr;
		if (d->d_tag == DT_STRTAB)
			strings = (void *)d->d_un.d_ptr;
	}
	/* Linkers put the names behind the symbols. */
	for (; (const char *)symbol < strings; symbol++)
		for (int i = 0; i < CALLS; i++)
			if (symbol->st_value && !strcmp(strings + symbol->st_name, calls[i].name))
				calls[i].direct = (char *)info->dlpi_addr + symbol->st_value;
	return 1;
}

int main(void)
{
	CUdevice device;
	CUmodule module;
	char line[16];

	if (getenv("PAST")) {
		void *library = dlopen(getenv("PAST"), RTLD_NOW);

		past = library ? (int (*)(int))dlsym(library, "past") : NULL;
		if (!past) {
			fprintf(stderr, "calls: %s\n", dlerror());
			return 1;
		}
	}
	check(cuInit(0), "cuInit");
	check(cuDeviceGet(&device, 0), "cuDeviceGet");
	check(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
	check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
	check(cuModuleLoadData(&module, kernel), "cuModuleLoadData");
	check(cuModuleGetFunction(&nothing, module, "nothing"), "cuModuleGetFunction");
	dl_iterate_phdr(find, NULL);
	for (int i = 0; i < CALLS; i++) {
		if (!calls[i].direct) {
			fprintf(stderr, "calls: %s is not in libcuda's table\n", calls[i].name);
			return 1;
		}
		timed(&calls[i], calls[i].function);
	}
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		struct figures f[CALLS];

		for (int i = 0; i < CALLS; i++)
			f[i] = round_of(&calls[i]);
		for (int i = 0; i < CALLS; i++)
			printf("%.2f ", f[i].mean);
		for (int i = 0; i < CALLS; i++)
			printf("%.2f ", f[i].over);
		for (int i = 0; i < CALLS; i++)
			printf("%.2f ", f[i].over_alone);
		for (int i = 0; i < CALLS; i++)
			printf("%.0f ", f[i].alone);
		puts("");
		fflush(stdout);
	}
	return 0;
}
