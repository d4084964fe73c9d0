/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the collectives of a trace are made of: a part for each rank's call, the operations that parts make, and the
 * communicators that they are of.  Who finds parts: collectives.h; what they make: operations.h.
 */
#ifndef CT_CLI_PARTS_H
#define CT_CLI_PARTS_H

#include "base/keyed.h"
#include "trace/class.h"
#include "trace/source.h"

#define CT_ONE_RANK	UINT32_MAX
#define CT_MEMBERS_MAX	1024u	/* of a communicator that are kept: no trace is of as many ranks */

/* What one rank has to do with an operation. */
struct ct_part {
	uint32_t communicator;		/* index into the communicators */
	uint32_t operation;		/* index into the operations */
	uint32_t pid, tid;
	uint32_t rank;			/* in its communicator, which need not be that in the job */
	uint32_t number;		/* in its communicator, from 1; of a send or receive between its two ranks */
	uint32_t stack;			/* from where it was called; 0: not known */
	int32_t  root;			/* or the peer; -1: none */
	int32_t  reduction;		/* -1: none */
	uint16_t datatype;
	uint16_t gpu;			/* valid with gpu_end */
	const struct ct_class *class;
	uint64_t op_id;			/* of the call */
	uint64_t begin, end;		/* ns, of the call */
	uint64_t size, count;		/* as passed */
	uint64_t stream;
	uint64_t launch;		/* op id of the launch of its kernel; 0: none is known */
	uint64_t gpu_begin, gpu_end;	/* ns, of its kernel; gpu_end 0: not known */
	/* ns: when the last rank had come that its kernel waits for; its begin where that is not known; 0: no kernel is. */
	uint64_t until;
	/* ns of its kernel; where that serves several operations, its share by size. */
	uint64_t waiting, moving;
	float    share;			/* of its kernel's time; 0: by size.  Set in a summary */
	uint32_t weight;		/* calls that it stands for; 0: itself alone.  Set in a summary */
	uint32_t of;			/* which rank of its process, by the job; CT_ONE_RANK: the process is one */
	bool     apart;			/* what others did then is not known: see made_before.h */
};

/* A rank of a job: a process, or one of several ranks of it. */
static inline uint64_t ct_part_who(const struct ct_part *p)
{
	return (uint64_t)p->pid << 32 | p->of;
}

struct ct_operation {
	uint32_t communicator;
	uint32_t number;
	uint32_t first, count;		/* its parts; those of a rank that called twice count once */
	uint32_t expected;		/* ranks that must come; 0: not known, and neither is whether it is complete */
	uint32_t last;			/* index of the part that came last, valid if .complete */
	uint32_t weight;		/* operations that it stands for: 1, more in a summary that has not all */
	bool     pair;			/* a send and its receive */
	bool     complete;		/* all ranks called it */
	bool     apart;			/* not all ranks were recorded at that time: whether it is complete is not known */
	bool     hangs;			/* it is not complete, and a rank that was recorded did not call it */
	bool     measured;		/* the kernels of all of them are known */
	bool     mismatched;		/* ranks called something else, or with other sizes */
	uint64_t arrived, gone;		/* ns: when the first came, and the last left, of those known */
	uint64_t unsure;		/* ns: of comparing its ranks' times; UINT64_MAX: clocks of hosts are only guessed */
};

struct ct_member {
	uint32_t pid, rank;
	int32_t  key;			/* of the split that made it: ranks are in its order */
	uint32_t parent;		/* its rank in the one that it was split off of, valid with .numbered */
};

/* Which rank a process is, where no launcher says it: that in the largest communicator that was not split off. */
struct ct_own_rank {
	uint64_t pid;
	uint32_t rank, size;
	bool     several;		/* it is several ranks of a communicator */
};

struct ct_left {
	uint64_t pid;
	uint64_t at;			/* ns */
};

struct ct_comm {
	uint64_t id;
	uint32_t ranks;			/* 0: not known */
	struct ct_member *members;	/* that were recorded, by rank */
	uint32_t members_count, members_capacity;
	uint64_t split_of;		/* id of the one that it was split off; 0: none */
	int32_t  color;
	uint32_t calls;			/* parts of it */
	uint64_t left;			/* ns: from here on one of its ranks was not recorded any more; 0: none was left */
	bool     made_before;		/* the recording: see made_before.h */
	bool     numbered;		/* it was split off, and its ranks were found by keys; until then they are its parent's */
};

/* Kernels of libnccl with one name that no recorded call launched: those of graphs, and of a libnccl that is not seen. */
struct ct_uncalled {
	uint64_t kernel;		/* string id of its name */
	uint64_t count, ns;		/* ns 0: the GPU's work was not recorded, and they are launches */
};

struct ct_collectives {
	const struct ct_source *sources;	/* of the trace; NULL: it is one */
	uint32_t tasks;			/* pids of a source: that of pid is pid / tasks */
	struct ct_part *parts;		/* in the order of operations, then ranks */
	size_t parts_count, parts_capacity;
	struct ct_operation *operations;	/* by communicator, collectives first, by number */
	size_t operations_count;
	struct ct_comm *communicators;	/* in the order in which they appear */
	uint32_t communicators_count, communicators_capacity;
	CT_KEYED(struct ct_uncalled) uncalled;
	bool     uncalled_before;	/* there are so many that some may have been launched before the recording, which are not counted else */
	CT_KEYED(struct ct_own_rank) own;
	uint64_t mismatched;
	CT_KEYED(struct ct_left) left;	/* processes that were attached to, and left while others were still recorded */
	bool     measured;		/* kernels of some are known */
	bool     left_out;		/* there are more than CT_PARTS_MAX */
	bool     numbered;		/* internal: ranks are final */
	/*
	 * Every kernel of libnccl counts as waiting to its end: who waits for whom is not asked, as in a summary.  Then they
	 * can be found in the same pass that needs to know it.
	 */
	bool     to_end;
	uint8_t *kernels;		/* internal, by string id: 1 it names a kernel of libnccl, 2 it does not */
	uint32_t kernels_count;
	/* Internal: where the parts of a launch are. */
	uint32_t *by_launch;
	size_t by_launch_count;
};

/* When a rank came to an operation: its kernel's begin, else its call. */
static inline uint64_t ct_part_arrived(const struct ct_part *p)
{
	return p->gpu_end ? p->gpu_begin : p->begin;
}

/* The source whose clock the times of a process are by; 0 where the trace is one. */
static inline uint32_t ct_collectives_source(const struct ct_collectives *c, uint32_t pid)
{
	return c->tasks ? pid / c->tasks : 0;
}

/* "AllReduce": the function without nccl. */
static inline const char *ct_part_name(const struct ct_part *p)
{
	return p->class->name + 4;
}

/* Is it a send or a receive? */
static inline bool ct_part_is_pair(const struct ct_part *p)
{
	return ct_class_is(p->class, CT_IS_SEND | CT_IS_RECEIVE);
}

/* Do two ranks call the same, as far as they must? */
bool ct_part_same_call(const struct ct_part *x, const struct ct_part *y);

/* ns: how exactly times of two processes can be compared; UINT64_MAX: not at all. */
uint64_t ct_collectives_unsure(const struct ct_collectives *c, uint32_t pid, uint32_t other);

/* Also after an error. */
void ct_collectives_free(struct ct_collectives *c);

#endif
