// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A program that is linked to libcuda: built with and without -z now, as a
 * plugin (-DPLUGIN) that another program loads, and as a library that does the same
 * when it is initialised (-DEARLY).
 */
#define _GNU_SOURCE
#include "mock.h"

#include <dlfcn.h>
#include <stdio.h>

/* A pointer in writable data, bound by the loader too. */
int (*in_data)(unsigned) = cuInit;
int (*const in_relro)(void *) = cuCtxSetCurrent;

int linked_run(void);

int linked_run(void)
{
	dptr p;

	if (in_data(0) || cuInit(0) || in_relro((void *)1))
		return 1;
	for (int i = 0; i < 3; i++)
		if (cuMemAlloc_v2(&p, 100) || cuMemFree_v2(p))
			return 2;
	/* Found by the scope of this object, be it loaded for itself alone. */
	__typeof__(cuCtxGetCurrent) *get = dlsym(RTLD_DEFAULT, "cuCtxGetCurrent");
	void *ctx;

	if (!get || get(&ctx) || dlerror())
		return 3;
	return cuLaunchKernel((void *)1, 1, 2, 3, 4, 5, 6, 7, (void *)8, (void *)9,
			      (void *)10);
}

#ifdef EARLY
int early = 1;

__attribute__((constructor)) static void initialise(void)
{
	early = linked_run();
}
#elif !defined(PLUGIN)
int main(void)
{
	int ret = linked_run();

	printf("%d calls, %d\n", cuMockCount(), ret);
	return ret;
}
#endif
