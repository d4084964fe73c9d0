// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A program on a shared libcudart (tests/userlib/mock_cudart.c) that runs while it is attached to: it asks for the
 * device, which is a getter of libcuda's, too, until SIGTERM, for 600 s at most.
 */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "../sim/cuda_sim.h"

int cudaGetDevice(int *device);

static volatile sig_atomic_t stop;

static void on_term(int signal)
{
	(void)signal;
	stop = 1;
}

int main(void)
{
	unsigned long wrong = 0;
	int device;

	signal(SIGTERM, on_term);
	signal(SIGALRM, on_term);
	alarm(600);
	if (cuInit(0))
		return 2;
	printf("ready %d\n", getpid());
	fflush(stdout);
	while (!stop) {
		wrong += cudaGetDevice(&device) != 0;
		usleep(500);
	}
	printf("wrong %lu\n", wrong);
	return wrong != 0;
}
