// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * nccl.c - a stand-in for libnccl: ranks are processes of one machine and meet in shared memory.
 *
 * What is real: who waits for whom. A collective is a kernel of the simulated libcuda that ends when
 * that of each rank has begun, and a group is one kernel. A communicator is made when all its ranks have come: inside
 * the call, at the end of its group, or, if it does not block, by a thread. Nothing is moved or added up; how long
 * moving takes is a model (10 us, and 50 bytes a ns). It says that it is simulated:
 * cudatrace_simulated_nccl. No figure that comes from here may enter a comparison.
 */
#include "nccl.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "cuda_sim.h"

#define EXPORT	__attribute__((visibility("default")))

EXPORT extern const char cudatrace_simulated_nccl[];
const char cudatrace_simulated_nccl[] = "simulated NCCL";

#define RANKS		64
#define OPERATIONS	1024	/* a counter is used again after so many */
#define PAIRS		16
#define START_NS	10000
#define BYTES_PER_NS	50

enum { SUCCESS, UNHANDLED_CUDA = 1, SYSTEM = 2, INVALID_ARGUMENT = 4, INVALID_USAGE = 5, IN_PROGRESS = SIM_NCCL_IN_PROGRESS };

struct shared {
	uint32_t joined, left;
	uint32_t collective[OPERATIONS];
	uint32_t pair[RANKS][RANKS][PAIRS];
	uint32_t colors[RANKS][2];	/* of a split: color, key */
	uint32_t splitting;
};

struct ncclComm {
	struct shared *shared;
	char name[64];
	int ranks, rank;
	uint64_t number, splits;
	uint64_t sent[RANKS], received[RANKS];
	CUfunction kernel[3];
	CUcontext context;	/* in which its kernels run */
	int own_context;	/* which was made for it */
	int blocking;
	int state;		/* SUCCESS: it is made */
	struct ncclComm *next;	/* in the list of those that are made together */
};

enum { KERNEL_REDUCE, KERNEL_OTHER, KERNEL_PAIRS };

static const char image[] =
	"cudatrace-sim-image 1\n"
	"kernel ncclDevKernel_AllReduce_Sum_f32_RING_LL l\n"
	"kernel ncclDevKernel_Generic l\n"
	"kernel ncclDevKernel_SendRecv l\n";

/* What the thread's group has until now. */
static __thread struct {
	int depth;
	struct ncclComm *comm;
	CUstream stream;
	int kind;
	struct sim_nccl_meet *meet;
	struct ncclComm *made;	/* communicators that its end makes */
} group;

static void nap(void)
{
	nanosleep(&(struct timespec){ 0, 20000 }, NULL);
}

static void *driver(const char *name)
{
	void *lib = dlopen("libcuda.so.1", RTLD_NOW);

	return lib ? dlsym(lib, name) : NULL;
}

static void wait_for(uint32_t *counter, uint32_t target)
{
	while ((int32_t)(__atomic_load_n(counter, __ATOMIC_ACQUIRE) - target) < 0)
		nap();
}

static int load_kernels(struct ncclComm *c)
{
	static const char *const names[] = {
		"ncclDevKernel_AllReduce_Sum_f32_RING_LL", "ncclDevKernel_Generic", "ncclDevKernel_SendRecv",
	};
	CUresult (*load)(CUmodule *, const void *) = (__typeof__(load))driver("cuModuleLoadData");
	CUresult (*get)(CUfunction *, CUmodule, const char *) = (__typeof__(get))driver("cuModuleGetFunction");
	CUmodule module;

	if (!load || !get || load(&module, image))
		return UNHANDLED_CUDA;
	for (int i = 0; i < 3; i++)
		if (get(&c->kernel[i], module, names[i]))
			return UNHANDLED_CUDA;
	return SUCCESS;
}

