// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * alloc_in_loop.c - every iteration allocates its workspace and frees it.
 *
 * Both calls go to the kernel driver, and a free waits until the GPU is done. Mended: the
 * workspace is allocated once, before the loop.
 */
#include "common.h"

enum { BUFFERS = 4, BYTES = 32 << 20, NUMBERS = 1024, NS = 50000 };

static CUdeviceptr workspace[BUFFERS];

static void allocate(void)
{
	int b;

	for (b = 0; b < BUFFERS; b++)
		CHECK(cuMemAlloc(&workspace[b], BYTES));
}

static void release(void)
{
	int b;

	for (b = 0; b < BUFFERS; b++)
		CHECK(cuMemFree(workspace[b]));
}

int main(int argc, char **argv)
{
	uint32_t *results;		/* pinned; a number of each buffer */
	bool right = true;
	double us;
	int i, b;

	problem_options(argc, argv, "alloc_in_loop", 1000,
			"Allocates four buffers in each iteration and frees them.",
			"allocate them once, before the loop");
	problem_open();
	CHECK(cuMemHostAlloc((void **)&results, BUFFERS * sizeof(*results), 0));
	if (problem.mended)
		allocate();
	problem_begin();
	for (i = 0; i < problem.iterations; i++) {
		if (!problem.mended)
			allocate();
		for (b = 0; b < BUFFERS; b++) {
			CHECK(cuMemsetD8Async(workspace[b], i, NUMBERS * sizeof(uint32_t),
					      problem.stream));
			launch_work(workspace[b], NUMBERS, NS);
			CHECK(cuMemcpyDtoHAsync(&results[b], workspace[b], sizeof(*results),
						problem.stream));
		}
		CHECK(cuStreamSynchronize(problem.stream));
		for (b = 0; b < BUFFERS; b++)
			right = right && results[b] == (i & 0xff) * 0x01010101u + 1;
		if (!problem.mended)
			release();
	}
	us = problem_end();
	if (problem.mended)
		release();
	CHECK(cuMemFreeHost(results));
	return problem_close(us, right);
}
