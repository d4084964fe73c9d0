// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * pageable_copies.c - every iteration copies 8 MiB from memory that malloc() gave.
 *
 * The driver must first copy such memory into its own pinned buffers, and the call returns only
 * then. Mended: two pinned buffers in turn, asynchronous copies, and a wait for the copy of two
 * iterations before, when its buffer is wanted again.
 */
#include "common.h"

enum { BYTES = 8 << 20, NUMBERS = 1024, NS = 100000 };

static uint32_t *host[2];
static CUdeviceptr device[2], results;
static CUevent done[2];

static void set_up(void)
{
	int slot;

	for (slot = 0; slot < 2; slot++) {
		if (problem.mended)
			CHECK(cuMemHostAlloc((void **)&host[slot], BYTES, 0));
		else
			host[slot] = malloc(BYTES);
		if (!host[slot])
			exit(1);
		memset(host[slot], 0, BYTES);
		device[slot] = device_memory(BYTES);
		CHECK(cuEventCreate(&done[slot], 0));
	}
	results = device_memory(NUMBERS * sizeof(uint32_t));
}

/* The first numbers of the last buffer: what was copied, and 1 that the kernel added. */
static bool arrived(int slot)
{
	return all_are(device[slot], NUMBERS, problem.iterations) &&
	       all_are(results, NUMBERS, problem.iterations);
}

static void clean_up(void)
{
	int slot;

	CHECK(cuMemFree(results));
	for (slot = 0; slot < 2; slot++) {
		CHECK(cuEventDestroy(done[slot]));
		CHECK(cuMemFree(device[slot]));
		if (problem.mended)
			CHECK(cuMemFreeHost(host[slot]));
		else
			free(host[slot]);
	}
}

int main(int argc, char **argv)
{
	int i, k, slot = 0;
	double us;
	bool right;

	problem_options(argc, argv, "pageable_copies", 1000,
			"Copies 8 MiB from pageable memory in each iteration, and waits.",
			"pinned memory, asynchronous copies, a wait for the iteration before last");
	problem_open();
	set_up();
	problem_begin();
	for (i = 0; i < problem.iterations; i++) {
		slot = i % 2;
		if (problem.mended && i >= 2)
			CHECK(cuEventSynchronize(done[slot]));
		for (k = 0; k < NUMBERS; k++)
			host[slot][k] = i;
		CHECK(cuMemcpyHtoDAsync(device[slot], host[slot], BYTES, problem.stream));
		launch_work(device[slot], NUMBERS, 0);
		launch_work(results, NUMBERS, NS);
		if (problem.mended)
			CHECK(cuEventRecord(done[slot], problem.stream));
		else
			CHECK(cuStreamSynchronize(problem.stream));
	}
	us = problem_end();
	right = arrived(slot);
	clean_up();
	return problem_close(us, right);
}
