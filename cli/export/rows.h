/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A trace as flat rows: one for each call and one for each instant, for formats that are
 * tables.  A call's row comes when the call has ended, so rows are in the order of their ends.
 */
#ifndef CT_CLI_ROWS_H
#define CT_CLI_ROWS_H

#include "analysis/engine.h"
#include "base/error.h"

struct ct_row {
	const struct ct_class *class;
	/* What was recorded; NULL: the call never returned and only its begin is known. */
	const struct ct_record *record;
	bool     call;			/* it has an op_id; else an instant */
	bool     timed;			/* end, duration and self are known */
	bool     unfinished;		/* it never returned, or its end was lost */
	bool     abandoned;		/* left by longjmp or an exception: never timed */
	bool     begin_lost;
	bool     failed;		/* it returned, and not with success */
	bool     nested;		/* it is inside a call of its category */
	bool     inner_ioctl;		/* it is inside an ioctl that is seen from the same side */
	uint32_t pid, tid;
	int32_t  cpu;			/* CT_NO_CPU: not known */
	uint32_t depth;			/* calls of its thread around it */
	/* parent: op_id of the call around it, of the GPU the call that caused it; 0: none */
	uint64_t op_id, parent;
	uint64_t begin, end;		/* ns of the trace's clock; of an instant both the same */
	uint64_t duration, self;	/* ns, where timed; self: without the calls inside it */
	unsigned int category;		/* CT_CAT_*: that it counts for */
};

struct ct_rows_user {
	const struct ct_trace *trace;
	struct ct_names *names;			/* readable names of kernels */
	const struct ct_processes *processes;	/* names, those that are known so far */
	void *arg;				/* the caller's */
};

/**
 * ct_rows() - gives each row of a trace to a function
 * @row: returns 0, or a negative errno, which ends the pass; what it is given is valid until
 *	it returns.  Calls that never returned come last.
 * @end: called once after the last row, or not at all after an error; may be NULL
 *
 * Return: 0; -ENOMEM; what @row or @end returned.
 */
int ct_rows(const struct ct_trace *t, int (*row)(struct ct_rows_user *user, const struct ct_row *row),
	    int (*end)(struct ct_rows_user *user), void *arg);

#endif
