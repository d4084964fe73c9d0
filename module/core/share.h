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
 * @remember:	they are of the current task, whose next records may use ct_share_spend()
 * Returns the entry's counter; NULL if it would hold more: then nothing was charged.
 */
local64_t *ct_share_charge(struct ct_cpu *cpu, u32 entry, u32 size, u64 most, bool remember);

/* ct_share_settle - forget whose records were charged last, and what it may charge. */
static inline void ct_share_settle(struct ct_cpu *cpu)
{
	WRITE_ONCE(cpu->charged_max, 0);
}

/*
 * ct_share_spend - charge size bytes to the task whose records were charged last.  Returns its
 * counter; NULL if its share has to be looked at again.
 */
static __always_inline local64_t *ct_share_spend(struct ct_cpu *cpu, u32 size)
{
	local64_t *charged = cpu->charged;

	if (unlikely(local64_read(charged) + size > READ_ONCE(cpu->charged_max)))
		return NULL;
	local64_add(size, charged);
	return charged;
}

#endif
