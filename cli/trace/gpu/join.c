// SPDX-License-Identifier: LGPL-2.1-or-later
/* See join.h.  Memory is bounded, whatever a trace holds. */
#include "trace/gpu/join.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/keyed.h"

#define JOIN_CALLS	(1u << 20)	/* of a process, that wait for their record */
#define JOIN_PROCESSES	1024u
#define JOIN_NEAR	256		/* calls, how far from where the number says one is looked for */
#define JOIN_FAR	(1u << 22)	/* calls that are looked at further away, in all ... */
#define JOIN_FAR_EACH	256u		/* ... and more of them for each record */
#define JOIN_RECENT	4096u		/* numbers that were joined last; a power of two */
#define JOIN_SURE	3		/* records in a row with the same distance: so it is */
#define JOIN_CAPTURES	16u		/* streams that are captured at a moment */
#define JOIN_GRAPHS	256u	/* CUPTI's numbers of graphs that were launched last; a power of two */
#define JOIN_STREAMS	1024u		/* CUPTI's numbers of streams that are known; a power of two */
#define JOIN_KNOWN	3		/* records that say so: then a stream is known */

/* What a call and its record have in common. */
struct join_work {
	uint8_t kind;		/* enum ct_category: kernel, graph, or transfer; CT_CAT_MEMORY: set */
	uint32_t kernel;	/* id of its name, 0: not known */
	uint64_t shape;		/* a hash of grid and block, or bytes; 0: not known */
	uint64_t stream;	/* of a call: the program's handle; of a record: CUPTI's number */
	bool has_stream;
};

struct join_call {
	uint64_t op_id, begin;
	struct join_work work;
	bool joined;		/* or it has no record: it failed, or was captured */
};

/*
 * Which handle a stream of CUPTI's has.  Handles come again, CUPTI's numbers don't.  Learnt from
 * what was joined: the majority counts.
 */
struct join_stream {
	uint64_t number, handle;
	unsigned int votes;	/* 0: nothing is known */
};

struct join_recent {
	uint32_t number;	/* of the call, or of the graph */
	uint64_t op_id;		/* 0: none */
};

struct join_process {
	struct join_call *calls;	/* number first is at calls[start] */
	uint32_t start, count, capacity;
	uint64_t first;			/* calls that are not kept any more */
	bool collects;			/* CUPTI, as far as is known */
	bool begins;			/* it is about to: what is submitted from here on may have records */
	uint64_t complete;		/* index of the first call of which it is sure that it has */
	bool begun;			/* offset is known */
	int64_t offset;			/* of a call: its index less its number */
	int64_t strayed;		/* distance of the last records from there ... */
	unsigned int strays;		/* ... and how many had it */
	uint32_t far;			/* calls that may be looked at yet */
	uint64_t captures[JOIN_CAPTURES];
	unsigned int captures_count;
	struct join_recent recent[JOIN_RECENT];
	struct join_recent graphs[JOIN_GRAPHS];
	struct join_stream streams[JOIN_STREAMS];
};

struct join_of {
	uint64_t pid;
	struct join_process *process;
};

struct ct_gpu_join {
	const struct ct_registry *reg;
	CT_KEYED(struct join_of) processes;
};

struct ct_gpu_join *ct_gpu_join_new(const struct ct_registry *reg)
{
	struct ct_gpu_join *j = calloc(1, sizeof(*j));

	if (j)
		j->reg = reg;
	return j;
}

void ct_gpu_join_free(struct ct_gpu_join *j)
{
	if (!j)
		return;
	for (size_t i = 0; i < j->processes.count; i++) {
		free(j->processes.list[i].process->calls);
		free(j->processes.list[i].process);
	}
	ct_keyed_free(&j->processes);
	free(j);
}

/* NULL with *@rc 0: there are too many. */
static struct join_process *join_process(struct ct_gpu_join *j, uint32_t pid, int *rc)
{
	struct join_of *of = ct_keyed_get(&j->processes, pid);
	struct join_process *p;

	*rc = 0;
	if (of)
		return of->process;
	if (j->processes.count == JOIN_PROCESSES)
		return NULL;
	*rc = -ENOMEM;
	p = calloc(1, sizeof(*p));
	of = p ? ct_keyed_put(&j->processes, pid) : NULL;
	if (!of) {
		free(p);
		return NULL;
	}
	of->process = p;
	p->far = JOIN_FAR;
	*rc = 0;
	return p;
}

/* Another program in the same process: CUPTI counts from 1 again.  Or it begins in one that runs: from any number. */
static void join_anew(struct join_process *p)
{
	*p = (struct join_process){ .calls = p->calls, .capacity = p->capacity, .far = p->far };
}

