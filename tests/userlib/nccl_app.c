// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A program on libnccl: linked to it, and by dlsym.  Its last argument, if there is one, says how
 * many calls of ncclAllReduce it makes more.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct { char bytes[128]; } unique_id;

int ncclGetUniqueId(unique_id *id);
int ncclCommInitRank(void **comm, int ranks, unique_id id, int rank);
int ncclCommSplit(void *comm, int color, int key, void **made, void *config);
int ncclAllReduce(const void *send, void *receive, size_t count, int type, int op, void *comm, void *stream);
int ncclReduce(const void *send, void *receive, size_t count, int type, int op, int root, void *comm, void *stream);
int ncclSend(const void *buffer, size_t count, int type, int peer, void *comm, void *stream);
int ncclFuture(long a, long b, long c, long d, long e, long f, long g, long h, double x);
int ncclGroupStart(void);
int ncclGroupEnd(void);
int ncclCommGetAsyncError(void *comm, int *error);
int ncclCommDestroy(void *comm);
const char *ncclGetErrorString(int error);

#define OK(call)	do { if (call) { fprintf(stderr, "nccl_app: %s\n", #call); return 1; } } while (0)

int main(int argc, char **argv)
{
	int (*reduce)(const void *, void *, size_t, int, int, void *, void *);
	int (*init)(unsigned) = (int (*)(unsigned))dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuInit");
	void *comm, *other, *part, *none;
	unique_id id;
	int error;

	OK(!init || init(0));
	OK(ncclGetUniqueId(&id));
	OK(ncclCommInitRank(&comm, 8, id, 5));
	OK(ncclCommInitRank(&other, 8, id, 5) != 7);
	OK(ncclCommSplit(comm, 3, -7, &part, (void *)9));
	OK(ncclCommSplit(comm, -1, -7, &none, (void *)9));
	reduce = (__typeof__(reduce))dlsym(RTLD_DEFAULT, "ncclAllReduce");
	OK(ncclAllReduce((void *)1, (void *)2, 3, 7, 4, comm, (void *)7));
	OK(reduce((void *)1, (void *)2, 3, 7, 4, comm, (void *)7));
	OK(ncclAllReduce((void *)1, (void *)2, 3, 99, 4, comm, (void *)7) != 4);
	OK(ncclReduce((void *)1, (void *)2, 3, 6, 0, 5, comm, (void *)8));
	OK(ncclAllReduce((void *)1, (void *)2, 3, 9, 4, other, (void *)7));
	OK(ncclAllReduce((void *)1, (void *)2, 3, 8, 4, part, (void *)7));
	OK(ncclAllReduce((void *)1, (void *)2, 3, 8, 4, &id, (void *)7));
	OK(ncclGroupStart());
	OK(ncclSend((void *)1, 2, 9, 3, comm, (void *)6));
	OK(ncclGroupEnd());
	OK(ncclFuture(1, 2, 3, 4, 5, 6, 7, 8, 9.5));
	OK(ncclCommGetAsyncError(comm, &error) || error);
	OK(ncclCommGetAsyncError(other, &error) || error != 7);
	OK(ncclCommGetAsyncError(other, &error) || error);
	OK(ncclCommGetAsyncError(NULL, &error) != 4);
	OK(strcmp(ncclGetErrorString(1), "some error"));
	for (int i = argc > 1 ? atoi(argv[1]) : 0; i > 0; i--)
		OK(ncclAllReduce((void *)1, (void *)2, 3, 7, 4, comm, (void *)7));
	OK(ncclCommDestroy(comm));
	return 0;
}
