/* SPDX-License-Identifier: GPL-2.0 */
/* Writing records of the module's own into the rings. */
#ifndef CT_RECORD_H
#define CT_RECORD_H

#include <linux/hardirq.h>
#include <linux/sched.h>
#include "limit.h"
#include "session.h"

/*
 * ct_context - where the running code runs: CT_F_TASK, SOFTIRQ, HARDIRQ or NMI.
 *
 * A handler of a breakpoint probe runs as if in an NMI inside a hard interrupt,
 * because the entry code of int3 counts both; one of each is taken off then.  (A
 * probed function that really runs in an NMI is nested in a second one.)
 */
static inline u8 ct_context(void)
{
	unsigned int pc = preempt_count();
	unsigned int nmi = (pc & NMI_MASK) >> NMI_SHIFT;
	unsigned int hard = (pc & HARDIRQ_MASK) >> HARDIRQ_SHIFT;

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

/* Write the process record of the current task: see ct_record_new(). */
void ct_record_process(struct ct_cpu *cpu, u64 key);

/*
 * ct_record_new - reserve a record and fill its head, but for duration and result.
 * @size:	bytes of the payload, a multiple of 8
 * @context:	as ct_context() says; a record outside a task has pid and tid 0,
 *		because the task that was interrupted has nothing to do with it
 * Before a task's first record on a CPU, a process record is written; an exec gives
 * the process a new mm: it is told again, with its new name.
 * @records:	how many there are in it, whose heads the caller then writes itself
 * Preemption must be disabled until ct_record_done().
 * Returns NULL when it is lost (counted by the ring, or by the limits).
 */
static __always_inline struct ct_cpu_record *
ct_record_new(struct ct_cpu *cpu, u16 class, u32 size, u8 context, u64 *stamp,
	      u32 records)
{
	struct task_struct *task = current;
	struct ct_cpu_record *rec;
	u32 tgid = task->tgid, charge = U32_MAX;
	u64 key;

	if (likely(!context)) {
		if (static_branch_unlikely(&ct_limiting) &&
		    !ct_limit_take(cpu, sizeof(*rec) + size, records, &charge))
			return NULL;
		key = (u64)tgid << 32 ^ (unsigned long)task->mm >> 6;
		if (unlikely(cpu->seen[tgid % CT_SEEN_SLOTS] != key))
			ct_record_process(cpu, key);
	}
	rec = ct_ring_reserve(&cpu->ring, sizeof(*rec) + size, stamp, records);
	if (unlikely(!rec)) {
		if (static_branch_unlikely(&ct_limiting) && !context)
			ct_limit_give_back(cpu, sizeof(*rec) + size, charge);
		return NULL;
	}
	rec->stamp = CT_STAMP(*stamp, class);
	rec->pid = context ? 0 : tgid;
	rec->tid = context ? 0 : task->pid;
	return rec;
}

static __always_inline void ct_record_done(struct ct_cpu *cpu, u32 records)
{
	ct_ring_commit(&cpu->ring, records);
	ct_session_wake(cpu->s);
}

#endif
