/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The counters of a timeline: what a process has at a moment. */
#ifndef CT_CLI_COUNTERS_H
#define CT_CLI_COUNTERS_H

#include "analysis/memory/memory.h"
#include "export/slices/launches.h"

enum ct_slice_counter { CT_COUNTER_MEMORY, CT_COUNTER_LAUNCHES, CT_COUNTER_COUNT };

/* "device memory", "launches not known to be finished" */
extern const char *const ct_counter_name[CT_COUNTER_COUNT];

struct ct_counter_value {
	uint64_t pid;
	uint64_t value;			/* the last that was given */
};

struct ct_counters {
	/* Is told of each new value. */
	int (*give)(void *arg, enum ct_slice_counter which, uint32_t pid, uint64_t ts, uint64_t value);
	void *arg;
	struct ct_launches launches;
	CT_KEYED(struct ct_counter_value) given[CT_COUNTER_COUNT];
};

/* Gives the counters that an event has changed; @m has had the event.  0 or a negative errno. */
int ct_counters_event(struct ct_counters *c, const struct ct_memory *m, const struct ct_trace_event *e);
void ct_counters_free(struct ct_counters *c);

#endif
