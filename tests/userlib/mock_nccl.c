// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A libnccl for tests: it checks that what is passed on the stack and by value came through, and
 * calls libcuda inside.
 */
#define _GNU_SOURCE
#include "mock.h"

#include <dlfcn.h>
#include <string.h>

typedef struct { char bytes[128]; } unique_id;

static char comms[8][4096];
static int made;

int ncclGetUniqueId(unique_id *id)
{
	for (int i = 0; i < 128; i++)
		id->bytes[i] = (char)(i * 3);
	return 0;
}

int ncclCommInitRank(void **comm, int ranks, unique_id id, int rank)
{
	for (int i = 0; i < 128; i++)
		if (id.bytes[i] != (char)(i * 3))
			return 4;
	*comm = comms[made++];
	/* The second one goes on by itself. */
	return ranks == 8 && rank == 5 ? made == 2 ? 7 : 0 : 4;
}

int ncclCommSplit(void *comm, int color, int key, void **made_comm, void *config)
{
	if (comm != comms[0] || key != -7 || config != (void *)9)
		return 4;
	*made_comm = color < 0 ? NULL : comms[made++];
	return 0;
}

int ncclAllReduce(const void *send, void *receive, size_t count, int type, int op, void *comm, void *stream)
{
	int (*driver)(void **) = (int (*)(void **))dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuCtxGetCurrent");
	void *context;

	if (driver)
		driver(&context);
	return send != (void *)1 || receive != (void *)2 || op != 4 || !comm || stream != (void *)7 || type > 11 ?
	       4 : count == 3 ? 0 : 5;
}

int ncclReduce(const void *send, void *receive, size_t count, int type, int op, int root, void *comm, void *stream)
{
	return send != (void *)1 || receive != (void *)2 || count != 3 || type != 6 || op != 0 || root != 5 || !comm ||
	       stream != (void *)8 ? 4 : 0;
}

int ncclSend(const void *buffer, size_t count, int type, int peer, void *comm, void *stream)
{
	return buffer != (void *)1 || count != 2 || type != 9 || peer != 3 || !comm || stream != (void *)6 ? 4 : 0;
}

/* Newer than any table. */
int ncclFuture(long a, long b, long c, long d, long e, long f, long g, long h, double x)
{
	return a + b + c + d + e != 15 || f != 6 || g != 7 || h != 8 || x != 9.5 ? 4 : 0;
}

int ncclGroupStart(void) { return 0; }
int ncclGroupEnd(void) { return 0; }

/* The second one is ready when it was asked for the second time. */
int ncclCommGetAsyncError(void *comm, int *error)
{
	static int asked;

	*error = !comm ? 4 : comm == comms[1] && !asked++ ? 7 : 0;
	return !comm ? 4 : 0;
}

int ncclCommDestroy(void *comm) { return !comm; }
const char *ncclGetErrorString(int error) { return error ? "some error" : "no error"; }
