/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Calls in the order of their starts, each with all that is known of it.  A call that has one
 * record is complete where it begins: the point of its begin has the record.  A call that was
 * recorded at its entry, too, is complete where it ends.
 */
#ifndef CT_CLI_STARTS_H
#define CT_CLI_STARTS_H

#include "analysis/engine.h"
#include "base/keyed.h"

/* A call without a record of its end. */
struct ct_start {
	uint64_t op_id, begin;
	const struct ct_class *class;
	uint32_t pid, tid, depth;
};

/* Calls that were recorded at their entry and are open.  Zeros: none. */
struct ct_starts {
	CT_KEYED(struct ct_start) entries;
	uint64_t late;			/* calls that were complete at their ends only */
};

#define CT_ON_STARTS	(CT_ON_BEGIN | CT_ON_END | CT_ON_INSTANT)

/**
 * ct_starts_event() - is a call complete with this event?
 *
 * The record of @e then has the call's fields, unless @e->point->open: that call never returned.
 *
 * Return: 1: it is; 0: it isn't, or it was with its begin; -ENOMEM.
 */
int ct_starts_event(struct ct_starts *s, const struct ct_trace_event *e);

/* The duration of a complete call, CT_CELL_NS; nothing if it is not known. */
struct ct_cell ct_starts_duration(const struct ct_trace_event *e);

/* After the last event: sorts the calls that never returned, by their begin. */
void ct_starts_sort(struct ct_starts *s);
void ct_starts_free(struct ct_starts *s);

#endif
