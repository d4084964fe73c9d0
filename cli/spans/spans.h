/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a trace holds, put together from the points of its records: calls, instants, ranges, the
 * GPU's work, and the time that threads are off their CPUs.  One pass follows the open calls of
 * each thread.  It hands out events (a call begins, ends or never returns), and spans.
 *
 * A span is complete when it is handed out.  There are two orders:
 *
 *  CT_SPANS_BY_END	each where it ends.  Two that end at one ns stand as their points do (merge.h):
 *			an inner call before the outer one, what the kernel did before the call of
 *			the program.  Only here self times are known.
 *  CT_SPANS_BY_BEGIN	each as soon as all is known: a call with one record where it begins, an outer
 *			one before those inside it.  A call that was recorded at its entry, too, is
 *			known where it ends.
 *
 * In both, an instant stands at its time, a range behind the instant of its pop, and a call that is
 * known to have never returned where it began.  What has no end in the trace comes last: calls in
 * the order of their begins (at one ns in that of their ids), then ranges by the index of their
 * track, the innermost first.
 *
 * Times.  A duration is from begin to end.  A self time is without the calls inside it, of any
 * layer: what libcuda spends in the driver is the driver's.
 */
#ifndef CT_CLI_SPANS_H
#define CT_CLI_SPANS_H

#include "spans/tracks.h"
#include "trace/gpu/gpu_causes.h"
#include "trace/merge.h"

/* ---------------------------------------------------------------- events --- */

#define CT_ON_BEGIN		1u	/* a call begins */
#define CT_ON_END		2u	/* a call ended */
#define CT_ON_INSTANT		4u	/* something without a duration */
#define CT_ON_UNRETURNED	8u	/* a call never returned, or its end was lost */

struct ct_trace_event {
	unsigned int kind;		/* CT_ON_*: one of them */
	const struct ct_point *point;	/* of CT_ON_UNRETURNED: NULL */
	/* Valid until the event function returns.  Of CT_ON_UNRETURNED: NULL. */
	const struct ct_record *record;
	const struct ct_class *class;
	/*
	 * The category that it counts for: its class's, but an ioctl that only the program saw
	 * is CT_CAT_IOCTL where the module recorded nothing.
	 */
	unsigned int category;
	bool     kernel;		/* its layer is not the program's */
	bool     api;			/* a call of libcuda, libcudart or libnccl */
	bool     failed;		/* it returned, and not with success */
	/* Its end, duration and self time are known (never of an abandoned call). */
	bool     timed;
	bool     left;			/* of CT_ON_UNRETURNED: at .end its thread was seen outside it */
	uint64_t begin, end;		/* ns; of CT_ON_BEGIN and of an instant end is begin */
	uint64_t duration, self;	/* ns, where timed */
	/*
	 * The thread, or the CPU's interrupts.  A call that ended is not among its frames any
	 * more, a call that begins not yet.
	 */
	struct ct_track *track;
};

/* ----------------------------------------------------------------- spans --- */

enum ct_span_kind {
	CT_SPAN_CALL,		/* a call, or a function of the driver */
	CT_SPAN_INSTANT,	/* no duration; a call that is only counted has an op_id */
	CT_SPAN_RANGE,		/* from range_push to range_pop, which are instants, too */
	CT_SPAN_GPU,		/* the GPU worked */
	CT_SPAN_SWITCH,		/* a thread was off its CPU */
};

/* Bits of ct_span.flags. */
#define CT_SPAN_TIMED		1u	/* its duration is known, by its end self time too */
#define CT_SPAN_FAILED		2u	/* it returned, and not with success */
#define CT_SPAN_UNFINISHED	4u	/* it never returned, or its end was lost */
#define CT_SPAN_ABANDONED	8u	/* left by longjmp or an exception: never timed */
#define CT_SPAN_BEGIN_LOST	16u
#define CT_SPAN_AT_ENTRY	32u	/* it was recorded at its entry, too */
#define CT_SPAN_NESTED		64u	/* it is inside a call of its category */
#define CT_SPAN_INNER_IOCTL	128u	/* it is inside an ioctl that is seen from the same side */

