// SPDX-License-Identifier: GPL-2.0
/*
 * Changes code, for some seconds, that all processors but one are running: without
 * stale_code the guest mostly dies of it.  Its load then fails, since nothing is to stay.
 */
#include <linux/cpu.h>
#include <linux/jump_label.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched.h>

static int seconds = 20;
module_param(seconds, int, 0444);
MODULE_PARM_DESC(seconds, "how long");

static DEFINE_STATIC_KEY_FALSE(key);
static int count;

/* 64 places that the key changes. */
#define ONE(n)	if (static_branch_unlikely(&key)) WRITE_ONCE(count, n);
#define FOUR(n)	ONE(n) ONE(n + 1) ONE(n + 2) ONE(n + 3)
#define SIXTEEN(n) FOUR(n) FOUR(n + 4) FOUR(n + 8) FOUR(n + 12)

static noinline void run_through(void)
{
	SIXTEEN(0)
	SIXTEEN(16)
	SIXTEEN(32)
	SIXTEEN(48)
}

static int runner(void *arg)
{
	int i;

	while (!kthread_should_stop()) {
		for (i = 0; i < 200; i++)
			run_through();
		cond_resched();
	}
	return 0;
}

static int __init trial_init(void)
{
	unsigned long end = jiffies + seconds * HZ, changes = 0;
	struct task_struct *task[8];
	int cpu, n = 0;

	cpus_read_lock();
	for_each_online_cpu(cpu) {
		if (cpu == cpumask_first(cpu_online_mask))
			continue;
		if (n == ARRAY_SIZE(task))
			break;
		task[n] = kthread_create(runner, NULL, "stale_trial/%d", cpu);
		if (IS_ERR(task[n]))
			break;
		kthread_bind(task[n], cpu);
		wake_up_process(task[n++]);
	}
	cpus_read_unlock();
	while (time_before(jiffies, end)) {
		static_branch_enable(&key);
		static_branch_disable(&key);
		changes++;
		cond_resched();
	}
	while (n)
		kthread_stop(task[--n]);
	pr_info("stale_trial: code was changed %lu times\n", changes * 2);
	return -EAGAIN;
}

module_init(trial_init);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("changes code that is being run");
