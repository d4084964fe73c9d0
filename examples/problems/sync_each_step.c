// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * sync_each_step.c - the program waits for the GPU after every launch.
 *
 * So the GPU idles from the end of each kernel until the next launch has reached it. Mended:
 * one wait at the end of the iteration; the launches of an iteration queue up.
 */
#include "common.h"

enum { STEPS = 20, NUMBERS = 1024, NS = 10000 };

int main(int argc, char **argv)
{
	CUdeviceptr numbers;
	double us;
	bool right;
	int i, step;

	problem_options(argc, argv, "sync_each_step", 2000,
			"Waits for the GPU after every launch of an iteration.",
			"wait once, at the end of the iteration");
	problem_open();
	numbers = device_memory(NUMBERS * sizeof(uint32_t));
	problem_begin();
	for (i = 0; i < problem.iterations; i++)
		for (step = 0; step < STEPS; step++) {
			launch_work(numbers, NUMBERS, NS);
			if (!problem.mended || step == STEPS - 1)
				CHECK(cuStreamSynchronize(problem.stream));
		}
	us = problem_end();
	right = all_are(numbers, NUMBERS, STEPS * problem.iterations);
	CHECK(cuMemFree(numbers));
	return problem_close(us, right);
}
