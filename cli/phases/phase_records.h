/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the stages and iterations are made from: the few records of a trace that matter, 16
 * bytes each, sorted by thread.  There are at most CT_PHASE_RECORDS_MAX of them, however long the
 * trace is; of a thread that has more the first ones are kept, and the rest is read again.
 */
#ifndef CT_CLI_PHASE_RECORDS_H
#define CT_CLI_PHASE_RECORDS_H

#include "base/keyed.h"
#include "trace/reader.h"

#define CT_PHASE_RECORDS_MAX	(2u << 20)
#define CT_RANGE_TEXTS		4096u	/* different texts whose words are kept */

enum ct_phase_record_kind {
	CT_PHASE_NONE,
	CT_PHASE_CALL,		/* the first call to libcuda */
	CT_PHASE_CONTEXT,		/* a context is made */
	CT_PHASE_MODULE,		/* code is loaded */
	CT_PHASE_ALLOC,
	CT_PHASE_SET,		/* memory of the GPU is set */
	CT_PHASE_COPY,		/* sig: bytes; flags: CT_COPY_* */
	CT_PHASE_WAIT,		/* sig: class id */
	CT_PHASE_LAUNCH,		/* sig: 20 bits of name and block, 12 bits of grid */
	CT_PHASE_GRAPH,		/* sig: 20 bits that mean any graph, 12 bits of the handle */
	CT_PHASE_PUSH,		/* sig: hash of the text, digits apart */
	CT_PHASE_POP,
	CT_PHASE_MARK,		/* sig as of a push */
	CT_PHASE_CAPTURE,		/* a stream is captured: launches until the end go into a graph */
	CT_PHASE_CAPTURED,	/* its end */
	CT_PHASE_COMMUNICATOR,	/* a communicator of libnccl is made; sig: hash of its handle */
	CT_PHASE_COMMUNICATOR_STATE,	/* the program asks for its state; sig as above, flags: CT_PHASE_IN_PROGRESS */
	CT_PHASE_GROUP_BEGIN,	/* of libnccl's calls; kept where a communicator may be made in it */
	CT_PHASE_GROUP_END,
	CT_PHASE_POLL,		/* asks whether the GPU is done; sig: class id, flags: CT_PHASE_IN_PROGRESS; never kept, see struct ct_phase_poll */
};

#define CT_COPY_DIRECTION	0xfu	/* enum ct_direction, 0xf: a larger one */
#define CT_COPY_BLOCKING	0x10u
#define CT_PHASE_IN_PROGRESS	0x1u
#define CT_PHASE_COARSE		0x400u	/* duration is in units of 1,024 ns */

struct ct_phase_record {
	uint64_t at : 48;	/* its begin, ns after the trace's begin */
	uint64_t kind : 5;
	uint64_t flags : 11;
	uint32_t sig;
	uint32_t duration;
};

static inline uint64_t ct_phase_record_end(const struct ct_phase_record *h)
{
	return h->at + ((uint64_t)h->duration << (h->flags & CT_PHASE_COARSE ? 10 : 0));
}

static inline bool ct_phase_record_launch(const struct ct_phase_record *h)
{
	return h->kind == CT_PHASE_LAUNCH || h->kind == CT_PHASE_GRAPH;
}

/* It gives the GPU work: its class is of CT_IS_WORK. */
static inline bool ct_phase_record_work(const struct ct_phase_record *h)
{
	return ct_phase_record_launch(h) || h->kind == CT_PHASE_COPY || h->kind == CT_PHASE_SET;
}

/* The thread waited for the GPU. */
static inline bool ct_phase_record_wait(const struct ct_phase_record *h)
{
	return h->kind == CT_PHASE_WAIT || (h->kind == CT_PHASE_COPY && h->flags & CT_COPY_BLOCKING);
}

static inline bool ct_phase_record_to_gpu(const struct ct_phase_record *h)
{
	return h->kind == CT_PHASE_COPY && (h->flags & CT_COPY_DIRECTION) == CT_DIR_H2D;
}

/*
 * A thread that asks again and again whether the GPU is done waits for it, like one that synchronises.  Its questions are
 * as many as it has time for: of all of them one wait is kept, from the first answer that says no until that one which says yes.
 * What it gives the GPU meanwhile shows that it does something else, and looks only now and then.  Where it has waited so for an
 * event or a stream, it also waits where the first answer says yes, as the GPU was quick.
 */
struct ct_phase_poll {
	uint64_t since;		/* ns: the first that said no; 0: there is none */
	uint64_t asked;		/* bits by the handles of those */
	uint64_t waited;	/* the same of all that it has waited for */
	bool     gave;		/* it gave the GPU work since the last wait */
};

/* Records of a stream of a thread that were not kept, of one process that had the pid. */
struct ct_phase_more {
	uint32_t stream, image;		/* image: process records before */
	uint32_t launches, works;	/* launches; whatever gives the GPU work */
	uint64_t from, to;		/* ns: they began */
	uint64_t last_end;		/* of a launch, copy, set or wait */
};

