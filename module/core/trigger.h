/* SPDX-License-Identifier: GPL-2.0 */
/* Triggers: what makes a recorder in user space take a snapshot. */
#ifndef CT_TRIGGER_H
#define CT_TRIGGER_H

#include <linux/compiler.h>
#include "core/session.h"

/* As CT_IOC_TRIGGER has set it; all zero: no trigger. */
extern struct ct_trigger_set ct_trigger;

/* ct_trigger_set - replace it.  -EINVAL: unknown flag.  The caller holds ct_session_lock. */
int ct_trigger_set(const struct ct_trigger_set *arg);

/* ct_trigger_armed - must calls be tested?  Any context. */
static __always_inline bool ct_trigger_armed(void)
{
	return unlikely(READ_ONCE(ct_trigger.flags));
}

/*
 * ct_trigger_test - does this call fire the trigger?
 * @rec:	its record, written and not yet committed
 * @duration:	ns
 * @io:		the record's payload if it is an ioctl of the driver, else NULL
 * @xid:	the number of the Xid if the call reports one, else NULL
 * Any context; preemption is disabled.
 */
void ct_trigger_test(struct ct_cpu *cpu, const struct ct_cpu_record *rec, u64 duration,
		     const struct ct_ioctl *io, const unsigned long *xid);

#endif
