// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A libcudart for tests: it finds libcuda as the real one does, and checks that what
 * is passed on the stack and by value came through.
 */
#define _GNU_SOURCE
#include "mock.h"

#include <dlfcn.h>

struct dim3 { unsigned x, y, z; };
struct pitched { void *ptr; size_t pitch, x, y; };
struct extent { size_t width, height, depth; };

#define DRIVER(name)	((__typeof__(name) *)dlsym(dlopen("libcuda.so.1", RTLD_NOW), #name))

int cudaMalloc(void **p, size_t n)
{
	return DRIVER(cuMemAlloc_v2)((dptr *)p, n);
}

int cudaGetDevice(int *device)
{
	void *ctx;

	*device = 3;
	return DRIVER(cuCtxGetCurrent)(&ctx);
}

int cudaLaunchKernel(const void *f, struct dim3 grid, struct dim3 block, void **args,
		     size_t shared, void *stream)
{
	return f != (void *)1 || grid.x != 2 || grid.z != 4 || block.x != 5 || block.z != 7 ||
	       args != (void *)8 || shared != 9 || stream != (void *)10;
}

int cudaMemset3D(struct pitched p, int value, struct extent e)
{
	return p.ptr != (void *)1 || p.y != 4 || value != 5 || e.width != 6 || e.depth != 8;
}

const char *cudaGetErrorString(int error)
{
	return error ? "some error" : "no error";
}
