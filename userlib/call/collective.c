// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Calls of libnccl: communicators are known by a hash of their unique id, which is the same on all
 * ranks, and collectives are numbered in each, as all ranks must call them in one order.  So
 * (communicator, number) is the same operation on all ranks.  See collective.h.
 *
 * Counted here and not by readers, so that a trace that lacks its beginning has the same numbers.
 * A look at a table of communicators, without a lock, is all that a collective pays.
 */
#include "call/collective.h"

#include "base/process.h"
#include "call/classify.h"
#include "call/extract.h"

#define COMMUNICATORS	256	/* a power of two; of more than that nothing is known */
#define UNIQUE_ID	128	/* bytes of an ncclUniqueId */

#define VAIN_MOST	64	/* questions without an answer: then no more are asked */

#define IN_PROGRESS	7	/* a communicator that does not block goes on by itself */

bool (*ct_collective_asked)(const struct ct_frame *f, u64 comm, u32 *ranks, u32 *rank);

/*
 * Written under the process's lock, comm last.  Entries stay: the address of a communicator that
 * was destroyed is soon that of another.
 */
static struct communicator {
	u64 comm;		/* the program's handle; 0: free */
	u64 id;			/* 0: it was made before the recording began */
	u32 ranks, rank;	/* ranks 0: not known, of a communicator that was split off */
	u32 number;		/* collectives until now, in this recording */
	u32 splits;		/* communicators that were made of it */
} communicators[COMMUNICATORS];

static u32 asked_in_vain;	/* libnccl did not tell, or there is no room */

static struct communicator *collective_find(u64 comm)
{
	u64 at = comm >> 6 ^ comm >> 14;

	for (u32 i = 0; comm && i < COMMUNICATORS; i++) {
		struct communicator *c = &communicators[(at + i) % COMMUNICATORS];
		u64 there = ct_load(&c->comm);

		if (there == comm)
			return c;
		if (!there)
			break;
	}
	return NULL;
}

static void collective_add(u64 comm, u64 id, u32 ranks, u32 rank)
{
	u64 at = comm >> 6 ^ comm >> 14, mask;

	if (!comm)
		return;
	mask = ct_lock();
	for (u32 i = 0; i < COMMUNICATORS; i++) {
		struct communicator *c = &communicators[(at + i) % COMMUNICATORS];

		if (c->comm && c->comm != comm)
			continue;
		c->id = id;
		c->ranks = ranks;
		c->rank = rank;
		c->number = c->splits = 0;
		ct_store(&c->comm, comm);
		break;
	}
	ct_unlock(mask);
}

void ct_collectives_renew(void)
{
	ct_store(&asked_in_vain, 0u);
	/* What was made, ended and called meanwhile nobody has seen. */
	for (u32 i = 0; i < COMMUNICATORS; i++)
		ct_store(&communicators[i].comm, 0ull);
}

static bool collective_accepted(const struct ct_frame *f, bool after)
{
	return after && ((u32)f->result == 0 || (u32)f->result == IN_PROGRESS);
}

/* What the first argument leads to, or argument n. */
static u64 collective_out(const struct ct_frame *f, bool after, unsigned n)
{
	const u64 *p = (const u64 *)ct_arg(f, n);

	return collective_accepted(f, after) && p ? *p : 0;
}

static u32 collective_width(u32 type)
{
	static const u8 widths[] = { 1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1 };

	return type < sizeof(widths) ? widths[type] : 0;
}

/* A communicator that was there before us says which rank it is; who the others are only readers can find. */
static cold struct communicator *collective_ask(const struct ct_frame *f, u64 comm)
{
	struct communicator *c = NULL;
	u32 ranks, rank;

	if (!ct_collective_asked || ct_load(&asked_in_vain) >= VAIN_MOST)
		return NULL;
	if (ct_collective_asked(f, comm, &ranks, &rank)) {
		collective_add(comm, 0, ranks, rank);
		c = collective_find(comm);
	}
	if (!c)
		__atomic_fetch_add(&asked_in_vain, 1, __ATOMIC_RELAXED);
	return c;
}

/* NONE: there is no such argument. */
#define NONE	99

static inline u64 collective_argument(const struct ct_frame *f, unsigned n)
{
	return n == NONE ? 0 : ct_arg(f, n);
}

static inline void collective_fill(const struct ct_frame *f, struct ct_collective *o, bool after,
				   unsigned count, unsigned type, unsigned reduction, unsigned root,
				   unsigned comm, unsigned stream, bool numbered)
{
	struct communicator *c = collective_find(ct_arg(f, comm));

	*o = (struct ct_collective){
		.count = ct_arg(f, count), .datatype = (u32)ct_arg(f, type), .comm = ct_arg(f, comm),
		.stream = ct_arg(f, stream), .root = root == NONE ? -1 : (s32)collective_argument(f, root),
		.reduction = reduction == NONE ? -1 : (s32)collective_argument(f, reduction),
	};
	o->size = o->count * collective_width(o->datatype);
	/* It exists, as the call succeeded. */
	if (unlikely(!c || (!c->id && !c->ranks)) && after && !(u32)f->result)
		c = collective_ask(f, ct_arg(f, comm));
	if (!c)
		return;
	o->communicator = c->id;
	o->ranks = c->ranks;
	o->rank = c->rank;
	if (!numbered)
		return;
	if (!after)
		o->number = __atomic_load_n(&c->number, __ATOMIC_RELAXED) + 1;
	else if (collective_accepted(f, after))
		o->number = __atomic_add_fetch(&c->number, 1, __ATOMIC_RELAXED);
}

