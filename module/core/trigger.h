/* SPDX-License-Identifier: GPL-2.0 */
/* What makes a watcher take a snapshot. */
#ifndef CT_TRIGGER_H
#define CT_TRIGGER_H

#include <linux/compiler.h>
#include "probes/probe.h"
#include "core/session.h"

/* CT_IOC_TRIGGER's, 0 while there is none. */
extern struct ct_trigger_set ct_trigger;

/* -EINVAL for an unknown flag.  The caller holds ct_session_lock. */
int ct_trigger_set(const struct ct_trigger_set *arg);

/* Does this call, whose record is written and not yet committed, fire one? */
void ct_trigger_test(struct ct_cpu *cpu, const struct ct_kprobe *p, const struct ct_call *c,
		     u64 duration, const struct ct_cpu_record *rec);

/* Any context; preemption is disabled. */
static inline void ct_trigger_call(struct ct_cpu *cpu, const struct ct_kprobe *p,
				   const struct ct_call *c, u64 duration,
				   const struct ct_cpu_record *rec)
{
	if (unlikely(READ_ONCE(ct_trigger.flags)))
		ct_trigger_test(cpu, p, c, duration, rec);
}

#endif