/* What is known of a communicator before the other ranks have come: what the program is given at once. */
static int begin(ncclComm_t *comm, const char *name, int ranks, int rank)
{
	CUresult (*current)(CUcontext *) = (__typeof__(current))driver("cuCtxGetCurrent");
	struct ncclComm *c = calloc(1, sizeof(*c));
	int fd;

	if (!c || ranks < 1 || ranks > RANKS || rank < 0 || rank >= ranks)
		return INVALID_ARGUMENT;
	c->ranks = ranks;
	c->rank = rank;
	c->blocking = 1;
	c->state = IN_PROGRESS;
	snprintf(c->name, sizeof(c->name), "%s", name);
	fd = open(c->name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, sizeof(struct shared)))
		return SYSTEM;
	c->shared = mmap(NULL, sizeof(struct shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (c->shared == MAP_FAILED)
		return SYSTEM;
	if (!current || current(&c->context))
		return UNHANDLED_CUDA;
	*comm = c;
	return SUCCESS;
}

static void join(struct ncclComm *c)
{
	__atomic_add_fetch(&c->shared->joined, 1, __ATOMIC_ACQ_REL);
}

/* @wait: for those of other threads and processes. */
static int finish(struct ncclComm *c, bool wait)
{
	int result;

	if (wait) {
		wait_for(&c->shared->joined, (uint32_t)c->ranks);
		unlink(c->name);
	}
	result = load_kernels(c);
	__atomic_store_n(&c->state, result, __ATOMIC_RELEASE);
	return result;
}

/* Makes those of a list together: each rank has come before one is waited for, as it may be the same thread's. */
static int finish_all(struct ncclComm *list)
{
	CUresult (*push)(CUcontext) = (__typeof__(push))driver("cuCtxPushCurrent_v2");
	CUresult (*pop)(CUcontext *) = (__typeof__(pop))driver("cuCtxPopCurrent_v2");
	CUcontext before;
	int result = SUCCESS;

	for (struct ncclComm *c = list; c; c = c->next)
		join(c);
	while (list) {
		struct ncclComm *next = list->next;	/* it may be destroyed as soon as it is made */
		int one = UNHANDLED_CUDA;

		if (push && pop && !push(list->context)) {
			one = finish(list, true);
			pop(&before);
		}
		result = result ? result : one;
		list = next;
	}
	return result;
}

static void *finish_thread(void *list)
{
	finish_all(list);
	return NULL;
}

/* Those that the thread's group has. */
static int make_group(void)
{
	struct ncclComm *list = group.made;
	bool blocking = true;
	pthread_t thread;

	group.made = NULL;
	for (struct ncclComm *c = list; c; c = c->next)
		blocking &= c->blocking;
	if (!list || blocking)
		return finish_all(list);
	if (pthread_create(&thread, NULL, finish_thread, list))
		return SYSTEM;
	pthread_detach(thread);
	return IN_PROGRESS;
}

/* All ranks of this name meet: at the end of the group, if the thread has one. */
static int make(ncclComm_t *comm, const char *name, int ranks, int rank, int blocking)
{
	struct ncclComm *c;
	int result = begin(comm, name, ranks, rank);

	if (result)
		return result;
	c = *comm;
	c->blocking = blocking;
	c->next = group.made;
	group.made = c;
	return group.depth ? SUCCESS : make_group();
}

EXPORT int ncclVersionOfSimulation = 22700;

EXPORT int ncclGetVersion(int *version)
{
	*version = ncclVersionOfSimulation;
	return SUCCESS;
}

EXPORT int ncclGetUniqueId(ncclUniqueId *id)
{
	memset(id, 0, sizeof(*id));
	return getrandom(id->bytes, 16, 0) == 16 ? SUCCESS : SYSTEM;
}

static int init_rank(ncclComm_t *comm, int ranks, ncclUniqueId id, int rank, int blocking)
{
	uint64_t words[2];
	char name[64];

	memcpy(words, id.bytes, sizeof(words));
	snprintf(name, sizeof(name), "/dev/shm/cudatrace-nccl-%016llx%016llx", (unsigned long long)words[0],
		 (unsigned long long)words[1]);
	return make(comm, name, ranks, rank, blocking);
}

EXPORT int ncclCommInitRank(ncclComm_t *comm, int ranks, ncclUniqueId id, int rank)
{
	return init_rank(comm, ranks, id, rank, 1);
}

EXPORT int ncclCommInitRankConfig(ncclComm_t *comm, int ranks, ncclUniqueId id, int rank, struct sim_nccl_config *config)
{
	return init_rank(comm, ranks, id, rank, !config || config->blocking);
}

/* All ranks are of this process.  Each has a context of its own, since there is one device. */
EXPORT int ncclCommInitAll(ncclComm_t *comms, int ranks, const int *devices)
{
	CUresult (*create)(CUcontext *, unsigned int, CUdevice) = (__typeof__(create))driver("cuCtxCreate_v2");
	CUresult (*pop)(CUcontext *) = (__typeof__(pop))driver("cuCtxPopCurrent_v2");
	CUcontext context;
	char name[64];
	int result = SUCCESS;

	(void)devices;
	snprintf(name, sizeof(name), "/dev/shm/cudatrace-nccl-all-%d-%p", (int)getpid(), (void *)comms);
	for (int i = 0; i < ranks && !result; i++) {
		if (!create || !pop || create(&context, 0, 0))
			return UNHANDLED_CUDA;
		result = begin(&comms[i], name, ranks, i);
		if (!result) {
			comms[i]->own_context = 1;
			join(comms[i]);
			result = finish(comms[i], i == ranks - 1);
		}
		pop(&context);
	}
	return result;
}

EXPORT int ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t *made, void *config)
{
	struct shared *s = comm->shared;
	uint64_t split = ++comm->splits;
	int ranks = 0, rank = 0;
	char name[96];

	(void)config;
	s->colors[comm->rank][0] = (uint32_t)color;
	s->colors[comm->rank][1] = (uint32_t)key;
	__atomic_add_fetch(&s->splitting, 1, __ATOMIC_ACQ_REL);
	wait_for(&s->splitting, (uint32_t)(2 * comm->ranks * split - comm->ranks));
	for (int i = 0; i < comm->ranks; i++) {
		int k = (int)s->colors[i][1];

		if ((int)s->colors[i][0] != color)
			continue;
		ranks++;
		rank += k < key || (k == key && i < comm->rank);
	}
	/* All have read before one writes again. */
	__atomic_add_fetch(&s->splitting, 1, __ATOMIC_ACQ_REL);
	wait_for(&s->splitting, (uint32_t)(2 * comm->ranks * split));
	*made = NULL;
	if (color < 0)
		return SUCCESS;
	snprintf(name, sizeof(name), "%.50s-%d-%d", comm->name, (int)split, color);
	return make(made, name, ranks, rank, 1);
}

