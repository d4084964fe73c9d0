/* SPDX-License-Identifier: GPL-2.0 */
/* Traced processes: those of which the session has a process record. */
#ifndef CT_TRACED_H
#define CT_TRACED_H

#include <linux/bitops.h>
#include <linux/threads.h>
#include <linux/types.h>

#ifdef CONFIG_TRACEPOINTS
/* One bit a process, by tgid.  NULL: nobody needs to know. */
extern unsigned long *ct_traced_bits;

/* ct_traced_set - a record of this process was written.  Any context, preemption disabled. */
static __always_inline void ct_traced_set(u32 tgid)
{
	unsigned long *bits = READ_ONCE(ct_traced_bits);

	if (bits && tgid < PID_MAX_LIMIT && !test_bit(tgid, bits))
		set_bit(tgid, bits);
}

/* ct_traced - is this process traced?  Any context, preemption disabled. */
static __always_inline bool ct_traced(u32 tgid)
{
	unsigned long *bits = READ_ONCE(ct_traced_bits);

	return bits && test_bit(tgid, bits);
}

/*
 * ct_traced_start - keep the bits from now on.  0 or -ENOMEM.
 * ct_traced_stop - free them.  When it returns, everything that ran with preemption disabled
 * before, and every handler of a tracepoint, has ended.
 * Both may sleep; the caller holds ct_session_lock.
 */
int ct_traced_start(void);
void ct_traced_stop(void);
#else
/* Only what tracepoints tell depends on it. */
static inline void ct_traced_set(u32 tgid)
{
}
#endif

#endif
