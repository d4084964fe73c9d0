// SPDX-License-Identifier: LGPL-2.1-or-later
/* A program on a shared libcudart: linked to it, and by dlsym. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

struct dim3 { unsigned x, y, z; };
struct pitched { void *ptr; size_t pitch, x, y; };
struct extent { size_t width, height, depth; };

int cudaMalloc(void **p, size_t n);
int cudaGetDevice(int *device);
int cudaLaunchKernel(const void *f, struct dim3 grid, struct dim3 block, void **args,
		     size_t shared, void *stream);
int cudaMemset3D(struct pitched p, int value, struct extent e);
const char *cudaGetErrorString(int error);

int main(void)
{
	int (*device)(int *) = (int (*)(int *))dlsym(RTLD_DEFAULT, "cudaGetDevice"), n = 0;
	void *p;

	return cudaMalloc(&p, 4096) || cudaGetDevice(&n) || n != 3 || device(&n) ||
	       device != cudaGetDevice ||
	       cudaLaunchKernel((void *)1, (struct dim3){ 2, 3, 4 }, (struct dim3){ 5, 6, 7 },
				(void *)8, 9, (void *)10) ||
	       cudaMemset3D((struct pitched){ (void *)1, 2, 3, 4 }, 5, (struct extent){ 6, 7, 8 }) ||
	       strcmp(cudaGetErrorString(0), "no error");
}
