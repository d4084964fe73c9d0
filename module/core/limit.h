/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Limits of a producer: records and bytes per second, and its share of a lossless ring.
 * Without limits they cost a record one patched-out jump.
 */
#ifndef CT_LIMIT_H
#define CT_LIMIT_H

#include <linux/jump_label.h>
#include <linux/types.h>
#include <asm/local64.h>
#include "core/producer.h"
#include "core/session.h"
#include "cudatrace.h"

struct task_struct;

/* On while the running session has a limit: writers test it before they charge. */
DECLARE_STATIC_KEY_FALSE(ct_limiting);

/*
 * ct_limit_charge - charge size bytes to the current task's producer.  If it has no rate, the
 * task's next records may use ct_limit_spend().
 * @records:	how many records the bytes hold
 *
 * Returns the counter to which they were charged; NULL if the producer is throttled: the records
 * are counted as lost.
 * Task context with preemption disabled.  A charge may interrupt another one.
 */
local64_t *ct_limit_charge(struct ct_cpu *cpu, u32 size, u32 records);

/*
 * ct_limit_charge_task - the same for one record about another task, to which it is
 * charged.  Any context, also with locks of the scheduler held; preemption must be
 * disabled, and the caller makes sure that task is not freed.
 */
local64_t *ct_limit_charge_task(struct ct_cpu *cpu, struct task_struct *task, u32 size);

/*
 * ct_limit_spend - charge size bytes to the task whose records were charged last, in its context.
 * Returns its counter; NULL if its share has to be looked at again.
 */
static __always_inline local64_t *ct_limit_spend(struct ct_cpu *cpu, u32 size)
{
	local64_t *charged = cpu->charged;

	if (unlikely(local64_read(charged) + size > READ_ONCE(cpu->charged_max)))
		return NULL;
	local64_add(size, charged);
	return charged;
}

/* ct_limit_uncharge - undo it, if the ring did not take the records.  charged may be NULL. */
static inline void ct_limit_uncharge(local64_t *charged, u32 size)
{
	if (charged)
		local64_sub(size, charged);
}

/* To whom the records of a thread buffer are charged: set when it is made. */
struct ct_producer {
	u64 user;	/* ct_producer_of(): user or container */
	u64 process;
	u64 cgroup;
};

/* ct_limit_producer - fill producer from the current task.  Task context. */
void ct_limit_producer(struct ct_producer *producer);

/*
 * ct_limit_charge_late - charge records of a thread buffer to a producer's rates, however long
 * ago they were written.  The share is not charged, because they take no room in a ring.
 * @ns:		the time to which they are charged
 *
 * Returns true if they are within the rates; false if they are throttled, in which case the
 * caller counts them as lost.  One call at a time for a session, in process context; the session
 * may have ended.
 */
bool ct_limit_charge_late(struct ct_session_state *s, const struct ct_producer *producer, u64 ns,
			  u32 size, u32 records);

/*
 * The limits of a session.  All functions are for process context and may sleep.
 * ct_limit_init - set the defaults.  Returns 0 or -ENOMEM; call ct_limit_free() in both
 *	cases.
 * ct_limit_begin, ct_limit_end - from here on writers charge, or do not charge, their
 *	records.  The caller holds ct_session_lock.
 * ct_limit_set - CT_IOC_LIMITS.  Returns 0, -EINVAL, or -EOPNOTSUPP without cgroups.  The caller
 *	holds ct_session_lock.
 * ct_limit_get - fill arg with the limits and the use of the table, keeping arg->size.
 */
int ct_limit_init(struct ct_session_state *s, bool lossless);
void ct_limit_begin(struct ct_session_state *s);
void ct_limit_end(struct ct_session_state *s);
void ct_limit_free(struct ct_session_state *s);
int ct_limit_set(struct ct_session_state *s, const struct ct_limits *arg);
void ct_limit_get(const struct ct_session_state *s, struct ct_limits *arg);

#endif