EXPORT int ncclCommDestroy(ncclComm_t comm)
{
	CUresult (*push)(CUcontext) = (__typeof__(push))driver("cuCtxPushCurrent_v2");
	CUresult (*wait)(void) = (__typeof__(wait))driver("cuCtxSynchronize");
	CUresult (*destroy)(CUcontext) = (__typeof__(destroy))driver("cuCtxDestroy_v2");

	if (comm->own_context && push && wait && destroy && !push(comm->context)) {
		wait();
		destroy(comm->context);
	}
	munmap(comm->shared, sizeof(*comm->shared));
	free(comm);
	return SUCCESS;
}

/* What waits goes on waiting, as a kernel of the real one may until its process ends. */
EXPORT int ncclCommAbort(ncclComm_t comm)
{
	(void)comm;
	return SUCCESS;
}

EXPORT int ncclCommCount(ncclComm_t comm, int *count)
{
	*count = comm->ranks;
	return SUCCESS;
}

EXPORT int ncclCommUserRank(ncclComm_t comm, int *rank)
{
	*rank = comm->rank;
	return SUCCESS;
}

EXPORT int ncclCommGetAsyncError(ncclComm_t comm, int *error)
{
	*error = __atomic_load_n(&comm->state, __ATOMIC_ACQUIRE);
	return SUCCESS;
}

EXPORT const char *ncclGetErrorString(int error)
{
	return error ? "some error" : "no error";
}

static int launch(void)
{
	CUresult (*launch)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream,
			   void **, void **) = (__typeof__(launch))driver("cuLaunchKernel");
	CUresult (*push)(CUcontext) = (__typeof__(push))driver("cuCtxPushCurrent_v2");
	CUresult (*pop)(CUcontext *) = (__typeof__(pop))driver("cuCtxPopCurrent_v2");
	struct sim_nccl_meet *meet = group.meet;
	void *params[] = { &meet };
	CUcontext before;
	CUresult result;

	group.meet = NULL;
	if (!meet)
		return SUCCESS;
	if (!group.comm->own_context)
		return launch(group.comm->kernel[group.kind], 2, 1, 1, 288, 1, 1, 0, group.stream, params, NULL) ?
		       UNHANDLED_CUDA : SUCCESS;
	if (push(group.comm->context))
		return UNHANDLED_CUDA;
	result = launch(group.comm->kernel[group.kind], 2, 1, 1, 288, 1, 1, 0, group.stream, params, NULL);
	pop(&before);
	return result ? UNHANDLED_CUDA : SUCCESS;
}

