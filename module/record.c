// SPDX-License-Identifier: GPL-2.0
/*
 * Records that the module writes itself: who a task is.
 * Runs in any context; must never sleep.
 */
#include <linux/cred.h>
#include <linux/kernel.h>
#include <linux/rcupdate.h>
#include "record.h"

void ct_record_who(struct ct_process *p)
{
	rcu_read_lock();
	p->ppid = rcu_dereference(current->real_parent)->tgid;
	rcu_read_unlock();
	p->uid = __kuid_val(current_uid());
}

/* Say who the current task's process is: parent, user, command name. */
void ct_record_process(struct ct_cpu *cpu, u64 key)
{
	u32 fixed = offsetof(struct ct_process, text) + sizeof(u16);
	u32 text = CT_TEXT_BYTES(fixed, TASK_COMM_LEN);
	struct ct_cpu_record *rec;
	struct ct_process *p;
	u64 stamp;
	u32 charge = U32_MAX;

	if (static_branch_unlikely(&ct_limiting) &&
	    !ct_limit_take(cpu, sizeof(*rec) + fixed + text, 0, &charge))
		return;
	/* Nobody asked for it: not told now, it is tried again and not counted lost. */
	rec = ct_ring_reserve(&cpu->ring, sizeof(*rec) + fixed + text, &stamp, 0);
	if (!rec) {
		if (static_branch_unlikely(&ct_limiting))
			ct_limit_give_back(cpu, sizeof(*rec) + fixed + text, charge);
		return;
	}
	cpu->seen[current->tgid % CT_SEEN_SLOTS] = key;
	rec->stamp = CT_STAMP(stamp, CT_CLASS_process);
	rec->pid = current->tgid;
	rec->tid = current->pid;
	rec->op = 0;
	rec->duration = CT_DURATION(0, 0, CT_F_INSTANT | CT_F_NO_RESULT);
	rec->result = 0;
	p = (void *)(rec + 1);
	ct_record_who(p);
	p->text = text;
	memset((char *)p + fixed, 0, text);
	/* The leader's name is the process's; a torn copy only looks odd. */
	memcpy((char *)p + fixed, current->group_leader->comm, TASK_COMM_LEN - 1);
	ct_ring_commit(&cpu->ring, 1);
}
