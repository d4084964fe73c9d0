/* SPDX-License-Identifier: GPL-2.0 */
/* Writing a record into the ring of this CPU. */
#ifndef CT_RECORD_H
#define CT_RECORD_H

#include <linux/bitops.h>
#include <linux/hardirq.h>
#include <linux/sched.h>
#include "core/limit.h"
#include "core/session.h"

/*
 * ct_context - the context of the running code: CT_F_TASK, SOFTIRQ, HARDIRQ or NMI.
 * @breakpoint:	it is the handler of a breakpoint: ct_in_breakpoint().  It looks as if it ran in
 *		an NMI inside a hard interrupt, because the entry code of int3 counts both, as
 *		that of an NMI does.  So one of each is subtracted.
 */
static __always_inline u8 ct_context(bool breakpoint)
{
	unsigned int pc = preempt_count();
	unsigned int nmi, hard;

	if (likely(!(pc & (NMI_MASK | HARDIRQ_MASK | SOFTIRQ_OFFSET))))
		return CT_F_TASK;
	nmi = (pc & NMI_MASK) >> NMI_SHIFT;
	hard = (pc & HARDIRQ_MASK) >> HARDIRQ_SHIFT;
	if (nmi && breakpoint) {
		nmi--;
		if (hard)
			hard--;
	}
	if (nmi)
		return CT_F_NMI;
	if (hard)
		return CT_F_HARDIRQ;
	return pc & SOFTIRQ_OFFSET ? CT_F_SOFTIRQ : CT_F_TASK;
}

/* ct_record_who - the current task's parent and user, as numbered in the initial namespaces. */
void ct_record_who(struct ct_process *p);

/* ct_who - pid and tid of a task, as a record's head has them. */
static __always_inline u64 ct_who(const struct task_struct *task)
{
	/* In the task they are neighbours, in the other order. */
	if (offsetof(struct task_struct, tgid) ==
	    offsetof(struct task_struct, pid) + sizeof(pid_t))
		return rol64(*(const u64 *)&task->pid, 32);
	return (u64)task->pid << 32 | (u32)task->tgid;
}

/*
 * ct_record_process - write the process record of the current task unless this CPU has written it,
 * and remember key for ct_record_report().
 */
void ct_record_process(struct ct_cpu *cpu, u64 key);

/*
 * ct_record_report - before a record of the current task, whose ct_who() is who: before its first
 * record on this CPU it writes a process record.  After exec the process has a new mm, so it is
 * reported again with its new name.
 */
static __always_inline void ct_record_report(struct ct_cpu *cpu, u64 who)
{
	u64 key = who ^ (unsigned long)current->mm;

	if (unlikely(cpu->reported != key))
		ct_record_process(cpu, key);
}

/* ct_record_reserve() within the limits of the current task. */
struct ct_reservation ct_record_reserve_limited(struct ct_cpu *cpu, u32 size, u64 who, u32 records);

/*
 * ct_record_reserve - reserve space for records of the current task, whose ct_who() is who.
 * @task:	false outside a task
 * As ct_ring_reserve(); ct_record_done() when they are written.
 */
static __always_inline struct ct_reservation ct_record_reserve(struct ct_cpu *cpu, u32 size,
							       u64 who, bool task, u32 records)
{
	if (likely(task)) {
		if (static_branch_unlikely(&ct_limiting))
			return ct_record_reserve_limited(cpu, size, who, records);
		ct_record_report(cpu, who);
	}
	return ct_ring_reserve(&cpu->ring, size, records);
}

/*
 * ct_record_new - reserve a record and fill in its head except op, duration and result.
 * @size:	bytes of the payload, a multiple of 8
 * @context:	as ct_context() returns it.  A record outside a task has pid and tid 0, because it
 *		has nothing to do with the task that was interrupted.
 * @stamp:	out: its time, ns
 * Any context; preemption must be disabled until ct_record_done().
 * Returns NULL if the record is lost; the ring or the limits have counted it.
 */
static __always_inline struct ct_cpu_record *
ct_record_new(struct ct_cpu *cpu, u16 class, u32 size, u8 context, u64 *stamp)
{
	struct ct_cpu_record *rec;
	struct ct_reservation room;
	u64 who = 0;

	if (likely(!context))
		who = ct_who(current);
	room = ct_record_reserve(cpu, sizeof(*rec) + size, who, !context, 1);
	rec = room.at;
	if (unlikely(!rec))
		return NULL;
	*stamp = room.stamp;
	rec->stamp = CT_STAMP(room.stamp, class);
	*(u64 *)&rec->pid = who;
	return rec;
}

/* ct_record_done - they are written: publish them. */
static __always_inline void ct_record_done(struct ct_cpu *cpu, u32 records)
{
	ct_ring_commit(&cpu->ring, records);
}

#endif
