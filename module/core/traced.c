// SPDX-License-Identifier: GPL-2.0
/*
 * One bit for each traced process.  A process's bit is cleared when the process is freed,
 * because its pid may then be given to a process that is not traced.
 */
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <linux/vmalloc.h>
#include "core/traced.h"

unsigned long *ct_traced_bits;
static struct tracepoint *free_point;
static bool follows; /* traced_on_free() is registered */

/* sched_process_free: (task) */
static void traced_on_free(void *data, struct task_struct *task)
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

static void traced_find_point(struct tracepoint *tp, void *data)
{
	if (!strcmp(tp->name, "sched_process_free"))
		free_point = tp;
}

int ct_traced_start(void)
{
	unsigned long *bits = vzalloc(BITS_TO_LONGS(PID_MAX_LIMIT) * sizeof(long));

	if (!bits)
		return -ENOMEM;
	WRITE_ONCE(ct_traced_bits, bits);
	if (!free_point)
		for_each_kernel_tracepoint(traced_find_point, NULL);
	follows = free_point && !tracepoint_probe_register(free_point, traced_on_free, NULL);
	return 0;
}

void ct_traced_stop(void)
{
	unsigned long *bits = ct_traced_bits;

	if (follows)
		tracepoint_probe_unregister(free_point, traced_on_free, NULL);
	follows = false;
	WRITE_ONCE(ct_traced_bits, NULL);
	tracepoint_synchronize_unregister();
	synchronize_rcu();
	vfree(bits);
}
