// SPDX-License-Identifier: GPL-2.0
/*
 * Traced threads leave the CPU and get one.
 *
 * A thread that is off the CPU is a call named sched_switch of that thread, so that
 * a stall shows inside whatever it was doing: its begin is written when the thread
 * leaves, its end when it runs again, which knows how long it was off, who woke it
 * and how long it could have run before it did.  Traced are the threads of the
 * processes of which the session has a record, without the tracer's own.  Each pays for
 * its records within its limits, also for those that another context writes.
 *
 * The handlers run with a lock of the scheduler held and interrupts disabled: nothing here
 * may wake anybody (the ring's readers are woken through irq_work), sleep or fault.
 */
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/string.h>
#include <linux/threads.h>
#include <linux/tracepoint.h>
#include <linux/vmalloc.h>
#include "core/filter.h"
#include "core/limit.h"
#include "core/record.h"
#include "probes/sched_events.h"
#include "probes/tracepoint.h"

#define THREADS		16384u

unsigned long *ct_traced_bits;
static struct ct_thread *threads;
static struct tracepoint *free_point;
static bool follows;		/* on_free is registered */

struct ct_thread *ct_thread_of(u32 tid, bool claim)
{
	struct ct_thread *all = READ_ONCE(threads), *t;

	if (!all)
		return NULL;
	t = &all[tid % THREADS];
	if (READ_ONCE(t->tid) != tid) {
		if (!claim)
			return NULL;
		*t = (struct ct_thread){};
		WRITE_ONCE(t->tid, tid);
	}
	return t;
}

static bool sched_traced(const struct ct_cpu *cpu, struct task_struct *task)
{
	unsigned long *bits = READ_ONCE(ct_traced_bits);

	/* The recorder's own switches would make records that make it run. */
	return bits && task->pid && test_bit(task->tgid, bits) && task->tgid != cpu->s->owner_pid &&
	       ct_wanted_task(CT_CAT_SWITCH, task);
}

/* Room for a record of this thread, within its limits; at is NULL where there is none. */
static struct ct_reservation sched_reserve(struct ct_cpu *cpu, struct task_struct *task, u32 size)
{
	struct ct_reservation room = {};
	u32 charge;

	if (!static_branch_unlikely(&ct_limiting))
		return ct_ring_reserve(&cpu->ring, size, 1);
	if (!ct_limit_charge_task(cpu, task, size, &charge))
		return room;
	room = ct_ring_reserve(&cpu->ring, size, 1);
	if (!room.at)
		ct_limit_uncharge(cpu, size, charge);
	return room;
}

/* A record of this thread, which need not be the current one. */
static struct ct_cpu_record *sched_record_of(struct ct_cpu *cpu, enum ct_point point,
					     struct task_struct *task, u32 size, u64 *stamp)
{
	struct ct_tracepoint *t = &ct_tracepoints[point];
	struct ct_cpu_record *rec;
	struct ct_reservation room;

	this_cpu_inc(t->count->hits);
	room = sched_reserve(cpu, task, sizeof(*rec) + size);
	rec = room.at;
	if (!rec) {
		this_cpu_inc(t->count->lost);
		return NULL;
	}
	*stamp = room.stamp;
	rec->stamp = CT_STAMP(room.stamp, t->class);
	rec->pid = task->tgid;
	rec->tid = task->pid;
	rec->result = 0;
	return rec;
}

static void sched_leaves(struct ct_cpu *cpu, struct task_struct *task, struct task_struct *next,
			 u32 state)
{
	struct ct_thread *t = ct_thread_of(task->pid, true);
	struct ct_cpu_record *rec;
	struct ct_k_switch *p;
	u64 op = ct_ring_op(&cpu->ring, 1), stamp;
	bool dead = state & (TASK_DEAD | EXIT_DEAD | EXIT_ZOMBIE);

	rec = sched_record_of(cpu, CT_POINT_SWITCH, task, sizeof(*p), &stamp);
	if (t) {
		t->left = !rec ? 0 : stamp;
		t->left_op = op;
		t->state = state;
		WRITE_ONCE(t->woken, 0);
	}
	if (!rec)
		return;
	rec->op = op;
	rec->duration = CT_DURATION(0, 0, CT_F_NO_RESULT |
				    (dead || !t ? CT_F_INSTANT : CT_F_BEGIN));
	p = (void *)(rec + 1);
	*p = (struct ct_k_switch){ .state = state, .other = next->pid };
	ct_record_done(cpu, 1);
}

