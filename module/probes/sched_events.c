// SPDX-License-Identifier: GPL-2.0
/*
 * Traced threads leave the CPU, are woken and get a CPU.
 *
 * The time that a thread is off the CPU is a call of that thread, named sched_switch, so that a
 * stall shows inside the call that the thread was in.  The begin is written when the thread leaves.
 * The end is written when it runs again, and says how long it was off, who woke it, and how long it
 * was runnable before it ran.
 *
 * The threads of all processes of which the session has a record are traced, but not those of the
 * recorder.  A record is charged to the limits of its thread, also if another context writes it.
 *
 * The handlers run with a lock of the scheduler held and interrupts disabled: nothing here may
 * wake a task, sleep or fault.
 */
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <trace/events/sched.h>
#include "probes/sched_events.h"
#include "probes/thread.h"
#include "probes/tracepoint.h"
#include "core/filter.h"
#include "core/limit.h"
#include "core/record.h"
#include "core/traced.h"
#include "base/compat.h"

/* Index of sched_points[]. */
enum sched_point {
	SCHED_SWITCH,
	SCHED_WAKING,
	SCHED_WAKEUP,
	SCHED_COUNT,
};

static struct ct_tracepoint sched_points[SCHED_COUNT];

static bool sched_traced(const struct ct_cpu *cpu, struct task_struct *task)
{
	/* The recorder's own switches would make records, which would make it run again. */
	return task->pid && ct_traced(task->tgid) && task->tgid != cpu->s->owner_pid &&
	       ct_wanted_task(CT_CAT_SWITCH, task);
}

/* Reserves a record of this thread, within its limits; at is NULL if it is lost. */
static struct ct_reservation sched_reserve(struct ct_cpu *cpu, struct task_struct *task, u32 size)
{
	struct ct_reservation room = {};
	local64_t *charged;

	if (!static_branch_unlikely(&ct_limiting))
		return ct_ring_reserve(&cpu->ring, size, 1);
	charged = ct_limit_charge_task(cpu, task, size);
	if (!charged)
		return room;
	room = ct_ring_reserve(&cpu->ring, size, 1);
	if (!room.at)
		ct_limit_uncharge(charged, size);
	return room;
}

/* A record of this thread, which may be another one than the current thread. */
static struct ct_cpu_record *sched_record_of(struct ct_cpu *cpu, enum sched_point point,
					     struct task_struct *task, u32 size, u64 *stamp)
{
	const struct ct_tracepoint *t = &sched_points[point];
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

	rec = sched_record_of(cpu, SCHED_SWITCH, task, sizeof(*p), &stamp);
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
	rec = sched_record_of(cpu, SCHED_SWITCH, task, sizeof(*p), &stamp);
	if (rec) {
		u64 off = stamp > t->left ? stamp - t->left : 0;

		rec->op = t->left_op;
		rec->duration = CT_DURATION(min_t(u64, off, CT_DURATION_MAX), 0,
					    CT_F_NO_RESULT | CT_F_HAS_BEGIN);
		/* A thread that was preempted was runnable all the time. */
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

static void sched_on_switch(CT_SCHED_SWITCH_ARGS(data, preempt, prev, next, state))
{
	struct ct_cpu *cpu = ct_cpu_writing();

	if (!cpu)
		return;
	if (sched_traced(cpu, prev))
		sched_leaves(cpu, prev, next, preempt ? 0 : ct_sched_switch_state(prev, state) &
							    (TASK_REPORT | TASK_DEAD));
	if (sched_traced(cpu, next))
		sched_arrives(cpu, next, prev);
}

/*
 * Runs in the context that wakes the thread.  The thread may still be leaving its CPU, so
 * sched_leaves() must not clear what is noted here.
 */
static void sched_on_waking(void *data, struct task_struct *task)
{
	struct ct_cpu *cpu = ct_cpu_writing();
	struct ct_thread *t;

	if (!cpu || !sched_traced(cpu, task))
		return;
	t = ct_thread_of(task->pid, true);
	if (t)
		WRITE_ONCE(t->waker, in_task() ? current->pid : 0);
}

static void sched_on_wakeup(void *data, struct task_struct *task)
{
	struct ct_cpu *cpu = ct_cpu_writing();
	struct ct_cpu_record *rec;
	struct ct_thread *t;
	struct ct_k_wake *p;
	u64 stamp;

	if (!cpu || !sched_traced(cpu, task))
		return;
	rec = sched_record_of(cpu, SCHED_WAKEUP, task, sizeof(*p), &stamp);
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

/* The kernel's headers know the signatures: a handler with another one does not compile. */
static void __maybe_unused sched_check_signatures(void)
{
	check_trace_callback_type_sched_switch(sched_on_switch);
	check_trace_callback_type_sched_waking(sched_on_waking);
	check_trace_callback_type_sched_wakeup(sched_on_wakeup);
}

static struct ct_tracepoint sched_points[SCHED_COUNT] = {
	[SCHED_SWITCH] = { CT_TRACEPOINT("", "sched_switch", "sched_switch", SWITCH, SWITCH,
					 k_switch, sched_on_switch),
			   .threads = true },
	/* It only notes who wakes: an interrupt may do the wake-up itself. */
	[SCHED_WAKING] = { CT_TRACEPOINT("", "sched_waking", "sched_wakeup", SWITCH, SWITCH, k_wake,
					 sched_on_waking),
			   .threads = true },
	[SCHED_WAKEUP] = { CT_TRACEPOINT("", "sched_wakeup", "sched_wakeup", SWITCH, SWITCH, k_wake,
					 sched_on_wakeup),
			   .threads = true },
};

static struct ct_tracepoint_table sched_table = {
	.row = sched_points,
	.count = SCHED_COUNT,
};

int ct_sched_events_init(void)
{
	return ct_tracepoint_add(&sched_table);
}

void ct_sched_events_exit(void)
{
	ct_tracepoint_remove(&sched_table);
}
