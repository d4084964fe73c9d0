// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * small_copies.c - every iteration copies 64,000 bytes in 1,000 pieces.
 *
 * Each call costs the same whatever its size. Mended: one copy of all, for the pieces lie
 * beside each other.
 */
#include "common.h"

enum { PIECES = 1000, PIECE = 64, NUMBERS = PIECES * PIECE / 4, NS = 100000 };

int main(int argc, char **argv)
{
	CUdeviceptr device;
	uint32_t *host;			/* pinned */
	double us;
	bool right;
	int i, k;

	problem_options(argc, argv, "small_copies", 300,
			"Copies 1,000 pieces of 64 bytes in each iteration.",
			"copy them all by one call");
	problem_open();
	CHECK(cuMemHostAlloc((void **)&host, PIECES * PIECE, 0));
	device = device_memory(PIECES * PIECE);
	problem_begin();
	for (i = 0; i < problem.iterations; i++) {
		for (k = 0; k < NUMBERS; k++)
			host[k] = i;
		for (k = 0; !problem.mended && k < PIECES; k++)
			CHECK(cuMemcpyHtoDAsync(device + k * PIECE, (char *)host + k * PIECE,
						PIECE, problem.stream));
		if (problem.mended)
			CHECK(cuMemcpyHtoDAsync(device, host, PIECES * PIECE, problem.stream));
		launch_work(device, NUMBERS, NS);
		CHECK(cuStreamSynchronize(problem.stream));
	}
	us = problem_end();
	right = all_are(device, NUMBERS, problem.iterations);
	CHECK(cuMemFree(device));
	CHECK(cuMemFreeHost(host));
	return problem_close(us, right);
}
