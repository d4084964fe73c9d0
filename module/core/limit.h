/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What one producer may use of a session: so many records and bytes a second, and
 * so much of a lossless ring.  Costs a patched-out jump where nothing is limited.
 */
#ifndef CT_LIMIT_H
#define CT_LIMIT_H

#include <linux/jump_label.h>
#include <linux/types.h>
#include "cudatrace.h"

struct ct_cpu;
struct ct_session_state;
struct task_struct;

DECLARE_STATIC_KEY_FALSE(ct_limiting);

/*
 * ct_limit_charge - may the current task write size bytes now?
 * @records:	how many are lost if not: they are counted here
 * @charge:	out: for ct_limit_uncharge()
 *
 * Task context, preemption disabled; may be interrupted by another one of these.
 */
bool ct_limit_charge(struct ct_cpu *cpu, u32 size, u32 records, u32 *charge);

/*
 * ct_limit_charge_task - the same for one record about another task, which pays for it,
 * whoever writes it.  Any context, with locks of the scheduler held; preemption disabled;
 * task can't go away.
 */
bool ct_limit_charge_task(struct ct_cpu *cpu, struct task_struct *task, u32 size, u32 *charge);

/* ct_limit_uncharge - the ring did not take them: nothing was used of the share. */
void ct_limit_uncharge(struct ct_cpu *cpu, u32 size, u32 charge);

/* Who a thread buffer's records are charged to: fixed when it is made. */
struct ct_producer {
	u32 uid;
	u32 pid;
	u64 cgroup;
};

/* ct_limit_producer - the current task as a producer.  Task context. */
void ct_limit_producer(struct ct_producer *who);

/*
 * ct_limit_throttle - is there room in the rates for what this producer wrote?  Where not, the
 * caller counts it.  The rates alone: for what takes no room in a ring.
 * @ns:		the time that it is charged to
 *
 * Any context; the session may have ended.
 */
bool ct_limit_throttle(struct ct_session_state *s, const struct ct_producer *who, u64 ns, u32 size,
		       u32 records);

/*
 * The life of a session's limits, all of it in process context.
 * ct_limit_init - with the defaults; 0 or -ENOMEM (ct_limit_free() is called for both).
 * ct_limit_begin, ct_limit_end - writers begin to ask; the caller holds ct_session_lock.
 * ct_limit_set - as CT_IOC_LIMITS; -EINVAL.  The caller holds ct_session_lock.
 */
int ct_limit_init(struct ct_session_state *s, bool lossless);
void ct_limit_begin(struct ct_session_state *s);
void ct_limit_end(struct ct_session_state *s);
void ct_limit_free(struct ct_session_state *s);
int ct_limit_set(struct ct_session_state *s, const struct ct_limits *arg);
void ct_limit_get(const struct ct_session_state *s, struct ct_limits *arg);

#endif
