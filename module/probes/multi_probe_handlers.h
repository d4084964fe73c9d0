/* SPDX-License-Identifier: GPL-2.0 */
/* The handlers of a multi-probe, and what they and multi_probe.c share. */
#ifndef CT_MULTI_PROBE_HANDLERS_H
#define CT_MULTI_PROBE_HANDLERS_H

#include <linux/kprobes.h>
#include <linux/list.h>
#include "probes/multi_probe_find.h"
#include "base/compat.h"
#ifdef CT_FTRACE_SITES
#include <linux/ftrace.h>
#endif

/* What one owner has armed.  See multi_probe.c. */
struct ct_multi_probe {
	struct list_head list;
	const void *owner;
	struct kretprobe hook; /* never armed */
#ifdef CT_FTRACE_SITES
	struct ftrace_ops ops;
#endif
	u32 sites; /* functions that ops is on */
	struct ct_table __rcu *table;
};

/* A function without an ftrace site. */
struct ct_plain {
	struct kprobe kp;
	struct ct_multi_probe *multi;
	struct ct_row row;
	struct ct_plain *next; /* of the same probe */
};

/* ct_multi_probe_set_hook - fill in m->hook, which must be registered next. */
void ct_multi_probe_set_hook(struct ct_multi_probe *m);

/* ct_multi_probe_set_ops - m->ops, on no function.  Only with CT_FTRACE_SITES. */
void ct_multi_probe_set_ops(struct ct_multi_probe *m);

/* ct_multi_probe_set_plain - fill in p->kp, from p->row. */
void ct_multi_probe_set_plain(struct ct_plain *p);

#endif
