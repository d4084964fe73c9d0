// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A program that is not preloaded, but whose libcuda loads the injection library: with
 * pointers that it has from before.  With -DTOOL another tool's library.
 */
#define _GNU_SOURCE
#include "mock.h"

#include <dlfcn.h>
#include <stdio.h>

#ifdef TOOL
int InitializeInjection(void);

int InitializeInjection(void)
{
	printf("tool: injected\n");
	return 1;
}
#else
static __typeof__(cuInit) *init;
static __typeof__(cuCtxSetCurrent) *set;

int main(void)
{
	void *lib = dlopen("libcuda.so.1", RTLD_NOW);
	__typeof__(cuMemAlloc_v2) *alloc;
	dptr p;

	init = dlsym(lib, "cuInit");
	set = dlsym(lib, "cuCtxSetCurrent");
	if (init(0))
		return 1;
	for (int i = 0; i < 100; i++)
		set((void *)1);
	alloc = dlsym(lib, "cuMemAlloc_v2");	/* from now on by ours */
	return alloc(&p, 64);
}
#endif
