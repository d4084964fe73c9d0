// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * host_bound.c - the GPU waits for the host.
 *
 * Before each of many tiny launches the program computes the same settings anew, 10 us on the
 * CPU for 3 us of GPU. Mended: it computes them once, and one graph launches everything; the
 * host is then always one iteration ahead.
 */
#include "common.h"

enum { LAUNCHES = 40, NUMBERS = 1024, NS = 3000, SETTINGS_US = 10 };

static CUdeviceptr numbers;

static void queue(void)
{
	int i;

	for (i = 0; i < LAUNCHES; i++) {
		if (!problem.mended)
			host_work(SETTINGS_US);
		launch_work(numbers, NUMBERS, NS);
	}
}

int main(int argc, char **argv)
{
	CUgraphExec exec = NULL;
	double us;
	bool right;
	int i;

	problem_options(argc, argv, "host_bound", 1500,
			"Launches tiny kernels and computes between the launches.",
			"compute once, and replay a graph");
	problem_open();
	numbers = device_memory(NUMBERS * sizeof(uint32_t));
	if (problem.mended) {
		host_work(SETTINGS_US);
		exec = capture(queue);
	}
	problem_begin();
	for (i = 0; i < problem.iterations; i++) {
		if (exec)
			CHECK(cuGraphLaunch(exec, problem.stream));
		else
			queue();
		problem_wait_for_last(i);
	}
	us = problem_end();
	right = all_are(numbers, NUMBERS, LAUNCHES * problem.iterations);
	if (exec)
		CHECK(cuGraphExecDestroy(exec));
	CHECK(cuMemFree(numbers));
	return problem_close(us, right);
}
