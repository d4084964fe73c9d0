// SPDX-License-Identifier: LGPL-2.1-or-later
/* See counters.h. */
#include "export/slices/counters.h"

#include <errno.h>

#include "analysis/program/process_ends.h"

const char *const ct_counter_name[CT_COUNTER_COUNT] = {
	[CT_COUNTER_MEMORY] = "device memory",
	[CT_COUNTER_LAUNCHES] = "launches not known to be finished",
};

/* Gives a value that is another one than the last. */
static int counters_give(struct ct_counters *c, enum ct_slice_counter which,
			 const struct ct_trace_event *e, uint64_t value)
{
	struct ct_counter_value *last = ct_keyed_get(&c->given[which], e->record->pid);

	if (!last && !value)
		return 0;
	last = last ? last : ct_keyed_put(&c->given[which], e->record->pid);
	if (!last)
		return -ENOMEM;
	if (last->value == value)
		return 0;
	last->value = value;
	return c->give(c->arg, which, e->record->pid, e->point->ts, value);
}

int ct_counters_event(struct ct_counters *c, const struct ct_memory *m, const struct ct_trace_event *e)
{
	bool memory = e->kind == CT_ON_END ? ct_class_is(e->class, CT_IS_MEMORY) :
					     ct_program_begins(e) || ct_program_exits(e);
	int rc = ct_launches_event(&c->launches, e);

	if (!rc && memory)
		rc = counters_give(c, CT_COUNTER_MEMORY, e, ct_memory_held(m, e->record->pid));
	if (!rc && e->kind != CT_ON_BEGIN)
		rc = counters_give(c, CT_COUNTER_LAUNCHES, e,
				   ct_launches_open(&c->launches, e->record->pid));
	return rc;
}

void ct_counters_free(struct ct_counters *c)
{
	for (unsigned int i = 0; i < CT_COUNTER_COUNT; i++)
		ct_keyed_free(&c->given[i]);
	ct_launches_free(&c->launches);
}