static uint64_t join_shape(const struct ct_record *r)
{
	uint64_t h = 1;

	for (int q = CT_KNOWN_GRID_X; q <= CT_KNOWN_BLOCK_Z; q++)
		h = ct_mix(h, ct_record_known(r, q));
	return h | 1;
}

/* Calls that make the GPU do something. */
#define JOIN_WORK	(CT_IS_GRAPH_LAUNCH | CT_IS_KERNEL_LAUNCH | CT_IS_TRANSFER)

/* False if it is nothing that the GPU does, or that a call makes it do. */
static bool join_work(const struct ct_gpu_join *j, const struct ct_record *r, struct join_work *w)
{
	const struct ct_class *class = r->class;
	bool gpu = class->layer == CT_LAYER_GPU;

	*w = (struct join_work){
		.stream = ct_record_known(r, gpu ? CT_KNOWN_STREAM_ID : CT_KNOWN_STREAM),
		.has_stream = ct_record_has(r, gpu ? CT_KNOWN_STREAM_ID : CT_KNOWN_STREAM),
	};
	if (ct_class_is(class, CT_IS_GRAPH_LAUNCH | CT_IS_GPU_GRAPH) ||
	    (gpu && ct_record_known(r, CT_KNOWN_GRAPH))) {
		w->kind = CT_CAT_GRAPH;
		return true;
	}
	if (ct_class_is(class, CT_IS_KERNEL_LAUNCH | CT_IS_GPU_KERNEL)) {
		w->kind = CT_CAT_KERNEL;
		w->kernel = ct_record_kernel(r, j->reg);
		w->shape = ct_record_has(r, CT_KNOWN_GRID_X) ? join_shape(r) : 0;
		return w->shape;
	}
	w->shape = ct_record_known(r, CT_KNOWN_SIZE);
	w->kind = ct_class_is(class, CT_IS_SET | CT_IS_GPU_SET) ? CT_CAT_MEMORY : CT_CAT_TRANSFER;
	return ct_class_is(class, CT_IS_TRANSFER | CT_IS_GPU_COPY | CT_IS_GPU_SET);
}

static bool join_fits(const struct join_work *call, const struct join_work *record)
{
	return call->kind == record->kind &&
	       (!call->kernel || !record->kernel || call->kernel == record->kernel) &&
	       (!call->shape || !record->shape || call->shape == record->shape);
}

/* ------------------------------------------------------------- calls ------- */
/*
 * Refused calls end no capture: of another thread, on another stream, with a bad argument.  Other
 * errors end it: what was captured had become invalid, and a capture ends by this call alone.
 */
static bool join_ends_capture(const struct ct_record *r)
{
	switch (r->result) {
	case 1: case 3: case 4:		/* CUDA_ERROR_INVALID_VALUE, NOT_INITIALIZED, DEINITIALIZED */
	case 201: case 400:		/* INVALID_CONTEXT, INVALID_HANDLE */
	case 903: case 908:		/* STREAM_CAPTURE_UNMATCHED, STREAM_CAPTURE_WRONG_THREAD */
		return false;
	}
	return true;
}

/*
 * What is launched into a stream that is captured does not run.  It takes a number, as a call
 * that fails does; but for cuLaunchKernelEx (seen with CUPTI 13.0).
 */
static void join_capture(struct join_process *p, const struct ct_record *r)
{
	uint64_t stream = ct_record_has(r, CT_KNOWN_STREAM) ? ct_record_known(r, CT_KNOWN_STREAM) :
		r->class->fields_count && r->fields ? ct_record_field(r, 0) : 0;

	if (!strncmp(r->class->name, "cuStreamBeginCapture", 20)) {
		if (p->captures_count < JOIN_CAPTURES && !ct_record_failed(r))
			p->captures[p->captures_count++] = stream;
		return;
	}
	for (unsigned int i = 0; i < p->captures_count && join_ends_capture(r); i++)
		if (p->captures[i] == stream) {
			p->captures[i] = p->captures[--p->captures_count];
			return;
		}
}

static bool join_is_captured(const struct join_process *p, const struct ct_record *r)
{
	uint64_t stream = ct_record_known(r, CT_KNOWN_STREAM);

	for (unsigned int i = 0; i < p->captures_count; i++)
		if (p->captures[i] == stream)
			return true;
	return false;
}

static struct join_call *join_at(const struct join_process *p, uint64_t index)
{
	return index - p->first < p->count ? &p->calls[p->start + (index - p->first)] : NULL;
}

