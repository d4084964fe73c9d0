// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * exact_repeats.c - the same 30 launches in each iteration, one by one.
 *
 * Kernels, sizes and parameters never change, and the kernels are shorter than a launch takes.
 * Mended: the 30 launches are captured once, and each iteration launches the graph.
 */
#include "common.h"

enum { LAUNCHES = 30, BUFFERS = 3, NUMBERS = 1024 };

static CUdeviceptr numbers[BUFFERS];

static void queue(void)
{
	int i;

	for (i = 0; i < LAUNCHES; i++)
		launch_work(numbers[i % BUFFERS], NUMBERS >> i % BUFFERS, 0);
}

int main(int argc, char **argv)
{
	CUgraphExec exec = NULL;
	bool right = true;
	double us;
	int i, b;

	problem_options(argc, argv, "exact_repeats", 5000,
			"Launches the same 30 kernels one by one in each iteration.",
			"capture them once, and replay the graph");
	problem_open();
	for (b = 0; b < BUFFERS; b++)
		numbers[b] = device_memory(NUMBERS * sizeof(uint32_t));
	if (problem.mended)
		exec = capture(queue);
	problem_begin();
	for (i = 0; i < problem.iterations; i++) {
		if (exec)
			CHECK(cuGraphLaunch(exec, problem.stream));
		else
			queue();
		problem_wait_for_last(i);
	}
	us = problem_end();
	for (b = 0; b < BUFFERS; b++)
		right = right && all_are(numbers[b], NUMBERS >> b,
					 LAUNCHES / BUFFERS * problem.iterations);
	if (exec)
		CHECK(cuGraphExecDestroy(exec));
	for (b = 0; b < BUFFERS; b++)
		CHECK(cuMemFree(numbers[b]));
	return problem_close(us, right);
}