static void sched_arrives(struct ct_cpu *cpu, struct task_struct *task, struct task_struct *prev)
{
	struct ct_thread *t = ct_thread_of(task->pid, false);
	struct ct_cpu_record *rec;
	struct ct_k_switch *p;
	u64 stamp, since;

	if (!t || !t->left)
		return;
	rec = sched_record_of(cpu, CT_POINT_SWITCH, task, sizeof(*p), &stamp);
	if (rec) {
		u64 off = stamp > t->left ? stamp - t->left : 0;

		rec->op = t->left_op;
		rec->duration = CT_DURATION(min_t(u64, off, CT_DURATION_MAX), 0,
					    CT_F_NO_RESULT | CT_F_HAS_BEGIN);
		/* Taken off while it could run: it could all the time. */
		since = t->state ? READ_ONCE(t->woken) : t->left;
		p = (void *)(rec + 1);
		*p = (struct ct_k_switch){
			.state = t->state,
			.other = prev->pid,
			.waker = t->state ? READ_ONCE(t->waker) : 0,
			.runnable_ns = since && stamp > since ? stamp - since : 0,
		};
		ct_record_done(cpu, 1);
	}
	t->left = 0;
	WRITE_ONCE(t->waker, 0);
}

void ct_on_switch(void *data, bool preempt, struct task_struct *prev,
		  struct task_struct *next, unsigned int state)
{
	struct ct_cpu *cpu = ct_cpu_writing();

	if (!cpu)
		return;
	if (sched_traced(cpu, prev))
		sched_leaves(cpu, prev, next, preempt ? 0 : state & (TASK_REPORT | TASK_DEAD));
	if (sched_traced(cpu, next))
		sched_arrives(cpu, next, prev);
}

/*
 * Runs in whoever wakes, before the thread is on its way: it may still be leaving its
 * CPU, so that sched_leaves() must not forget what is noted here.
 */
void ct_on_waking(void *data, struct task_struct *task)
{
	struct ct_cpu *cpu = ct_cpu_writing();
	struct ct_thread *t;

	if (!cpu || !sched_traced(cpu, task))
		return;
	t = ct_thread_of(task->pid, true);
	if (t)
		WRITE_ONCE(t->waker, in_task() ? current->pid : 0);
}

void ct_on_wakeup(void *data, struct task_struct *task)
{
	struct ct_cpu *cpu = ct_cpu_writing();
	struct ct_cpu_record *rec;
	struct ct_thread *t;
	struct ct_k_wake *p;
	u64 stamp;

	if (!cpu || !sched_traced(cpu, task))
		return;
	rec = sched_record_of(cpu, CT_POINT_WAKEUP, task, sizeof(*p), &stamp);
	if (!rec)
		return;
	t = ct_thread_of(task->pid, false);
	rec->op = 0;
	rec->duration = CT_DURATION(0, 0, CT_F_INSTANT | CT_F_NO_RESULT);
	p = (void *)(rec + 1);
	*p = (struct ct_k_wake){
		.waker = t ? READ_ONCE(t->waker) : 0,
		.target_cpu = task_cpu(task),
	};
	ct_record_done(cpu, 1);
	if (t && t->left)
		WRITE_ONCE(t->woken, stamp);
}

/* ------------------------------------------------------------- life -------- */

/* sched_process_free: its number may be given to a process that is not traced. */
static void sched_on_free(void *data, struct task_struct *task)
{
	unsigned long *bits;

	if (!thread_group_leader(task))
		return;
	rcu_read_lock_sched();
	bits = READ_ONCE(ct_traced_bits);
	if (bits)
		clear_bit(task->tgid, bits);
	rcu_read_unlock_sched();
}

static void sched_find_point(struct tracepoint *tp, void *data)
{
	if (!strcmp(tp->name, "sched_process_free"))
		free_point = tp;
}

int ct_sched_events_start(u64 groups)
{
	unsigned long *bits;

	if (!(groups & (BIT_ULL(CT_GROUP_SWITCH) | BIT_ULL(CT_GROUP_FENCE))))
		return 0;
	bits = vzalloc(BITS_TO_LONGS(PID_MAX_LIMIT) * sizeof(long));
	threads = vzalloc(array_size(THREADS, sizeof(*threads)));
	if (!bits || !threads) {
		vfree(bits);
		vfree(threads);
		threads = NULL;
		return -ENOMEM;
	}
	WRITE_ONCE(ct_traced_bits, bits);
	if (!free_point)
		for_each_kernel_tracepoint(sched_find_point, NULL);
	follows = free_point && !tracepoint_probe_register(free_point, sched_on_free, NULL);
	return 0;
}

void ct_sched_events_stop(void)
{
	unsigned long *bits = ct_traced_bits;
	struct ct_thread *all = threads;

	if (!bits)
		return;
	if (follows)
		tracepoint_probe_unregister(free_point, sched_on_free, NULL);
	follows = false;
	WRITE_ONCE(ct_traced_bits, NULL);
	WRITE_ONCE(threads, NULL);
	/* Whoever looks at them has preemption disabled. */
	tracepoint_synchronize_unregister();
	synchronize_rcu();
	vfree(bits);
	vfree(all);
}
