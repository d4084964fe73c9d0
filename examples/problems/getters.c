// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * getters.c - the program asks the driver before each launch what it knows already.
 *
 * 200 questions a launch, as libraries in several layers do: which device, is its context
 * there, what is this pointer. Mended: it asks once, before the loop.
 */
#include "common.h"

enum {
	LAUNCHES = 5, QUESTIONS = 200, NUMBERS = 1024, NS = 5000,
	POINTER_MEMORY_TYPE = 2, MEMORY_TYPE_DEVICE = 2
};

static bool ask(int question, CUdeviceptr ptr)
{
	unsigned int flags, type = 0;
	CUdevice device = -1;
	int active = 0;

	switch (question % 3) {
	case 0:
		CHECK(cuCtxGetDevice(&device));
		return device == problem.device;
	case 1:
		CHECK(cuDevicePrimaryCtxGetState(problem.device, &flags, &active));
		return active;
	default:
		CHECK(cuPointerGetAttribute(&type, POINTER_MEMORY_TYPE, ptr));
		return type == MEMORY_TYPE_DEVICE;
	}
}

int main(int argc, char **argv)
{
	CUdeviceptr numbers;
	bool right = true;
	double us;
	int i, launch, q;

	problem_options(argc, argv, "getters", 400,
			"Asks the driver 200 times before each launch for what it knows.",
			"ask once, before the loop");
	problem_open();
	numbers = device_memory(NUMBERS * sizeof(uint32_t));
	for (q = 0; q < 3; q++)
		right = right && ask(q, numbers);
	problem_begin();
	for (i = 0; i < problem.iterations; i++) {
		for (launch = 0; launch < LAUNCHES; launch++) {
			for (q = 0; !problem.mended && q < QUESTIONS; q++)
				right = right && ask(q, numbers);
			launch_work(numbers, NUMBERS, NS);
		}
		problem_wait_for_last(i);
	}
	us = problem_end();
	right = right && all_are(numbers, NUMBERS, LAUNCHES * problem.iterations);
	CHECK(cuMemFree(numbers));
	return problem_close(us, right);
}