struct ct_phase_thread {
	uint32_t pid, tid;
	struct ct_phase_record *list;	/* in the order of their begins */
	uint32_t count, capacity;
	uint32_t firsts;	/* contexts and allocations kept since an image began */
	uint32_t loads;		/* modules, the same */
	uint32_t images;	/* of its process, when .firsts was counted */
	uint32_t stream;	/* the last one that it was seen in */
	uint64_t first_call;	/* of this image: ns after the begin */
	uint32_t first_call_at;	/* its index in the list */
	uint64_t last_use;	/* a context, code or memory: the end of the last call for it */
	struct ct_phase_more *more;	/* what was not kept */
	uint32_t more_count, more_capacity;
	struct ct_phase_poll poll;
	uint32_t poll_stream;	/* that it is of */
	bool     in_cpu_streams;
	uint32_t groups;	/* begins of groups that are not kept, as nothing was made in them yet */
	uint32_t groups_stream;
	uint64_t groups_at;	/* ns: the first of them */
};

/* A process record: a process or a new image of one begins. */
struct ct_phase_birth {
	uint32_t pid;
	bool     own;		/* the process wrote it itself, which it does once */
	bool     dropped;	/* the recorder wrote it, when it dropped the packet that had it (record --keep) */
	bool     command;	/* it is the command that was recorded */
	uint32_t parent;	/* its pid */
	uint64_t at, text;	/* ns after the begin; a hash of its command and parent */
};

/* A process was seen from .first to .last. */
struct ct_phase_span {
	uint32_t pid;
	bool     thread;	/* of the stream of a thread, which is of one image */
	uint64_t first, last;
};

/* The GPU worked for a process between .first and .last, by its records: a trace may have them of calls that it lacks. */
struct ct_phase_gpu {
	uint64_t pid;
	uint64_t first, last;		/* ns after the begin */
	uint64_t *worked;		/* ns in each CT_PHASE_SLOTS-th part of the trace, as it began in */
};

#define CT_PHASE_SLOTS		1024u

struct ct_phase_index {
	uint64_t key;
	uint32_t index;			/* + 1, or a number */
};

/* A communicator of a thread: the last record of its state. */
struct ct_phase_state {
	uint64_t key;			/* of the thread and the handle */
	uint32_t index;			/* + 1, in the thread's list */
	uint32_t stream;
};

struct ct_phase_text {
	uint64_t hash;
	char *text;
};

/* A process whose threads were sampled (record --stacks). */
struct ct_phase_sampled {
	uint64_t pid;
	uint64_t first;			/* ns since the trace's start */
};

struct ct_phase_records {
	const struct ct_trace *trace;
	uint8_t *kinds;			/* by class id */
	struct ct_phase_thread *threads;
	uint32_t threads_count, threads_capacity;
	CT_KEYED(struct ct_phase_index) thread_of;	/* by pid and tid */
	struct ct_phase_birth *births;
	uint32_t births_count, births_capacity;
	struct ct_phase_span *spans;
	uint32_t spans_count, spans_capacity;
	CT_KEYED(struct ct_phase_gpu) gpu;
	CT_KEYED(struct ct_phase_sampled) sampled;
	CT_KEYED(struct ct_phase_index) images;	/* by pid: process records so far */
	CT_KEYED(struct ct_phase_text) texts;
	CT_KEYED(struct ct_phase_state) states;
	uint64_t max;			/* how many are kept, by default CT_PHASE_RECORDS_MAX */
};

/**
 * ct_phase_records_collect() - one pass over all streams
 * @h: zeros, .max may be set
 *
 * Return: 0 or -ENOMEM.  Free with ct_phase_records_free() also after an error.
 */
int ct_phase_records_collect(struct ct_phase_records *h, const struct ct_trace *t);
void ct_phase_records_free(struct ct_phase_records *h);

/* ns of the GPU's work from @from until before @to, about. */
uint64_t ct_phase_gpu_worked(const struct ct_phase_records *h, const struct ct_phase_gpu *g, uint64_t from, uint64_t to);

/* The index of the thread's first kept one at or after @at. */
uint32_t ct_phase_records_find(const struct ct_phase_thread *thread, uint64_t at);

/* What a record of the class is for us. */
enum ct_phase_record_kind ct_phase_record_kind(const struct ct_class *c);

/* What @r, a record of that kind, is for us. */
void ct_phase_record_make(const struct ct_registry *reg, const struct ct_record *r,
		       enum ct_phase_record_kind kind, struct ct_phase_record *h);

/* The thread's next record of a kind from CT_PHASE_SET on.  False: it is a question, and no wait ends with it; otherwise @h is what it is. */
bool ct_phase_polled(struct ct_phase_poll *poll, const struct ct_registry *reg, const struct ct_record *r,
		     enum ct_phase_record_kind kind, struct ct_phase_record *h);

/* Part of the signature that does not change with the size of the work. */
static inline uint32_t ct_phase_record_coarse(uint32_t sig)
{
	return sig >> 12;
}

#endif
