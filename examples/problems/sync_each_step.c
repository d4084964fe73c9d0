// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * sync_each_step.c - the program waits for the GPU after every launch.
 *
 * After each wait it does a little work of its own, 10 us, and launches again; so long the GPU has
 * nothing to do. Mended: one wait an iteration, for the end of the one before. The program works as
 * much as before, but while the GPU works too, for its launches queue up.
 */
#include "common.h"

enum { STEPS = 20, NUMBERS = 1024, NS = 60000, OWN_US = 10 };

int main(int argc, char **argv)
{
	CUdeviceptr numbers;
	double us;
	bool right;
	int i, step;

	problem_options(argc, argv, "sync_each_step", 1000,
			"Waits for the GPU after every launch of an iteration.",
			"wait once an iteration, for the end of the one before");
	problem_open();
	numbers = device_memory(NUMBERS * sizeof(uint32_t));
	problem_begin();
	for (i = 0; i < problem.iterations; i++) {
		for (step = 0; step < STEPS; step++) {
			launch_work(numbers, NUMBERS, NS);
			if (!problem.mended)
				CHECK(cuStreamSynchronize(problem.stream));
			host_work(OWN_US);
		}
		if (problem.mended)
			problem_wait_for_last(i);
	}
	us = problem_end();
	right = all_are(numbers, NUMBERS, STEPS * problem.iterations);
	CHECK(cuMemFree(numbers));
	return problem_close(us, right);
}
