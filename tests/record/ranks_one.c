// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A job whose ranks are one process, over the simulated libcuda and the stand-in for libnccl.
 *
 *	ranks_one threads|group RANKS ITERATIONS [late=RANK | hang=RANK | unused=0]
 *
 * threads: a thread for each rank, as JAX has them; late: it sleeps for 10 ms in each iteration; hang: it does not call the
 * last all-reduce, and "hangs PID" is printed; unused: no rank calls any.  Halves have a communicator of their own.
 * group: one thread, ncclCommInitAll(), and a group for all ranks, in the default stream of each.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ranks_job.h"

#define MOST	16

static const char image[] =
	"cudatrace-sim-image 1\n"
	"kernel work pii\n";

static int ranks, iterations, late = -1, hang = -1, unused = -1;
static CUcontext context;
static CUfunction work;
static ncclUniqueId id;

static void launch(CUstream stream, CUdeviceptr memory)
{
	int n = 16, ns = 300000;
	void *params[] = { &memory, &n, &ns };

	OK(cuLaunchKernel(work, 1, 1, 1, 32, 1, 1, 0, stream, params, NULL));
}

static void *rank_run(void *arg)
{
	int rank = (int)(intptr_t)arg;
	ncclComm_t comm, half;
	CUdeviceptr memory;
	CUstream stream;

	OK(cuCtxSetCurrent(context));
	OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	OK(cuMemAlloc_v2(&memory, 1 << 20));
	OK(ncclCommInitRank(&comm, ranks, id, rank));
	OK(ncclCommSplit(comm, rank % 2, rank, &half, NULL));
	for (int i = 0; i < iterations; i++) {
		if (rank == late)
			usleep(10000);
		launch(stream, memory);
		if (!unused)
			continue;
		OK(ncclAllGather((void *)memory, (void *)memory, 1024, 9, half, stream));
		if (rank == hang && i == iterations - 1) {
			printf("hangs %d\n", (int)getpid());
			fflush(stdout);
			pause();
		}
		OK(ncclAllReduce((void *)memory, (void *)memory, 1 << 18, 7, 0, comm, stream));
		OK(cuStreamSynchronize(stream));
	}
	OK(ncclCommDestroy(half));
	OK(ncclCommDestroy(comm));
	return NULL;
}

static void all_in_one(void)
{
	ncclComm_t comm[MOST];
	CUdeviceptr memory;
	CUstream stream;

	OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	OK(cuMemAlloc_v2(&memory, 1 << 20));
	OK(ncclCommInitAll(comm, ranks, NULL));
	for (int i = 0; i < iterations; i++) {
		launch(stream, memory);
		OK(ncclGroupStart());
		for (int rank = 0; rank < ranks; rank++)
			OK(ncclAllReduce((void *)memory, (void *)memory, 1 << 18, 7, 0, comm[rank], NULL));
		OK(ncclGroupEnd());
		OK(cuStreamSynchronize(stream));
	}
	for (int rank = 0; rank < ranks; rank++)
		OK(ncclCommDestroy(comm[rank]));
}

int main(int argc, char **argv)
{
	pthread_t thread[MOST];
	CUmodule module;

	ranks = argc > 3 ? atoi(argv[2]) : 0;
	iterations = argc > 3 ? atoi(argv[3]) : 0;
	if (ranks < 1 || ranks > MOST || iterations < 1)
		return 2;
	if (argc > 4)
		*(argv[4][0] == 'l' ? &late : argv[4][0] == 'h' ? &hang : &unused) = atoi(strchr(argv[4], '=') + 1);
	OK(cuInit(0));
	OK(cuCtxCreate_v2(&context, 0, 0));
	OK(cuModuleLoadData(&module, image));
	OK(cuModuleGetFunction(&work, module, "work"));
	OK(ncclGetUniqueId(&id));
	if (!strcmp(argv[1], "group"))
		all_in_one();
	for (int rank = 0; rank < ranks && strcmp(argv[1], "group"); rank++)
		OK(pthread_create(&thread[rank], NULL, rank_run, (void *)(intptr_t)rank));
	for (int rank = 0; rank < ranks && strcmp(argv[1], "group"); rank++)
		OK(pthread_join(thread[rank], NULL));
	OK(cuCtxDestroy_v2(context));
	puts("right");
	return 0;
}
