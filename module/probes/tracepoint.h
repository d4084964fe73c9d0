/* SPDX-License-Identifier: GPL-2.0 */
/* Tables of tracepoints, each of which is a source: looked up by name and registered. */
#ifndef CT_TRACEPOINT_H
#define CT_TRACEPOINT_H

#include <linux/notifier.h>
#include <linux/types.h>
#include "probes/count.h"
#include "core/source.h"

struct tracepoint;

/* A row: one tracepoint and the handler that is registered on it. */
struct ct_tracepoint {
	const char *point; /* the tracepoint's name */
	const char *name; /* of the event class of its records */
	const char *module; /* the module that has it; "": the kernel */
	enum ct_group group;
	u8 category;
	u8 op;
	u8 layout;
	bool threads; /* the handler uses thread.h */
	bool anywhere; /* another module may have it, too: the handler follows no argument */
	void *handler;

	/* Under a lock of tracepoint.c; class is set before the handler is registered. */
	u16 class;
	u16 state; /* enum ct_probe_state */
	s32 error;
	struct tracepoint *tp; /* NULL: nothing that is loaded has it */
	struct ct_count __percpu *count;
};

#define CT_TRACEPOINT(m, p, n, g, c, l, h) \
	.module = (m), .point = (p), .name = (n), .group = CT_GROUP_##g, .category = CT_CAT_##c, \
	.layout = CT_LAYOUT_##l, .handler = (h)

struct ct_tracepoint_table {
	/* Filled in by its owner. */
	struct ct_tracepoint *row;
	u32 count;

	struct ct_source source;
	struct notifier_block notifier;
	u64 wanted; /* groups of the running session; 0: none is running */
	bool threads; /* ct_thread_start() succeeded for it */
};

/*
 * ct_tracepoint_add - look up the tracepoints and register the table as a source.  May sleep,
 * takes ct_session_lock.  0 or -ENOMEM.
 * ct_tracepoint_remove - the table is disarmed.
 */
int ct_tracepoint_add(struct ct_tracepoint_table *table);
void ct_tracepoint_remove(struct ct_tracepoint_table *table);

#endif
