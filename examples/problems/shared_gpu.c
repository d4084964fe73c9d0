// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * shared_gpu.c - two processes use one GPU at once.
 *
 * The GPU gives its time to them in turn, so a kernel of one waits for those of the other.
 * Mended: one process does the work of both, one after the other.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "common.h"

enum { STEPS = 10, NUMBERS = 1024, NS = 100000 };

/* All that one process does with the GPU; its exit status. */
static int serve(int shares)
{
	CUdeviceptr numbers;
	double us;
	bool right;
	int i, step;

	problem_open();
	numbers = device_memory(NUMBERS * sizeof(uint32_t));
	problem_begin();
	for (i = 0; i < shares * problem.iterations; i++) {
		for (step = 0; step < STEPS; step++)
			launch_work(numbers, NUMBERS, NS);
		CHECK(cuStreamSynchronize(problem.stream));
	}
	us = problem_end();
	right = all_are(numbers, NUMBERS, shares * STEPS * problem.iterations);
	CHECK(cuMemFree(numbers));
	return problem_close(us, right);
}

int main(int argc, char **argv)
{
	int status, own;
	pid_t child;

	problem_options(argc, argv, "shared_gpu", 700,
			"Two processes launch kernels at the same time.",
			"one process does the work of both");
	if (problem.mended)
		return serve(2);
	/* Before any call of CUDA, which does not survive a fork. */
	child = fork();
	if (child < 0) {
		perror("shared_gpu: fork");
		return 1;
	}
	if (!child) {
		/* One line of result and one of what is missing: the parent's. */
		if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
			return 1;
		return serve(1);
	}
	own = serve(1);
	if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status)) {
		fprintf(stderr, "shared_gpu: the other process failed\n");
		return 1;
	}
	return own;
}
