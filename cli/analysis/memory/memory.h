/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which memory each process holds, from its calls of libcuda.  Several reports need it.
 *
 * An allocation is held from the return of the call that made it to the return of the one that
 * frees it; a range of cuMemCreate until it is released and no longer mapped.  Calls that failed
 * change nothing, and a free of what was allocated before the recording neither.  Memory is
 * bounded by the number of allocations that are held at a moment.
 */
#ifndef CT_CLI_MEMORY_H
#define CT_CLI_MEMORY_H

#include "analysis/engine.h"
#include "base/keyed.h"

/* X(ID, word).  Managed memory may be on either side; all but HOST count as the GPU's. */
#define CT_MEMORY_KINDS(X)						\
	X(DEVICE, "device")	/* cuMemAlloc, cuMemAllocPitch */	\
	X(POOL, "pool")		/* cuMemAllocAsync and pools */		\
	X(VIRTUAL, "virtual")	/* cuMemCreate */			\
	X(MANAGED, "managed")						\
	X(ARRAY, "array")						\
	X(HOST, "host")		/* pinned, allocated or registered */
#define CT_MEMORY_ROW(id, word)	CT_MEMORY_##id,
enum ct_memory_kind { CT_MEMORY_KINDS(CT_MEMORY_ROW) CT_MEMORY_KIND_COUNT };
#undef CT_MEMORY_ROW
/* The sum of all kinds but HOST. */
#define CT_MEMORY_GPU	CT_MEMORY_KIND_COUNT
#define CT_MEMORY_SUMS	(CT_MEMORY_KIND_COUNT + 1)

/* "device", "pool", ..., "gpu" */
extern const char *const ct_memory_word[CT_MEMORY_SUMS];

struct ct_memory_sum {
	uint64_t allocations, frees;
	uint64_t bytes;			/* allocated in total */
	uint64_t held, held_count;
	uint64_t peak, peak_at;		/* bytes, ns: when it was first reached */
};

/* What the GPU's memory was in a part of the time. */
struct ct_memory_bucket {
	uint64_t peak, peak_at;		/* bytes after a change, the most; ns */
	uint64_t after;			/* bytes at its end */
	bool used;
};

#define CT_MEMORY_PROCESSES	16384	/* a damaged trace may have any number */
#define CT_MEMORY_BUCKETS	200	/* of a process */
#define CT_MEMORY_SHIFT		10	/* a bucket is at least 1 << this ns long */

/* Allocations of a function that were never freed. */
struct ct_memory_leak {
	const struct ct_class *class;
	uint64_t count, bytes, smallest, largest;
	uint64_t first, last;		/* ns */
};

/* The GPU's memory that was allocated from one place of the program. */
struct ct_memory_stack {
	uint64_t stack;			/* a node (trace/stacks/stacks.h); 0: not known */
	uint64_t held;			/* bytes that are not freed */
	uint64_t most;			/* bytes that it held when its process held most; complete when it has ended */
	uint32_t peaks;			/* of the process, when it last changed */
};

/* Where an allocation is known by: an address, a handle of cuMemCreate, an array. */
enum { CT_MEMORY_ADDRESSES, CT_MEMORY_HANDLES, CT_MEMORY_ARRAYS, CT_MEMORY_SPACES };

struct ct_memory_live {
	uint64_t key;			/* in its space */
	uint64_t bytes, ts;		/* ts: ns, when it was allocated */
	const struct ct_class *class;	/* by which function; NULL: it is new */
	uint32_t stack;			/* from where */
	uint8_t  kind;
	bool     released;		/* its handle was, while it was mapped */
	uint32_t mapped;		/* so many times */
};

struct ct_memory_map {
	uint64_t address;
	uint64_t bytes, handle;
};

struct ct_memory_process {
	uint32_t pid;
	uint32_t generation;		/* programs that this pid ran before */
	bool     ended;			/* another program follows under this pid, or it exited */
	bool     left_out;		/* it allocated more at once than is kept */
	uint64_t context_gone;		/* ns: when a context was last destroyed; 0: never */
	struct ct_memory_sum sums[CT_MEMORY_SUMS];
	/* Changes of the GPU's memory: bucket i begins at first + (i << shift). */
	uint64_t first;
	unsigned int shift;
	struct ct_memory_bucket *buckets;
	struct ct_memory_leak *leaks;	/* complete when it has ended */
	unsigned int leaks_count, leaks_room;
	CT_KEYED(struct ct_memory_stack) stacks;
	uint32_t peaks;			/* how many times it held more than ever before */
	/* Internal: allocations that are not freed, ranges that they are mapped to. */
	CT_KEYED(struct ct_memory_live) live[CT_MEMORY_SPACES];
	CT_KEYED(struct ct_memory_map) maps;
};

/* What the last event did to the GPU's memory of its process: for analysers that need this one, at the same event. */
struct ct_memory_change {
	unsigned int allocations, frees;
	uint64_t bytes;			/* allocated */
};

struct ct_memory_pid {
	uint64_t pid;
	unsigned int process;		/* the last one's index + 1; 0: it has none */
	uint32_t begun;			/* programs that began */
};

struct ct_memory {
	struct ct_memory_process **processes;	/* in the order of their first allocations */
	unsigned int processes_count;
	uint64_t unknown_frees;		/* of what was allocated before, or not seen */
	uint64_t left_out;		/* allocations of more processes, or more at once, than are kept */
	struct ct_memory_change change;
	/* Internal */
	unsigned int room;
	CT_KEYED(struct ct_memory_pid) pids;
	uint8_t *actions;		/* by class id */
};

/* Its state is a struct ct_memory, complete when it has ended. */
extern const struct ct_analyser ct_memory_analyser;

/* The process that has this pid now, if it has allocated; else NULL. */
static inline struct ct_memory_process *ct_memory_now(const struct ct_memory *m, uint32_t pid)
{
	const struct ct_memory_pid *of = ct_keyed_get(&m->pids, pid);

	return of && of->process ? m->processes[of->process - 1] : NULL;
}

/* Bytes of the GPU's memory that the process of this pid holds now: for analysers that need it. */
static inline uint64_t ct_memory_held(const struct ct_memory *m, uint32_t pid)
{
	const struct ct_memory_process *p = ct_memory_now(m, pid);

	return p ? p->sums[CT_MEMORY_GPU].held : 0;
}

/* The last process of this pid that allocated, or NULL. */
const struct ct_memory_process *ct_memory_of(const struct ct_memory *m, uint32_t pid,
					     uint32_t generation);

#endif
