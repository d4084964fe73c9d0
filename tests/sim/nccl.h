/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nccl.h - what programs call of the stand-in for libnccl (nccl.c), and what its kernels are given.
 */
#ifndef CUDATRACE_SIM_NCCL_H
#define CUDATRACE_SIM_NCCL_H

#include <stddef.h>
#include <stdint.h>

#define SIM_NCCL_IN_PROGRESS	7	/* ncclInProgress */
#define SIM_NCCL_MEETS	16	/* operations of one kernel at most */

/*
 * A kernel of ranks that meet: it says that it is there, and waits until the others are. The
 * kernel frees this.
 */
struct sim_nccl_meet {
	unsigned int count;
	uint32_t *arrived[SIM_NCCL_MEETS];	/* in memory that the ranks share */
	uint32_t target[SIM_NCCL_MEETS];	/* it waits until *arrived is no less */
	uint64_t move_ns;			/* then it lasts so long */
};

typedef struct { char bytes[128]; } ncclUniqueId;
typedef struct ncclComm *ncclComm_t;

/* The begin of an ncclConfig_t; what follows is not looked at. */
struct sim_nccl_config {
	size_t size;
	unsigned int magic, version;
	int blocking;
};
typedef struct CUstream_st *ncclStream_t;

/* A variable with such a name is none of libnccl's functions. */
extern int ncclVersionOfSimulation;

int ncclGetVersion(int *version);
int ncclGetUniqueId(ncclUniqueId *id);
int ncclCommInitRank(ncclComm_t *comm, int ranks, ncclUniqueId id, int rank);
int ncclCommInitAll(ncclComm_t *comms, int ranks, const int *devices);
int ncclCommInitRankConfig(ncclComm_t *comm, int ranks, ncclUniqueId id, int rank, struct sim_nccl_config *config);
int ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t *made, void *config);
int ncclCommDestroy(ncclComm_t comm);
int ncclCommAbort(ncclComm_t comm);
int ncclCommCount(ncclComm_t comm, int *count);
int ncclCommUserRank(ncclComm_t comm, int *rank);
int ncclCommGetAsyncError(ncclComm_t comm, int *error);
const char *ncclGetErrorString(int error);
int ncclAllReduce(const void *send, void *receive, size_t count, int type, int reduction,
		  ncclComm_t comm, ncclStream_t stream);
int ncclBroadcast(const void *send, void *receive, size_t count, int type, int root,
		  ncclComm_t comm, ncclStream_t stream);
int ncclReduceScatter(const void *send, void *receive, size_t count, int type, int reduction,
		      ncclComm_t comm, ncclStream_t stream);
int ncclAllGather(const void *send, void *receive, size_t count, int type, ncclComm_t comm,
		  ncclStream_t stream);
int ncclSend(const void *buffer, size_t count, int type, int peer, ncclComm_t comm, ncclStream_t stream);
int ncclRecv(void *buffer, size_t count, int type, int peer, ncclComm_t comm, ncclStream_t stream);
int ncclGroupStart(void);
int ncclGroupEnd(void);

#endif
