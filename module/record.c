// SPDX-License-Identifier: GPL-2.0
/*
 * Records that the module writes itself: the head of each, and who the task is.
 * Runs in any context; must never sleep.
 */
#include <linux/cred.h>
#include <linux/kernel.h>
#include <linux/rcupdate.h>
#include "record.h"

static void fill_head(struct ct_cpu_record *rec, u16 class, u8 context, u64 stamp)
{
	rec->stamp = CT_STAMP(stamp, class);
	rec->pid = context ? 0 : current->tgid;
	rec->tid = context ? 0 : current->pid;
}

/* Say who the current task's process is: parent, user, command name. */
static void write_process(struct ct_cpu *cpu)
{
	u32 fixed = offsetof(struct ct_process, text) + sizeof(u16);
	u32 text = CT_TEXT_BYTES(fixed, TASK_COMM_LEN);
	struct ct_cpu_record *rec;
	struct ct_process *p;
	u64 stamp;

	rec = ct_ring_reserve(&cpu->ring, sizeof(*rec) + fixed + text, &stamp);
	if (!rec)
		return;
	fill_head(rec, CT_CLASS_process, CT_F_TASK, stamp);
	rec->op = 0;
	rec->duration = CT_DURATION(0, 0, CT_F_INSTANT | CT_F_NO_RESULT);
	rec->result = 0;
	p = (void *)(rec + 1);
	rcu_read_lock();
	p->ppid = rcu_dereference(current->real_parent)->tgid;
	rcu_read_unlock();
	p->uid = from_kuid(&init_user_ns, current_uid());
	p->text = text;
	memset((char *)p + fixed, 0, text);
	/* The leader's name is the process's; a torn copy only looks odd. */
	memcpy((char *)p + fixed, current->group_leader->comm, TASK_COMM_LEN - 1);
	ct_ring_commit(&cpu->ring);
}

/* An exec gives the process a new mm: it is told again, with its new name. */
static inline void know_process(struct ct_cpu *cpu)
{
	u64 key = ((u64)current->tgid << 32) ^ ((unsigned long)current->mm >> 6);
	u64 *seen = &cpu->seen[current->tgid % CT_SEEN_SLOTS];

	if (unlikely(READ_ONCE(*seen) != key)) {
		WRITE_ONCE(*seen, key);
		write_process(cpu);
	}
}

struct ct_cpu_record *ct_record_new(struct ct_cpu *cpu, u16 class, u32 size,
				    u8 context, u64 *stamp)
{
	struct ct_cpu_record *rec;

	if (!context)
		know_process(cpu);
	rec = ct_ring_reserve(&cpu->ring, sizeof(*rec) + size, stamp);
	if (rec)
		fill_head(rec, class, context, *stamp);
	return rec;
}
