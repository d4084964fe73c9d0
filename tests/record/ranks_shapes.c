// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Jobs of several ranks as people have them, over the simulated libcuda and the stand-in for libnccl.
 *
 *	ranks_shapes FILE ITERATIONS SHAPE	FILE: where rank 0 leaves the unique id
 *
 * RANK and WORLD_SIZE say who it is.  FILE.begun.RANK says that it iterates.  An iteration launches kernels, calls collectives and synchronises.  Shapes:
 *
 *	accumulate	four times forward and backward, then one all-reduce; rank 1 sleeps in each
 *	checkpoint	rank 0 copies and sleeps in every 20th iteration
 *	first		rank 1 sleeps for long in the first iteration alone
 *	grid		communicators of rows and of columns of two, in which ranks have other numbers; rank 3 sleeps
 *	columns		the same, and those of the second column compute before they meet, so that others meet at other times
 *	leaves		as grid, and rank 3 is not there any more in the last iteration
 *	stays		the last rank does not call the last all-reduce
 *	pipeline	a stage each: receives, computes, sends; then the other way round.  Rank 2 has longer kernels
 *	turns		each rank sleeps in every WORLD_SIZEth iteration
 *	tenth		rank 2 sleeps in every 10th iteration
 *	alike		all ranks sleep in each iteration
 *	together	communicators are made in a group; the last rank comes to it late
 *	meanwhile	a communicator that does not block; the last rank comes late
 *	uneven		rank 2 has fewer iterations and ends; the others wait for ever
 *	size		the last rank calls the last all-reduce with half the count; datatype: of another type
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ranks_job.h"

#define SLEEP_US	40000
#define FLOAT		7

static const char image[] =
	"cudatrace-sim-image 1\n"
	"kernel work pii\n";

static CUdeviceptr memory;
static CUfunction work;
static CUstream stream;
static int rank, ranks;

static void compute(int times, int us)
{
	int n = 16, ns = us * 1000;
	void *params[] = { &memory, &n, &ns };

	for (int i = 0; i < times; i++)
		OK(cuLaunchKernel(work, 1, 1, 1, 32, 1, 1, 0, stream, params, NULL));
}

static void reduce(ncclComm_t comm, size_t count, int type)
{
	OK(ncclAllReduce((void *)memory, (void *)memory, count, type, 0, comm, stream));
}

/* Forward from the first stage to the last, backward the other way. */
static void pipeline(ncclComm_t comm)
{
	int us = rank == 2 ? 20000 : 2000;

	for (int i = 0; i < 4; i++) {
		if (rank)
			OK(ncclRecv((void *)memory, 4096, FLOAT, rank - 1, comm, stream));
		compute(1, us);
		if (rank + 1 < ranks)
			OK(ncclSend((void *)memory, 4096, FLOAT, rank + 1, comm, stream));
	}
	for (int i = 0; i < 4; i++) {
		if (rank + 1 < ranks)
			OK(ncclRecv((void *)memory, 4096, FLOAT, rank + 1, comm, stream));
		compute(1, us);
		if (rank)
			OK(ncclSend((void *)memory, 4096, FLOAT, rank - 1, comm, stream));
	}
}

/* The communicator of all ranks.  A rank that comes late waits until the first one is there, and for long. */
static void join_all(const char *path, const char *shape, ncclComm_t *comm)
{
	struct sim_nccl_config config = { .size = sizeof(config), .blocking = 0 };
	ncclUniqueId id = unique_id(path, !rank);
	bool together = !strcmp(shape, "together"), meanwhile = !strcmp(shape, "meanwhile");
	char there[4200];
	int state = 0;

	snprintf(there, sizeof(there), "%s.first", path);
	if (together || meanwhile) {
		unique_id(there, !rank);	/* rank 0 is there */
		usleep(rank == ranks - 1 ? 15 * SLEEP_US : 0);
	}
	if (meanwhile) {
		if (ncclCommInitRankConfig(comm, ranks, id, rank, &config) != SIM_NCCL_IN_PROGRESS)
			exit(1);
		do {
			usleep(200);
			OK(ncclCommGetAsyncError(*comm, &state));
		} while (state == SIM_NCCL_IN_PROGRESS);
		OK(state);
		return;
	}
	if (together)
		OK(ncclGroupStart());
	OK(ncclCommInitRank(comm, ranks, id, rank));
	if (together)
		OK(ncclGroupEnd());
}