struct ct_span {
	enum ct_span_kind kind;
	unsigned int flags;		/* CT_SPAN_* */
	const struct ct_class *class;
	/*
	 * Valid until the span function returns; of a range the record of its push.  Where the call
	 * never returned only class, pid, tid, cpu and flags are set, and fields is NULL.
	 */
	const struct ct_record *record;
	/* The record at its entry, if that is in the trace; valid as long, with fields.  Else NULL. */
	const struct ct_record *entry;
	/* Calls around it are among its frames; not those of a call without an end that comes last. */
	const struct ct_track *track;
	const struct ct_cause *cause;	/* of the GPU's work, where it is known; else NULL */
	uint32_t pid, tid;
	uint32_t depth;			/* calls of its thread around it; of a range: ranges */
	uint64_t op_id;			/* from 1 in the order of begins; 0: not a call */
	/*
	 * What has no op_id: from 1 in the order of time, a number for each instant.  A range has those
	 * of its push and its pop.
	 */
	uint64_t number, pop;
	uint64_t parent;		/* op_id of the call around it, of the GPU's work of its cause; 0: none */
	/* From where it was called, a node (trace/stacks/stacks.h); of the GPU's work its cause.  0: not known. */
	uint32_t stack;
	uint64_t begin, end;		/* ns; end is begin where there is none */
	uint64_t duration, self;	/* ns; 0: not known */
	uint64_t left;			/* ns: of a call without an end, when its thread was seen outside it; 0: never */
	unsigned int category;		/* as in struct ct_trace_event */
	bool     kernel, api;		/* the same */
};

#define CT_WANTS_EVENTS		1u
#define CT_WANTS_SPANS		2u

#define CT_SPANS_BY_END		1u
#define CT_SPANS_BY_BEGIN	2u

/*
 * Open ranges, of a track and in all.  No program has as many, but anyone may have written the
 * trace: those inside are left out.
 */
#define CT_RANGES_DEPTH		4096u
#define CT_RANGES_OPEN		(1u << 17)

/* ------------------------------------------------------------------ pass --- */

/* What the whole trace holds.  Complete after the pass. */
struct ct_totals {
	uint64_t points;		/* begins, ends and instants */
	uint64_t first, last;		/* ns, of points; both 0: there are none */
	unsigned int processes, threads;
	uint64_t ranges_deep;		/* ranges beyond CT_RANGES_DEPTH or CT_RANGES_OPEN */
	uint64_t pops;			/* without a push */
};

/* A call that was recorded at its entry and has not ended.  A trace may have as many as records: it is small. */
struct ct_open_call {
	uint64_t op_id, begin, parent, left;
	const uint8_t *fields;		/* of the record, which stay mapped */
	uint32_t pid, tid, depth, stack;
	uint32_t track;			/* index */
	int32_t  cpu;
	uint16_t class, text_len;
	uint16_t source;		/* + 1; 0: none */
	uint8_t  flags;			/* of the record */
	uint8_t  inside;		/* CT_SPAN_NESTED, CT_SPAN_INNER_IOCTL */
};

/* A pass.  The caller sets what is above the line, and zeros. */
struct ct_spans {
	const struct ct_trace *trace;
	/* Each returns 0 or a negative errno, which ends the pass.  NULL: wants() never says CT_WANTS_EVENTS. */
	int (*event)(void *arg, const struct ct_trace_event *e);
	/* @orders: CT_SPANS_BY_*, those in which it is this span's turn */
	int (*span)(void *arg, const struct ct_span *span, unsigned int orders);
	unsigned int orders;		/* CT_SPANS_BY_*, those that are asked for */
	/* What is asked for of this class: CT_WANTS_*.  Is called once for each. */
	unsigned int (*wants)(void *arg, const struct ct_class *class);
	void *arg;
	bool samples;			/* samples, of threads and of GPUs, are instants, too; else they are left out */
	/* ---- */
	struct ct_totals totals;
	struct ct_tracks tracks;
	/* Internal. */
	struct ct_spans_class *classes;	/* by id */
	CT_KEYED(struct ct_open_call) open;
	uint64_t instants;
	uint32_t ranges;		/* open ones of all tracks */
};

/**
 * ct_spans_run() - one pass over a trace
 *
 * An event comes before the span that is complete with it.  Memory is bounded by the tracks, and
 * by the calls and ranges that are open at a moment.
 *
 * Return: 0; -ENOMEM; what a function returned.  ct_spans_free() frees, also after an error.
 */
int ct_spans_run(struct ct_spans *s);
void ct_spans_free(struct ct_spans *s);

#endif
