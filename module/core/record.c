// SPDX-License-Identifier: GPL-2.0
/*
 * Process records, which precede the first record of a process, and reserving within limits.
 * All of it runs in any context and must never sleep.
 */
#include <linux/cred.h>
#include <linux/kernel.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include "core/record.h"
#include "core/traced.h"

/*
 * A thread that ends is taken out of its process before it has left the kernel.  From then on the
 * leader and the parent may be freed, and the thread still points to them.
 */
void ct_record_who(struct ct_process *p)
{
	rcu_read_lock();
	p->ppid = pid_alive(current) ? rcu_dereference(current->real_parent)->tgid : 0;
	rcu_read_unlock();
	p->uid = __kuid_val(current_uid());
}

void ct_record_process(struct ct_cpu *cpu, u64 key)
{
	u64 process = (u64)current->tgid << 32 ^ (unsigned long)current->mm >> 6;
	u64 *seen = &cpu->seen[current->tgid % CT_PROCESSES_SEEN];
	u32 fixed = offsetof(struct ct_process, text) + sizeof(u16);
	u32 text = CT_TEXT_BYTES(fixed, TASK_COMM_LEN);
	const struct task_struct *named;
	struct ct_cpu_record *rec;
	struct ct_process *p;
	struct ct_reservation room;
	local64_t *charged = NULL;

	ct_traced_set(current->tgid);
	if (*seen == process) {
		cpu->reported = key; /* another thread of the process was reported */
		return;
	}
	if (static_branch_unlikely(&ct_limiting)) {
		charged = ct_limit_charge(cpu, sizeof(*rec) + fixed + text, 0);
		if (!charged)
			return;
	}
	/* Losing it counts as 0 records: the next record of the task tries again. */
	room = ct_ring_reserve(&cpu->ring, sizeof(*rec) + fixed + text, 0);
	rec = room.at;
	if (!rec) {
		ct_limit_uncharge(charged, sizeof(*rec) + fixed + text);
		return;
	}
	*seen = process;
	cpu->reported = key;
	rec->stamp = CT_STAMP(room.stamp, CT_CLASS_process);
	rec->pid = current->tgid;
	rec->tid = current->pid;
	rec->op = 0;
	rec->duration = CT_DURATION(0, 0, CT_F_INSTANT | CT_F_NO_RESULT);
	rec->result = 0;
	p = (void *)(rec + 1);
	ct_record_who(p);
	p->text = text;
	memset((char *)p + fixed, 0, text);
	/*
	 * The process is named like its leader, see above.  A name that changes meanwhile is only
	 * torn.  Disabled preemption keeps RCU from freeing the leader between the two.
	 */
	named = pid_alive(current) ? current->group_leader : current;
	memcpy((char *)p + fixed, named->comm, TASK_COMM_LEN - 1);
	/* Committed by itself: the record that follows it may be lost. */
	ct_record_done(cpu, 1);
}

struct ct_reservation ct_record_reserve_limited(struct ct_cpu *cpu, u32 size, u64 who, u32 records)
{
	u64 key = who ^ (unsigned long)current->mm;
	struct ct_reservation room = {};
	local64_t *charged = NULL;

	/* What ct_limit_spend() remembers is of the task that was reported last. */
	if (likely(cpu->reported == key))
		charged = ct_limit_spend(cpu, size);
	else
		/* From here on it is this task's, even if this task cannot be reported. */
		cpu->reported = 0;
	if (unlikely(!charged)) {
		charged = ct_limit_charge(cpu, size, records);
		if (!charged)
			return room;
		ct_record_report(cpu, who);
	}
	room = ct_ring_reserve(&cpu->ring, size, records);
	if (unlikely(!room.at))
		ct_limit_uncharge(charged, size);
	return room;
}