static void join_forget_one(struct join_process *p)
{
	p->start++;
	p->count--;
	p->first++;
}

static int join_call(struct join_process *p, const struct ct_point *point, const struct join_work *w,
		     bool silent)
{
	/* Joined ones are kept for as long as a number may still say "near here". */
	while (p->count == JOIN_CALLS || (p->count > JOIN_NEAR && p->calls[p->start].joined))
		join_forget_one(p);
	if (p->start + p->count == p->capacity) {
		uint32_t capacity = p->count * 2 > 1024 ? p->count * 2 : 1024;
		struct join_call *calls = malloc(capacity * sizeof(*calls));

		if (!calls)
			return -ENOMEM;
		if (p->count)
			memcpy(calls, p->calls + p->start, p->count * sizeof(*calls));
		free(p->calls);
		p->calls = calls;
		p->start = 0;
		p->capacity = capacity;
	}
	p->calls[p->start + p->count++] = (struct join_call){
		.op_id = point->op_id, .begin = point->ts, .work = *w, .joined = silent,
	};
	return 0;
}

/* ----------------------------------------------------------- records ------- */
static struct join_stream *join_stream(struct join_process *p, uint64_t number)
{
	return &p->streams[number & (JOIN_STREAMS - 1)];
}

static void join_learn_stream(struct join_process *p, const struct join_work *call,
			      const struct join_work *record)
{
	struct join_stream *s = join_stream(p, record->stream);

	if (!call->has_stream || !record->has_stream)
		return;
	if (s->votes && s->number == record->stream && s->handle == call->stream)
		s->votes += s->votes < 2 * JOIN_KNOWN;
	else if (s->votes && s->number == record->stream)
		s->votes--;
	else
		*s = (struct join_stream){ record->stream, call->stream, 1 };
}

static bool join_other_stream(struct join_process *p, const struct join_work *call,
			      const struct join_work *record)
{
	const struct join_stream *s = join_stream(p, record->stream);

	return call->has_stream && record->has_stream && s->number == record->stream &&
	       s->votes >= JOIN_KNOWN && s->handle != call->stream;
}

static bool join_may_be(struct join_process *p, const struct join_call *c, const struct join_work *w,
			uint64_t ts)
{
	return c && !c->joined && c->begin <= ts && join_fits(&c->work, w) &&
	       !join_other_stream(p, &c->work, w);
}

/* The call that fits and is the nearest to index @at. */
static struct join_call *join_nearest(struct join_process *p, const struct join_work *w,
				      uint64_t ts, int64_t at, int64_t *distance)
{
	for (int64_t d = 0; d <= JOIN_NEAR; d++)
		for (int sign = -1; sign <= (d ? 1 : -1); sign += 2) {
			struct join_call *c = join_at(p, at + sign * d);

			if (join_may_be(p, c, w, ts)) {
				*distance = sign * d;
				return c;
			}
		}
	return NULL;
}

/* The oldest call that fits, of those from index @from on, and before @to. */
static struct join_call *join_between(struct join_process *p, const struct join_work *w, uint64_t ts, uint64_t from, uint64_t to,
				      int64_t *index)
{
	for (uint64_t i = from > p->first ? from : p->first; i < to && i < p->first + p->count && p->far; i++, p->far--) {
		struct join_call *c = join_at(p, i);

		if (c->begin > ts)
			break;
		if (join_may_be(p, c, w, ts)) {
			*index = (int64_t)i;
			return c;
		}
	}
	return NULL;
}

/*
 * Of a process's first record: the first call has the number 1, else the oldest one that fits of those that have records
 * for sure, else of those that were made while CUPTI began.
 */
static struct join_call *join_oldest(struct join_process *p, const struct join_work *w,
				     uint64_t ts, uint32_t number, int64_t *index)
{
	struct join_call *first = p->begun ? NULL : join_at(p, number - 1ull), *c;

	*index = (int64_t)number - 1;
	if (join_may_be(p, first, w, ts))
		return first;
	/* Records that fit nothing must not look at all calls each. */
	p->far += p->far < JOIN_FAR ? JOIN_FAR_EACH : 0;
	c = join_between(p, w, ts, p->complete, UINT64_MAX, index);
	return c ? c : join_between(p, w, ts, 0, p->complete, index);
}

/*
 * The body of a conditional node is launched by the GPU itself, so its records have no number of a call (seen with CUPTI 13.0).
 * They belong to the launch of their graph that had a record last.
 */
static uint64_t join_body(struct join_process *p, uint32_t graph)
{
	const struct join_recent *last = &p->graphs[graph & (JOIN_GRAPHS - 1)];

	return graph && last->number == graph ? last->op_id : 0;
}