int main(int argc, char **argv)
{
	const char *shape = argc > 3 ? argv[3] : "";
	int iterations = argc > 3 ? atoi(argv[2]) : 0;
	ncclComm_t comm, row = NULL, column = NULL;
	static char saved[1 << 20], row_path[4096], begun[4096];
	bool grid;
	CUcontext context;
	CUmodule module;

#define IS(word)	(!strcmp(shape, word))
	grid = IS("grid") || IS("leaves") || IS("columns");
	snprintf(begun, sizeof(begun), "%.4000s.begun", argv[1]);
	rank = number("RANK");
	ranks = number("WORLD_SIZE");
	if (iterations < 1 || ranks < 1)
		return 2;
	OK(cuInit(0));
	OK(cuCtxCreate_v2(&context, 0, 0));
	OK(cuModuleLoadData(&module, image));
	OK(cuModuleGetFunction(&work, module, "work"));
	OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	OK(cuMemAlloc_v2(&memory, 1 << 20));
	join_all(argv[1], shape, &comm);
	if (grid) {
		snprintf(row_path, sizeof(row_path), "%s.row%d", argv[1], rank / 2);
		OK(ncclCommInitRank(&row, 2, unique_id(row_path, rank % 2 == 0), rank % 2));
		/* The later rank of the job is the first in it. */
		OK(ncclCommSplit(comm, rank % 2, -rank, &column, NULL));
	}
	for (int i = 0; i < iterations; i++) {
		bool last = i == iterations - 1, odd = last && rank == ranks - 1;

		if (i == 3)
			tell(begun, rank);
		if (IS("uneven") && rank == 2 && i == iterations - 3)
			break;
		if ((IS("leaves") || IS("stays")) && last) {
			tell(argv[1], rank);
			if (rank == ranks - 1)
				pause();
		}
		if (((IS("grid") || IS("columns")) && rank == 3) || (IS("first") && rank == 1 && !i) || (IS("turns") && i % ranks == rank) ||
		    (IS("tenth") && rank == 2 && i % 10 == 9) || IS("alike"))
			usleep(IS("first") ? 20 * SLEEP_US : IS("tenth") ? 2 * SLEEP_US : SLEEP_US);
		if (IS("pipeline")) {
			pipeline(comm);
		} else if (grid) {
			for (int k = 0; k < 4; k++) {
				compute(1, 1000);
				reduce(row, 1 << 16, FLOAT);
			}
			if (IS("columns") && rank % 2)
				compute(1, SLEEP_US / 2);
			reduce(column, 1 << 18, FLOAT);
			OK(ncclGroupStart());
			OK(ncclSend((void *)memory, 4096, FLOAT, rank / 2, column, stream));
			OK(ncclRecv((void *)memory, 4096, FLOAT, rank / 2, column, stream));
			OK(ncclGroupEnd());
		} else {
			for (int k = 0; k < (IS("accumulate") ? 4 : 1); k++) {
				if (IS("accumulate") && rank == 1)
					usleep(SLEEP_US / 4);
				compute(2, 1000);
			}
			reduce(comm, IS("size") && odd ? 1 << 17 : 1 << 18, IS("datatype") && odd ? 6 : FLOAT);
		}
		if (IS("uneven") && i >= iterations - 3)
			tell(argv[1], rank);
		OK(cuStreamSynchronize(stream));
		if (IS("checkpoint") && !rank && i % 20 == 19) {
			OK(cuMemcpyDtoH_v2(saved, memory, sizeof(saved)));
			usleep(5 * SLEEP_US);
		}
	}
	tell(argv[1], rank);
	if (IS("uneven"))
		_exit(0);
	OK(ncclCommDestroy(comm));
	OK(cuCtxDestroy_v2(context));
	printf("rank %d of %d: right\n", rank, ranks);
	return 0;
}
