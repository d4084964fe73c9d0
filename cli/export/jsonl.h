/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * JSON Lines: one object a line for every point of a trace.
 *
 * Words: event_id, ts (ms since the trace began), ts_ns (CLOCK_MONOTONIC), layer,
 * type, op, name, symbol (where it isn't the name), phase, pid, tid, cpu where
 * known, for calls op_id and depth; an E has duration_us and result (the name of
 * the code, or the number where it has no name) with result_code.  What a call is
 * about (type, op, size, direction, threads, kernel and an ioctl's cmd) stands on
 * E and I lines, so that each call is counted once; a B has its layer's type.
 * details has the arguments: on a B those that were known then.
 */
#ifndef CT_CLI_JSONL_H
#define CT_CLI_JSONL_H

#include "trace/merge.h"
#include "trace/names.h"
#include "base/out.h"

struct ct_jsonl {
	struct ct_out out;
	struct ct_names names;
	const struct ct_registry *reg;
	char **begin_words, **end_words;	/* by class: what doesn't change */
	uint64_t events;			/* lines written */
};

/* 0 or -ENOMEM.  @reg must outlive it; @fd stays the caller's. */
int ct_jsonl_open(struct ct_jsonl *j, const struct ct_registry *reg, int fd);
void ct_jsonl_point(struct ct_jsonl *j, const struct ct_point *p);

/* Writes what is left and frees; 0 or the first error of writing. */
int ct_jsonl_close(struct ct_jsonl *j);

/* "details" as an object: all fields, or for a B those known at entry. */
void ct_json_details(struct ct_out *out, struct ct_names *names, const struct ct_record *r,
		     bool begin);

/* The threads of a launch: grid times block; 0 if it is none. */
uint64_t ct_launch_threads(const struct ct_record *r);

#endif