static uint64_t join_done(struct join_process *p, const struct ct_record *r, uint64_t op_id)
{
	uint32_t graph = (uint32_t)ct_record_known(r, CT_KNOWN_GRAPH);

	if (graph)
		p->graphs[graph & (JOIN_GRAPHS - 1)] = (struct join_recent){ graph, op_id };
	return op_id;
}

static uint64_t join_record(struct join_process *p, const struct ct_point *point,
			    const struct join_work *w)
{
	uint32_t number = (uint32_t)ct_record_known(&point->record, CT_KNOWN_CORRELATION);
	struct join_recent *recent = &p->recent[number & (JOIN_RECENT - 1)];
	int64_t distance = 0, index;
	struct join_call *c = NULL;

	if (!number)
		return join_body(p, (uint32_t)ct_record_known(&point->record, CT_KNOWN_GRAPH));
	/* Further nodes of a graph launch. */
	if (recent->op_id && recent->number == number)
		return join_done(p, &point->record, recent->op_id);
	if (p->begun)
		c = join_nearest(p, w, point->begin, (int64_t)number + p->offset, &distance);
	if (!c) {
		c = join_oldest(p, w, point->begin, number, &index);
		if (!c)
			return 0;
		if (!p->begun) {
			p->begun = true;
			p->offset = index - (int64_t)number;
		}
		distance = index - ((int64_t)number + p->offset);
	}
	/* One that is not at its place may be another thread's; several say where the place is. */
	if (distance && distance == p->strayed)
		p->strays++;
	else
		p->strays = distance != 0;
	p->strayed = distance;
	if (p->strays >= JOIN_SURE) {
		p->offset += distance;
		p->strays = 0;
	}
	join_learn_stream(p, &c->work, w);
	c->joined = true;
	*recent = (struct join_recent){ number, c->op_id };
	return join_done(p, &point->record, c->op_id);
}

/*
 * In a process that was attached to, CUPTI begins while the program goes on.  Its clock is recorded before, that it has
 * begun afterwards: calls in between may have records, and those of them that did begin the numbers.
 */
static void join_state(struct join_process *p, const struct ct_record *r)
{
	if (r->class->id == CT_CLASS_gpu_clock) {
		if (p->collects || p->begins)
			return;
		join_anew(p);
		p->begins = true;
		return;
	}
	if (ct_record_known(r, CT_KNOWN_STATE) == CT_GPU_STARTED) {
		if (!p->begins)
			join_anew(p);
		p->complete = p->first + p->count;
		p->collects = true;
	} else {
		p->collects = false;
	}
	p->begins = false;
}

int ct_gpu_join_point(struct ct_gpu_join *j, const struct ct_point *point, uint64_t *launch_op_id)
{
	const struct ct_record *r = &point->record;
	const struct ct_class *class = r->class;
	bool capture = ct_class_is(class, CT_IS_CUDA) && class->category == CT_CAT_STREAM &&
		       (!strncmp(class->name, "cuStreamBeginCapture", 20) ||
			!strcmp(class->name, "cuStreamEndCapture"));
	struct join_process *p;
	struct join_work w = { 0 };
	bool captured;
	int rc;

	*launch_op_id = 0;
	if (class->id == CT_CLASS_gpu_state || class->id == CT_CLASS_gpu_clock) {
		p = join_process(j, r->pid, &rc);
		if (p)
			join_state(p, r);
		return rc;
	}
	/* Most points are calls that give the GPU nothing to do, and ends, which say nothing. */
	if (class->layer == CT_LAYER_KERNEL || point->phase == 'I' ||
	    (class->layer == CT_LAYER_USER && !capture && (point->phase != 'B' || !ct_class_is(class, JOIN_WORK))))
		return 0;
	if (!capture && !join_work(j, r, &w))
		return 0;
	if (class->layer == CT_LAYER_USER && !ct_class_is(class, CT_IS_CUDA))
		return 0;
	p = join_process(j, r->pid, &rc);
	if (!p)
		return rc;
	if (class->layer == CT_LAYER_GPU) {
		*launch_op_id = join_record(p, point, &w);
		return 0;
	}
	if (capture && point->phase == 'E')
		join_capture(p, r);
	if (capture || point->phase != 'B')
		return 0;
	captured = join_is_captured(p, r);
	if (captured && !strncmp(class->name, "cuLaunchKernelEx", 16))
		return 0;
	/* That a call failed is known here unless it was recorded at its entry. */
	return join_call(p, point, &w, captured || ct_record_failed(r));
}
