// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * ignored_errors.c - two calls fail in each iteration, and nobody looks at their results.
 *
 * An allocation that is larger than any GPU, and a free of what was never allocated. The result
 * of the program is right all the same. Mended: neither call is made.
 */
#include "common.h"

enum { STEPS = 10, NUMBERS = 1024, NS = 50000 };

#define FAR_TOO_MUCH (1ull << 50)
#define NOT_OURS 0x1000ull

int main(int argc, char **argv)
{
	CUdeviceptr numbers, more = 0;
	bool right = true;
	double us;
	int i, step;

	problem_options(argc, argv, "ignored_errors", 1500,
			"Makes two calls in each iteration that fail, and goes on.",
			"without these calls");
	problem_open();
	numbers = device_memory(NUMBERS * sizeof(uint32_t));
	problem_begin();
	for (i = 0; i < problem.iterations; i++) {
		if (!problem.mended) {
			/* If one succeeded, the program would not have its problem. */
			right = right && cuMemAlloc(&more, FAR_TOO_MUCH) != CUDA_SUCCESS;
			right = right && cuMemFree(NOT_OURS) != CUDA_SUCCESS;
		}
		for (step = 0; step < STEPS; step++)
			launch_work(numbers, NUMBERS, NS);
		CHECK(cuStreamSynchronize(problem.stream));
	}
	us = problem_end();
	right = right && all_are(numbers, NUMBERS, STEPS * problem.iterations);
	CHECK(cuMemFree(numbers));
	return problem_close(us, right);
}
