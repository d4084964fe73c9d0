/* SPDX-License-Identifier: GPL-2.0 */
/* How much of a lossless ring each producer holds, by its entry in the table of limit.c. */
#ifndef CT_SHARE_H
#define CT_SHARE_H

#include <linux/compiler.h>
#include <linux/types.h>
#include "core/producer.h"
#include "core/session.h"
#include "base/compat.h"

/*
 * ct_share_init - make what the shares of this CPU's ring need.  Returns 0 or -ENOMEM.  May sleep.
 * ct_share_free - free it; cpu may have none.
 */
int ct_share_init(struct ct_cpu *cpu, u32 subbuf_count);
void ct_share_free(struct ct_cpu *cpu);

/*
 * The functions below are for the ring's CPU, with preemption disabled, in any context.
 *
 * ct_share_charge - charge size bytes to an entry.
 * @most:	bytes that it may hold
 * @advance:	they are of the current task: it is also given an advance for its next records
 * Returns false if it would hold more; then nothing was charged.
 */
bool ct_share_charge(struct ct_cpu *cpu, u32 entry, u32 size, u64 most, bool advance);

/* ct_share_uncharge - undo it, if the ring did not take the records. */
void ct_share_uncharge(struct ct_cpu *cpu, u32 entry, u32 size);

/* ct_share_settle - take back what is left of the advance. */
void ct_share_settle(struct ct_cpu *cpu);

/*
 * ct_share_spend - take size bytes from the advance of the task whose records were charged last.
 * Returns the entry to which they were charged, for ct_share_uncharge(); -1 if it is not enough.
 */
static __always_inline int ct_share_spend(struct ct_cpu *cpu, u32 size)
{
	s64 advance = local64_read(&cpu->advance);
	s64 rest = advance - ((s64)size << CT_PRODUCER_BITS);

	if (unlikely(rest < 0 || !ct_local64_replace(&cpu->advance, advance, rest)))
		return -1;
	return advance & (CT_PRODUCERS - 1);
}

/*
 * ct_share_idle - does the entry hold nothing of this CPU's ring, but for the packet that is open
 * now?  That one is closed only when the CPU records again.  Any CPU and context.
 */
bool ct_share_idle(const struct ct_cpu *cpu, u32 entry);

#endif
