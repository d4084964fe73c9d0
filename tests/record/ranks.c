// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A rank of a job over the simulated libcuda and the stand-in for libnccl: kernels, an all-reduce
 * and a synchronisation in each iteration.
 *
 *	ranks FILE ITERATIONS [OPTION...]	FILE: where rank 0 leaves the unique id
 *
 * RANK and WORLD_SIZE say who it is. Options, each as NAME=RANK:
 *
 *	late	sleeps for 40 ms in each iteration
 *	slow	its kernels take 20 ms longer each
 *	more	it launches ten kernels instead of two; all kernels take 5 ms then
 *	alloc	allocates and frees 20 times in each iteration, and an allocation takes 2 ms
 *	hang	does not call the all-reduce of the last iteration; the others wait for ever
 *	size	calls the last one with half the count
 *	other	calls a broadcast instead of the last one
 *	pairs=0	each rank sends to the next one and receives from the one before, in a group
 *	split=0	even and odd ranks have a communicator of their own, too
 *	lookup=0	functions are looked up by dlsym(), and not linked to
 *
 * Each problem takes 40 ms of an iteration: far more than what a rank loses on a busy machine while it waits for
 * a processor. None of them needs a processor meanwhile.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ranks_job.h"

static const char image[] =
	"cudatrace-sim-image 1\n"
	"kernel forward pii\n"
	"kernel work pii\n";

static int option(int argc, char **argv, const char *name)
{
	size_t n = strlen(name);

	for (int i = 3; i < argc; i++)
		if (!strncmp(argv[i], name, n) && argv[i][n] == '=')
			return atoi(argv[i] + n + 1);
	return -1;
}

int main(int argc, char **argv)
{
	int rank = number("RANK"), ranks = number("WORLD_SIZE"), iterations = argc > 2 ? atoi(argv[2]) : 0;
	bool late = option(argc, argv, "late") == rank, slow = option(argc, argv, "slow") == rank;
	bool more = option(argc, argv, "more") == rank, alloc = option(argc, argv, "alloc") == rank;
	bool hang = option(argc, argv, "hang") == rank, size = option(argc, argv, "size") == rank;
	bool other = option(argc, argv, "other") == rank, pairs = option(argc, argv, "pairs") >= 0;
	int (*reduce)(const void *, void *, size_t, int, int, ncclComm_t, ncclStream_t) = ncclAllReduce;
	ncclComm_t comm, half = NULL;
	CUdeviceptr memory, extra;
	CUcontext context;
	CUfunction work;
	CUmodule module;
	CUstream stream;

	if (iterations < 1 || ranks < 1)
		return 2;
	/* An allocation that takes long is one of the stand-in's faults. */
	if (alloc)
		setenv("CUDASIM_HANG", "cuMemAlloc:0:2", 1);
	OK(cuInit(0));
	OK(cuCtxCreate_v2(&context, 0, 0));
	OK(cuModuleLoadData(&module, image));
	OK(cuModuleGetFunction(&work, module, "work"));
	OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	OK(cuMemAlloc_v2(&memory, 1 << 20));
	if (option(argc, argv, "lookup") >= 0)
		reduce = (__typeof__(reduce))dlsym(RTLD_DEFAULT, "ncclAllReduce");
	OK(ncclCommInitRank(&comm, ranks, unique_id(argv[1], !rank), rank));
	if (option(argc, argv, "split") >= 0)
		OK(ncclCommSplit(comm, rank % 2, -rank, &half, NULL));
	for (int i = 0; i < iterations; i++) {
		bool last = i == iterations - 1;
		int n = 16, ns = slow ? 20500000 : option(argc, argv, "more") >= 0 ? 5000000 : 500000;
		void *params[] = { &memory, &n, &ns };

		if (late)
			usleep(40000);
		for (int j = 0; alloc && j < 20; j++) {
			OK(cuMemAlloc_v2(&extra, 8 << 20));
			OK(cuMemFree_v2(extra));
		}
		for (int j = 0; j < (more ? 10 : 2); j++)
			OK(cuLaunchKernel(work, 1, 1, 1, 32, 1, 1, 0, stream, params, NULL));
		if (last && option(argc, argv, "hang") >= 0)
			tell(argv[1], rank);
		if (hang && last)
			pause();
		if (other && last)
			OK(ncclBroadcast((void *)memory, (void *)memory, 1 << 18, 7, 0, comm, stream));
		else
			OK(reduce((void *)memory, (void *)memory, size && last ? 1 << 17 : 1 << 18, 7, 0, comm, stream));
		if (half)
			OK(ncclAllGather((void *)memory, (void *)memory, 1024, 9, half, stream));
		if (pairs) {
			OK(ncclGroupStart());
			OK(ncclSend((void *)memory, 4096, 7, (rank + 1) % ranks, comm, stream));
			OK(ncclRecv((void *)memory, 4096, 7, (rank + ranks - 1) % ranks, comm, stream));
			OK(ncclGroupEnd());
		}
		OK(cuStreamSynchronize(stream));
	}
	/* An error is no number of its own. */
	if (ncclAllReduce(NULL, NULL, 1, 99, 0, comm, stream) != 4)
		return 3;
	if (ncclVersionOfSimulation != 22700)
		return 4;
	OK(ncclCommDestroy(comm));
	OK(cuCtxDestroy_v2(context));
	printf("rank %d of %d: right\n", rank, ranks);
	return 0;
}
