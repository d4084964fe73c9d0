/* SPDX-License-Identifier: GPL-2.0 */
/* Writing records of the module's own into the rings. */
#ifndef CT_RECORD_H
#define CT_RECORD_H

#include <linux/bitops.h>
#include <linux/hardirq.h>
#include <linux/sched.h>
#include "core/limit.h"
#include "core/session.h"

/*
 * ct_context - where the running code runs: CT_F_TASK, SOFTIRQ, HARDIRQ or NMI.
 *
 * A handler of a breakpoint probe runs as if in an NMI inside a hard interrupt,
 * because the entry code of int3 counts both; one of each is taken off then.  (A
 * probed function that really runs in an NMI is nested in a second one.)
 */
static __always_inline u8 ct_context(void)
{
	unsigned int pc = preempt_count();
	unsigned int nmi, hard;

	if (likely(!(pc & (NMI_MASK | HARDIRQ_MASK | SOFTIRQ_OFFSET))))
		return CT_F_TASK;
	nmi = (pc & NMI_MASK) >> NMI_SHIFT;
	hard = (pc & HARDIRQ_MASK) >> HARDIRQ_SHIFT;
	if (nmi) {
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

/* The parent and the user of the current task, as the initial namespaces number them. */
void ct_record_who(struct ct_process *p);

/* pid and tid of the current task as they stand in a record's head. */
static __always_inline u64 ct_who(const struct task_struct *task)
{
	/* Side by side in the task, the other way round. */
	if (offsetof(struct task_struct, tgid) ==
	    offsetof(struct task_struct, pid) + sizeof(pid_t))
		return rol64(*(const u64 *)&task->pid, 32);
	return (u64)task->pid << 32 | (u32)task->tgid;
}

/*
 * Write the process record of the current task, if this CPU has not; key is told
 * when it has.
 */
void ct_record_process(struct ct_cpu *cpu, u64 key);

/*
 * ct_record_tell - before a record of the current task, whose ct_who() is who: its first
 * on a CPU comes behind a process record.  An exec gives the process a new mm: it is
 * told again, with its new name.
 */
static __always_inline void ct_record_tell(struct ct_cpu *cpu, u64 who)
{
	u64 key = who ^ (unsigned long)current->mm;

	if (unlikely(cpu->reported != key))
		ct_record_process(cpu, key);
}

/* ct_record_reserve() within the limits of the current task. */
struct ct_reservation ct_record_reserve_limited(struct ct_cpu *cpu, u32 size, u64 who, u32 records);

/*
 * ct_record_reserve - room for records of the current task, whose ct_who() is who.
 * @task:	false outside a task
 * As ct_ring_reserve(), with ct_record_done() when they are written.
 */
static __always_inline struct ct_reservation ct_record_reserve(struct ct_cpu *cpu, u32 size,
							       u64 who, bool task, u32 records)
{
	if (likely(task)) {
		if (static_branch_unlikely(&ct_limiting))
			return ct_record_reserve_limited(cpu, size, who, records);
		ct_record_tell(cpu, who);
	}
	return ct_ring_reserve(&cpu->ring, size, records);
}

/*
 * ct_record_new - reserve a record and fill its head, but for op, duration and result.
 * @size:	bytes of the payload, a multiple of 8
 * @context:	as ct_context() says; a record outside a task has pid and tid 0,
 *		because the task that was interrupted has nothing to do with it
 * @stamp:	out: its time
 * Preemption must be disabled until ct_record_done().
 * Returns NULL when it is lost (counted by the ring, or by the limits).
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

static __always_inline void ct_record_done(struct ct_cpu *cpu, u32 records)
{
	ct_ring_commit(&cpu->ring, records);
	ct_session_wake(cpu);
}

#endif