EXPORT int ncclGroupStart(void)
{
	group.depth++;
	return SUCCESS;
}

EXPORT int ncclGroupEnd(void)
{
	int result;

	if (group.depth <= 0)
		return INVALID_USAGE;
	if (--group.depth)
		return SUCCESS;
	result = group.made ? make_group() : SUCCESS;
	return result ? result : launch();
}

static int add(struct ncclComm *c, CUstream stream, int kind, uint32_t *arrived, uint64_t target, uint64_t bytes)
{
	struct sim_nccl_meet *meet;

	/* A kernel for each communicator, as far as a test needs it. */
	if (group.meet && (group.comm != c || group.meet->count == SIM_NCCL_MEETS))
		launch();
	if (!group.meet) {
		group.meet = calloc(1, sizeof(*meet));
		if (!group.meet)
			return SYSTEM;
		group.comm = c;
		group.stream = stream;
		group.kind = kind;
	}
	meet = group.meet;
	if (meet->count || kind != KERNEL_REDUCE)
		group.kind = kind == KERNEL_PAIRS ? KERNEL_PAIRS : KERNEL_OTHER;
	meet->arrived[meet->count] = arrived;
	meet->target[meet->count++] = (uint32_t)target;
	meet->move_ns += START_NS + bytes / BYTES_PER_NS;
	return group.depth ? SUCCESS : launch();
}

static size_t width(int type)
{
	static const int widths[] = { 1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1 };

	return type >= 0 && type < 12 ? widths[type] : 0;
}

static int collective(struct ncclComm *c, CUstream stream, int kind, size_t count, int type)
{
	uint64_t n;

	if (!c || !width(type))
		return INVALID_ARGUMENT;
	n = c->number++;
	return add(c, stream, kind, &c->shared->collective[n % OPERATIONS], (n / OPERATIONS + 1) * c->ranks,
		   count * width(type));
}

EXPORT int ncclAllReduce(const void *send, void *receive, size_t count, int type, int reduction,
			 ncclComm_t comm, ncclStream_t stream)
{
	(void)send, (void)receive, (void)reduction;
	return collective(comm, stream, KERNEL_REDUCE, count, type);
}

EXPORT int ncclBroadcast(const void *send, void *receive, size_t count, int type, int root,
			 ncclComm_t comm, ncclStream_t stream)
{
	(void)send, (void)receive, (void)root;
	return collective(comm, stream, KERNEL_OTHER, count, type);
}

EXPORT int ncclReduceScatter(const void *send, void *receive, size_t count, int type, int reduction,
			     ncclComm_t comm, ncclStream_t stream)
{
	(void)send, (void)receive, (void)reduction;
	return collective(comm, stream, KERNEL_OTHER, count, type);
}

EXPORT int ncclAllGather(const void *send, void *receive, size_t count, int type, ncclComm_t comm,
			 ncclStream_t stream)
{
	(void)send, (void)receive;
	return collective(comm, stream, KERNEL_OTHER, count, type);
}

static int pair(struct ncclComm *c, CUstream stream, int from, int to, uint64_t n, size_t count, int type)
{
	return add(c, stream, KERNEL_PAIRS, &c->shared->pair[from][to][n % PAIRS], 2 * (n / PAIRS + 1),
		   count * width(type));
}

EXPORT int ncclSend(const void *buffer, size_t count, int type, int peer, ncclComm_t comm, ncclStream_t stream)
{
	(void)buffer;
	if (!comm || peer < 0 || peer >= comm->ranks)
		return INVALID_ARGUMENT;
	return pair(comm, stream, comm->rank, peer, comm->sent[peer]++, count, type);
}

EXPORT int ncclRecv(void *buffer, size_t count, int type, int peer, ncclComm_t comm, ncclStream_t stream)
{
	(void)buffer;
	if (!comm || peer < 0 || peer >= comm->ranks)
		return INVALID_ARGUMENT;
	return pair(comm, stream, peer, comm->rank, comm->received[peer]++, count, type);
}