static void collective_made(struct ct_communicator *o, u64 comm, u64 id, u32 ranks, u32 rank)
{
	*o = (struct ct_communicator){ .communicator = id, .comm = comm, .ranks = ranks, .rank = rank };
	collective_add(comm, id, ranks, rank);
}

/* (comm *, ranks, unique id by value, rank, ...) */
static void collective_init(const struct ct_frame *f, void *payload, bool after)
{
	collective_made(payload, collective_out(f, after, 0), ct_hash((const char *)f->stack, UNIQUE_ID),
			(u32)f->arg[1], (u32)f->arg[2]);
}

/* (comm *, ranks, rank, count, unique id *, config *): all ranks give the same ids. */
static void collective_init_scalable(const struct ct_frame *f, void *payload, bool after)
{
	const char *ids = (const char *)f->arg[4];
	bool known = collective_accepted(f, after) && ids && (s32)f->arg[3] > 0;

	collective_made(payload, collective_out(f, after, 0), known ? ct_hash(ids, UNIQUE_ID) : 0,
			(u32)f->arg[1], (u32)f->arg[2]);
}

/* (comm *[], devices, ...): ranks of one process.  The record is of the first. */
static void collective_init_all(const struct ct_frame *f, void *payload, bool after)
{
	const u64 *comms = (const u64 *)f->arg[0];
	u32 ranks = (u32)f->arg[1];
	u64 first = collective_out(f, after, 0);
	u64 unique[2] = { first, (u64)ct_process->pid << 32 | (u32)ct_process->life };
	u64 id = ct_hash((const char *)unique, sizeof(unique));

	collective_made(payload, first, first ? id : 0, ranks, 0);
	for (u32 i = 1; first && i < ranks && i < COMMUNICATORS; i++)
		collective_add(comms[i], id, ranks, i);
}

/*
 * A communicator of some of the ranks of another: all of those call it, those of one color get
 * the same.  Which ranks these are only readers know, who see all calls.
 */
static void collective_split_off(const struct ct_frame *f, struct ct_communicator *o, bool after,
				 u32 color, u32 key, unsigned out)
{
	struct communicator *c = collective_find(f->arg[0]);
	u64 unique[3], id = 0, comm = collective_out(f, after, out);

	if (c && c->id && collective_accepted(f, after)) {
		unique[0] = c->id;
		unique[1] = __atomic_add_fetch(&c->splits, 1, __ATOMIC_RELAXED);
		unique[2] = color;
		id = comm ? ct_hash((const char *)unique, sizeof(unique)) : 0;
	}
	*o = (struct ct_communicator){
		.communicator = id, .comm = comm, .split_of = c ? c->id : 0,
		.rank = c ? c->rank : 0, .color = (s32)color, .key = (s32)key,
	};
	/* Of one that was there before us, who it is will be asked. */
	collective_add(comm, id, 0, id ? c->rank : 0);
}

/* (comm, color, key, new comm *, config *) */
static void collective_split(const struct ct_frame *f, void *payload, bool after)
{
	collective_split_off(f, payload, after, (u32)f->arg[1], (u32)f->arg[2], 3);
}

/* (comm, ranks that are left out *, their count, new comm *, config *, flags) */
static void collective_shrink(const struct ct_frame *f, void *payload, bool after)
{
	collective_split_off(f, payload, after, 0, 0, 3);
}

/* (comm): it is destroyed, aborted, finalised or revoked. */
static void collective_end(const struct ct_frame *f, void *payload, bool after)
{
	struct communicator *c = collective_find(f->arg[0]);

	(void)after;
	*(struct ct_communicator *)payload = (struct ct_communicator){
		.comm = f->arg[0], .communicator = c ? c->id : 0, .ranks = c ? c->ranks : 0,
		.rank = c ? c->rank : 0,
	};
}

/* (comm, state *): the call itself succeeds while the communicator is still made, or has failed. */
static void collective_state(const struct ct_frame *f, void *payload, bool after)
{
	struct communicator *c = collective_find(f->arg[0]);
	const u32 *state = (const u32 *)f->arg[1];

	*(struct ct_communicator_state *)payload = (struct ct_communicator_state){
		.comm = f->arg[0], .communicator = c ? c->id : 0,
		.state = collective_accepted(f, after) && state ? *state : 0,
	};
}

