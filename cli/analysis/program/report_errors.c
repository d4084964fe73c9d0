// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The report errors: failed calls by function and result.  Memory is bounded by the number of
 * different failures, of which it keeps ERRORS_MAX: must never keep something for each record.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/engine.h"
#include "base/keyed.h"

#define ERRORS_MAX	4096	/* rows; a damaged trace may have any number of results */
#define ERRORS_PIDS	8	/* of a row */

enum { CALLS, NAME, RESULT, CODE, FIRST, LAST, PIDS, COLUMNS };

static const struct ct_column columns[COLUMNS] = {
	[CALLS] = { "Calls", "calls", CT_CELL_COUNT, 0 },
	[NAME] = { "Name", "name", CT_CELL_TEXT, 0 },
	[RESULT] = { "Result", "result", CT_CELL_TEXT, 0 },
	[CODE] = { "Code", "code", CT_CELL_TEXT, 3 },
	[FIRST] = { "First (ns)", "first", CT_CELL_TIME, 1 },
	[LAST] = { "Last (ns)", "last", CT_CELL_TIME, 2 },
	[PIDS] = { "Pids", "pids", CT_CELL_TEXT, 4 },
};

struct error {
	uint64_t key;			/* of class and number */
	const struct ct_class *class;
	const char *result;		/* NULL: it has no name */
	int64_t number;
	bool     status;		/* the number is an NV_STATUS */
	uint64_t count, first, last;	/* ns: where the calls began */
	uint32_t pids[ERRORS_PIDS];
	unsigned int pids_count;	/* ERRORS_PIDS + 1: more */
};

struct errors {
	CT_KEYED(struct error);
	uint64_t more;			/* failures that got no row */
};

/* What a failed call returned: an ioctl's own error, or else its RM status. */
static void errors_result(const struct ct_record *r, struct error *e)
{
	struct ct_failure f = ct_record_failure(r);

	e->number = f.code;
	e->status = f.status;
	e->result = ct_name_failure(r);
}

static void errors_add_pid(struct error *e, uint32_t pid)
{
	unsigned int i;

	for (i = 0; i < e->pids_count && i < ERRORS_PIDS; i++)
		if (e->pids[i] == pid)
			return;
	if (i < ERRORS_PIDS)
		e->pids[i] = pid;
	if (e->pids_count <= ERRORS_PIDS)
		e->pids_count++;
}

static int errors_event(struct ct_analysis *a, const struct ct_trace_event *e)
{
	struct error failure = { .class = e->class, .first = e->begin, .last = e->begin };
	struct errors *s = a->state;
	struct error *found;

	if (!e->failed)
		return 0;
	errors_result(e->record, &failure);
	failure.key = ct_mix(failure.number, e->class->id);
	if (s->count >= ERRORS_MAX && !ct_keyed_get(s, failure.key)) {
		s->more++;
		return 0;
	}
	found = ct_keyed_put(s, failure.key);
	if (!found)
		return -ENOMEM;
	if (!found->count)
		*found = failure;
	found->count++;
	/* Calls come by their ends: an outer one began before. */
	if (e->begin < found->first)
		found->first = e->begin;
	if (e->begin > found->last)
		found->last = e->begin;
	errors_add_pid(found, e->record->pid);
	return 0;
}

static int errors_compare(const void *a, const void *b)
{
	const struct error *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return x->class->id - y->class->id;
}

static void errors_row(const struct ct_analysis *a, struct ct_table *t, const struct error *e)
{
	struct ct_cell *row = ct_table_row(t);
	char pids[ERRORS_PIDS * 11 + 8] = "";
	size_t len = 0;

	for (unsigned int i = 0; i < e->pids_count && i < ERRORS_PIDS; i++)
		len += snprintf(pids + len, sizeof(pids) - len, i ? " %u" : "%u", e->pids[i]);
	if (e->pids_count > ERRORS_PIDS)
		snprintf(pids + len, sizeof(pids) - len, " ...");
	row[CALLS] = ct_u64(e->count);
	row[NAME] = ct_const(e->class->name);
	row[RESULT] = ct_const(e->result);
	if (e->status)
		row[CODE] = ct_format(t, "0x%llx", (unsigned long long)e->number);
	else
		row[CODE] = ct_format(t, "%lld", (long long)e->number);
	row[FIRST] = ct_moment(a, e->first);
	row[LAST] = ct_moment(a, e->last);
	row[PIDS] = ct_text(t, pids);
}

static int errors_end(struct ct_analysis *a)
{
	struct ct_table *t = ct_analysis_table(a, "errors",
		"Calls that failed, by function and result (driver's ioctls: its own status, too)",
		columns, COLUMNS);
	struct errors *s = a->state;

	if (s->count)
		qsort(s->list, s->count, sizeof(*s->list), errors_compare);
	for (size_t i = 0; i < s->count; i++)
		errors_row(a, t, &s->list[i]);
	if (s->more)
		ct_table_note(t, "%llu more failed calls had further results.",
			      (unsigned long long)s->more);
	return 0;
}

static void errors_free(struct ct_analysis *a)
{
	struct errors *s = a->state;

	ct_keyed_free(s);
}

const struct ct_analyser ct_report_errors = {
	.name = "errors",
	.summary = "failed calls by function and result, the first and the last of them",
	.single = true,
	.on = CT_ON_END | CT_ON_INSTANT,
	.state_size = sizeof(struct errors),
	.event = errors_event,
	.end = errors_end,
	.free = errors_free,
};
