// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * libcudatrace-gpu.so: what the program's GPUs did, by CUPTI's activity interface
 * (`cudatrace record --gpu`).
 *
 * libcuda loads it at cuInit (CUDA_INJECTION64_PATH) and calls InitializeInjection().  It loads
 * libcupti, has it collect, and writes what CUPTI delivers into the trace directory, in a thread
 * of its own, so that the program's calls pay for nothing but CUPTI itself.
 *
 *   gpu.c	what libcuda and doctor call
 *   collect.c	begin and end of a process's collection
 *   cupti.c	the functions of CUPTI
 *   find.c	which libcupti
 *   clock.c	CUPTI's times on the trace's clock
 *   buffers.c	CUPTI's buffers, from its request to the writing
 *   activity.c	its records as ours
 *   streams.c	files of the trace directory
 *   company.c	other users of CUPTI
 *
 * A plugin: it uses cudatrace_host() of libcudatrace.so and may use libc.  It is preloaded, too
 * (see company.c), and does nothing before cuInit.  What fails costs records, and a line in the
 * trace says so; never the program.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "include/cudatrace/attach.h"
#include "plugins/gpu/collect.h"
#include "plugins/gpu/company.h"
#include "plugins/gpu/cupti.h"
#include "plugins/gpu/find.h"
#include "plugins/gpu/loader.h"

/* The preloaded library, or that beside us where libcuda loads it (DT_RUNPATH). */
static const struct ct_host *gpu_find_host(void)
{
	const struct ct_host *(*get)(void) = NULL;
	void *library = loader_open("libcudatrace.so", RTLD_NOW);
	const struct ct_host *h = NULL;

	if (library)
		get = (__typeof__(get))loader_find(library, "cudatrace_host");
	if (get)
		h = get();
	return h && h->size == sizeof(*h) && h->schema == CT_SCHEMA_VERSION ? h : NULL;
}

/* The library that was set there before, and ours where it is injected, too. */
static void gpu_chain(const char *variable, int (*self)(void))
{
	const char *path = getenv(variable);
	void *handle = path && *path ? loader_open(path, RTLD_LAZY) : NULL;
	int (*next)(void) = handle ? (int (*)(void))loader_find(handle, "InitializeInjection") : NULL;

	if (next && next != self)
		next();
}

__attribute__((visibility("default"))) int InitializeInjection(void);

int InitializeInjection(void)
{
	static u32 once;
	const char *what = getenv("CUDATRACE_GPU"), *backend = getenv("CUDATRACE_SINK");

	if (__atomic_exchange_n(&once, 1u, __ATOMIC_RELAXED))
		return 1;
	gpu_chain("CUDATRACE_GPU_NEXT", InitializeInjection);
	if (!what || !*what || (backend && !strcmp(backend, "none")))
		return 1;
	host = gpu_find_host();
	if (host)
		collect_start(what, &company);
	return 1;
}

__attribute__((visibility("default"))) int cudatrace_gpu_begin(const char *what, const struct ct_host *(*get)(void))
{
	return collect_start_late(what, get);
}

__attribute__((visibility("default"))) int cudatrace_gpu_end(void)
{
	return collect_end_late();
}

/* For doctor: which libcupti a process with these libraries would take, and why. */
__attribute__((visibility("default"))) bool cudatrace_gpu_find(char *path, size_t path_size, char *why,
							       size_t why_size, unsigned *version);

bool cudatrace_gpu_find(char *path, size_t path_size, char *why, size_t why_size, unsigned *version)
{
	static struct found f;
	bool found = find_cupti(&f);

	snprintf(path, path_size, "%s", found ? f.path : "");
	snprintf(why, why_size, "%s", f.why);
	*version = f.version;
	return found;
}