/* (pointer **, bytes) */
static void collective_memory(const struct ct_frame *f, void *payload, bool after)
{
	*(struct ct_alloc *)payload = (struct ct_alloc){
		.size = f->arg[1], .ptr = collective_out(f, after, 0),
	};
}

/*
 * Function, words on the stack, and which argument is what: count, datatype, reduction, root or
 * peer, communicator, stream; and whether all ranks call it, so that its number is the same on all.
 */
#define COLLECTIVES(X)							\
	X(ncclAllReduce,	1, 2, 3, 4, NONE, 5, 6, true)		\
	X(ncclReduce,		2, 2, 3, 4, 5, 6, 7, true)		\
	X(ncclBroadcast,	1, 2, 3, NONE, 4, 5, 6, true)		\
	X(ncclBcast,		0, 1, 2, NONE, 3, 4, 5, true)		\
	X(ncclReduceScatter,	1, 2, 3, 4, NONE, 5, 6, true)		\
	X(ncclAllGather,	0, 2, 3, NONE, NONE, 4, 5, true)	\
	X(ncclAlltoAll,		0, 2, 3, NONE, NONE, 4, 5, true)	\
	X(ncclGather,		1, 2, 3, NONE, 4, 5, 6, true)		\
	X(ncclScatter,		1, 2, 3, NONE, 4, 5, 6, true)		\
	X(ncclSend,		0, 1, 2, NONE, 3, 4, 5, false)		\
	X(ncclRecv,		0, 1, 2, NONE, 3, 4, 5, false)

/* Function, words on the stack, layout, extractor. */
#define OTHERS(X)							\
	X(ncclCommInitRank,	    16, communicator, collective_init)	\
	X(ncclCommInitRankConfig,   16, communicator, collective_init)	\
	X(ncclCommInitRankScalable,  0, communicator, collective_init_scalable) \
	X(ncclCommInitAll,	     0, communicator, collective_init_all) \
	X(ncclCommSplit,	     0, communicator, collective_split)	\
	X(ncclCommShrink,	     0, communicator, collective_shrink) \
	X(ncclCommDestroy,	     0, communicator, collective_end)	\
	X(ncclCommAbort,	     0, communicator, collective_end)	\
	X(ncclCommFinalize,	     0, communicator, collective_end)	\
	X(ncclCommRevoke,	     0, communicator, collective_end)	\
	X(ncclCommGetAsyncError,     0, communicator_state, collective_state) \
	X(ncclMemAlloc,		     0, alloc, collective_memory)

/* Those without fields that are called often, or while nothing else may be on the stack. */
#define BARE(X)								\
	X(ncclGroupStart) X(ncclGroupEnd) X(ncclCommCount)			\
	X(ncclCommCuDevice) X(ncclCommUserRank) X(ncclGetVersion) X(ncclGetUniqueId) \
	X(ncclGetErrorString) X(ncclGetLastError) X(ncclMemFree) X(ncclCommRegister) \
	X(ncclCommDeregister) X(ncclRedOpCreatePreMulSum) X(ncclRedOpDestroy)

#define ROW(function, words, count, type, reduction, root, comm, stream, numbered) \
	static void x_##function(const struct ct_frame *f, void *payload, bool after) \
	{								\
		collective_fill(f, payload, after, count, type, reduction, root, comm, stream, numbered); \
	}
COLLECTIVES(ROW)
#undef ROW

/* Texts inside, not pointers: what the loader need not relocate costs a program no time. */
static const struct {
	char name[28];
	u8 words, layout, size;
} rows[] = {
#define ROW(function, words, ...)					\
	{ #function, words, CT_LAYOUT_collective, sizeof(struct ct_collective) },
	COLLECTIVES(ROW)
#undef ROW
#define ROW(function, words, layout, extractor)				\
	{ #function, words, CT_LAYOUT_##layout, sizeof(struct ct_##layout) },
	OTHERS(ROW)
#undef ROW
#define ROW(function)	{ #function, 0, CT_LAYOUT_none, 0 },
	BARE(ROW)
#undef ROW
};

enum {
#define ROW(function, ...)	ROW_##function,
	COLLECTIVES(ROW)
	OTHERS(ROW)
#undef ROW
};

/* By code, not by a table of pointers, for the same reason. */
static ct_extract *collective_extractor(size_t row)
{
	switch (row) {
#define ROW(function, ...)	case ROW_##function: return x_##function;
	COLLECTIVES(ROW)
#undef ROW
#define ROW(function, words, layout, extractor)	case ROW_##function: return extractor;
	OTHERS(ROW)
#undef ROW
	}
	return NULL;
}

struct ct_collective_symbol ct_collective_symbol(const char *name)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (!strcmp(rows[i].name, name))
			return (struct ct_collective_symbol){
				rows[i].words, { rows[i].layout, rows[i].size, collective_extractor(i) },
			};
	return (struct ct_collective_symbol){ CT_WORDS_UNKNOWN, { .layout = CT_LAYOUT_none } };
}
