// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * leak.c - every iteration allocates memory that nobody frees.
 *
 * Mended: the buffer of the first iteration is used again by the others, and freed at the end.
 * Neither frees in the loop, which would be another problem.
 */
#include "common.h"

enum { BYTES = 1 << 20, STEPS = 10, NUMBERS = 1024, NS = 50000 };

int main(int argc, char **argv)
{
	CUdeviceptr sum, scratch = 0;
	double us;
	bool right;
	int i, step;

	problem_options(argc, argv, "leak", 1000,
			"Allocates 1 MiB in each iteration and never frees it.",
			"allocate it once, and free it at the end");
	problem_open();
	sum = device_memory(NUMBERS * sizeof(uint32_t));
	if (problem.mended)
		scratch = device_memory(BYTES);
	problem_begin();
	for (i = 0; i < problem.iterations; i++) {
		if (!problem.mended)
			CHECK(cuMemAlloc(&scratch, BYTES));
		CHECK(cuMemsetD8Async(scratch, 0, NUMBERS * sizeof(uint32_t), problem.stream));
		for (step = 0; step < STEPS; step++)
			launch_work(step % 2 ? scratch : sum, NUMBERS, NS);
		CHECK(cuStreamSynchronize(problem.stream));
	}
	us = problem_end();
	right = all_are(sum, NUMBERS, STEPS / 2 * problem.iterations) &&
		all_are(scratch, NUMBERS, STEPS / 2);
	if (problem.mended)
		CHECK(cuMemFree(scratch));
	CHECK(cuMemFree(sum));
	return problem_close(us, right);
}
