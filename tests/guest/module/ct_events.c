// SPDX-License-Identifier: GPL-2.0
/*
 * Causes what the guest's machine has nothing to cause: dma_fence events, the tracepoint
 * gpu_mem_total (no driver of Debian's kernels brings it), and calls of functions in every context,
 * each once with an ftrace site and once without (those are probed by breakpoint).  In a
 * kernel without fences it has a tracepoint with the name of one of theirs, and another argument.
 *
 * /dev/ct_events takes words, one a write(): "fence", "mem", "foreign", "task", "softirq",
 * "hardirq", "nmi", "deep"; it returns when all is over.  "hold": the writer's CPU does nothing else until
 * "release" is written, at most for 15 s, so that no RCU grace period ends.  "last": from now on a
 * thread named ct_last that ends stays in the kernel, after it was taken out of its process;
 * "reaped": once RCU has freed the others, it calls ct_events_site(5) and goes.
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/dma-fence.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/kprobes.h>
#include <linux/ktime.h>
#include <linux/kthread.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include "trigger.h"

/* Kernels before 5.14 have no word for it. */
#ifndef task_is_running
#define task_is_running(task)	(READ_ONCE((task)->state) == TASK_RUNNING)
#endif

DECLARE_TRACE_EVENT(gpu_mem_total, TP_PROTO(uint32_t gpu_id, uint32_t pid, uint64_t size),
		    TP_ARGS(gpu_id, pid, size));
DEFINE_TRACE(gpu_mem_total, TP_PROTO(uint32_t gpu_id, uint32_t pid, uint64_t size),
	     TP_ARGS(gpu_id, pid, size));

#ifndef CONFIG_DMA_SHARED_BUFFER
/* It has the name of one that other kernels have; its argument is no fence, nor any pointer. */
DECLARE_TRACE_EVENT(dma_fence_init, TP_PROTO(unsigned long number), TP_ARGS(number));
DEFINE_TRACE(dma_fence_init, TP_PROTO(unsigned long number), TP_ARGS(number));
#endif

/* ------------------------------------------------------------- contexts ---- */

/* By ftrace site, and by breakpoint: the argument comes back. */
CALLED int ct_events_site(int n);
CALLED int ct_events_site(int n)
{
	barrier();
	return n;
}

CALLED notrace int ct_events_plain(int n);
CALLED notrace int ct_events_plain(int n)
{
	barrier();
	return n;
}

/* By ftrace site, n times, each inside the one before. */
CALLED int ct_events_deep(int n);
CALLED int ct_events_deep(int n)
{
	int below = n > 1 ? ct_events_deep(n - 1) : 0;

	barrier(); /* else the compiler makes a loop of it */
	return below + 1;
}

static void both(int n)
{
	ct_events_site(n);
	ct_events_plain(n);
}

static DECLARE_COMPLETION(done);

static void on_tasklet(struct tasklet_struct *t)
{
	both(2);
	complete(&done);
}
static DECLARE_TASKLET(tasklet, on_tasklet);

static void on_irq_work(struct irq_work *w)
{
	both(3);
	complete(&done);
}
static DEFINE_IRQ_WORK(irq_work, on_irq_work);

/* As an NMI's handler: what its entry counts is all that tells where the code runs. */
static void in_nmi_counts(void)
{
	unsigned long flags;

	local_irq_save(flags);
	__preempt_count_add(NMI_OFFSET + HARDIRQ_OFFSET);
	both(4);
	__preempt_count_sub(NMI_OFFSET + HARDIRQ_OFFSET);
	local_irq_restore(flags);
}

/* --------------------------------------------------------------- fences ---- */

#ifdef CONFIG_DMA_SHARED_BUFFER
static DEFINE_SPINLOCK(fence_lock);

static const char *driver_name(struct dma_fence *f)
{
	return "ct_events";
}

static const char *timeline_name(struct dma_fence *f)
{
	return "the timeline";
}

static const struct dma_fence_ops fence_ops = {
	.get_driver_name = driver_name,
	.get_timeline_name = timeline_name,
};

struct later {
	struct dma_fence *fence;
	struct task_struct *waiter;	/* lives until the fence is signaled */
};

/* So long after the waiter went to sleep. */
static int signal_later(void *data)
{
	struct later *l = data;
	struct dma_fence *f = l->fence;
	int i;

	for (i = 0; i < 10000 && task_is_running(l->waiter); i++)
		msleep(1);
	msleep(50);
	dma_fence_signal(f);
	dma_fence_put(f);
	return 0;
}

static int fence(void)
{
	struct dma_fence *f = kzalloc(sizeof(*f), GFP_KERNEL);
	struct later later = { .fence = f, .waiter = current };
	struct task_struct *task;

	if (!f)
		return -ENOMEM;
	dma_fence_init(f, &fence_ops, &fence_lock, dma_fence_context_alloc(1), 77);
	dma_fence_get(f);
	task = kthread_run(signal_later, &later, "ct_events");
	if (IS_ERR(task)) {
		dma_fence_signal(f);
		dma_fence_put(f);
	}
	dma_fence_wait(f, false);
	dma_fence_put(f);
	return 0;
}

static void foreign(void)
{
}
#else
static int fence(void)
{
	return -EOPNOTSUPP;
}

static void foreign(void)
{
	trace_dma_fence_init(4711);
}
#endif

/* ----------------------------------------------------- grace periods ------- */

static bool holding;
module_param(holding, bool, 0444);
MODULE_PARM_DESC(holding, "a CPU is held");
static bool released;

static void hold(void)
{
	ktime_t until = ktime_add_ms(ktime_get(), 15000);

	preempt_disable();
	WRITE_ONCE(released, false);
	WRITE_ONCE(holding, true);
	while (!READ_ONCE(released) && ktime_before(ktime_get(), until))
		cpu_relax();
	WRITE_ONCE(holding, false);
	preempt_enable();
}

/* ------------------------------------------- a thread without a process ---- */

static DECLARE_COMPLETION(last_reaped);
static DECLARE_COMPLETION(last_gone);

/* Instead of proc_flush_pid(), which release_task() calls where it may sleep. */
CALLED void ct_events_last(struct pid *pid);
CALLED void ct_events_last(struct pid *pid)
{
	wait_for_completion_timeout(&last_reaped, 60 * HZ);
	/* The leader is freed by two callbacks, one after the other. */
	synchronize_rcu();
	rcu_barrier();
	rcu_barrier();
	ct_events_site(5);
	complete(&last_gone);
}

static int last_released(struct kprobe *p, struct pt_regs *regs)
{
	if (thread_group_leader(current) || strcmp(current->comm, "ct_last"))
		return 0;
	instruction_pointer_set(regs, (unsigned long)ct_events_last);
	return 1;
}

/* A handler that changes where the code goes on needs this one as well. */
static void last_after(struct kprobe *p, struct pt_regs *regs, unsigned long flags)
{
}

static struct kprobe last_probe;

static int last_wait(void)
{
	last_probe = (struct kprobe){
		.symbol_name = "proc_flush_pid",
		.pre_handler = last_released,
		.post_handler = last_after,
	};
	reinit_completion(&last_reaped);
	reinit_completion(&last_gone);
	return register_kprobe(&last_probe);
}

static int last_go(void)
{
	complete(&last_reaped);
	if (!wait_for_completion_timeout(&last_gone, 60 * HZ))
		return -ETIMEDOUT;
	unregister_kprobe(&last_probe);
	return 0;
}

static ssize_t ct_events_write(struct file *file, const char __user *user, size_t len,
			       loff_t *at)
{
	char word[16] = "";
	int err = 0;

	if (copy_from_user(word, user, min(len, sizeof(word) - 1)))
		return -EFAULT;
	word[strcspn(word, "\n")] = '\0';
	if (!strcmp(word, "hold")) {
		hold();
		return len;
	}
	if (!strcmp(word, "release")) {
		WRITE_ONCE(released, true);
		return len;
	}
	reinit_completion(&done);
	if (!strcmp(word, "fence")) {
		err = fence();
	} else if (!strcmp(word, "mem")) {
		trace_gpu_mem_total(1, 4242, 123456789);
	} else if (!strcmp(word, "foreign")) {
		foreign();
	} else if (!strcmp(word, "task")) {
		both(1);
	} else if (!strcmp(word, "softirq")) {
		tasklet_schedule(&tasklet);
		wait_for_completion(&done);
	} else if (!strcmp(word, "hardirq")) {
		irq_work_queue(&irq_work);
		wait_for_completion(&done);
	} else if (!strcmp(word, "deep")) {
		err = ct_events_deep(5) == 5 ? 0 : -EIO;
	} else if (!strcmp(word, "nmi")) {
		in_nmi_counts();
	} else if (!strcmp(word, "last")) {
		err = last_wait();
	} else if (!strcmp(word, "reaped")) {
		err = last_go();
	} else {
		err = -EINVAL;
	}
	return err ? : len;
}

TRIGGER("ct_events", ct_events_write);

static int __init ct_events_init(void)
{
	return misc_register(&trigger);
}

static void __exit ct_events_exit(void)
{
	misc_deregister(&trigger);
	tasklet_kill(&tasklet);
	irq_work_sync(&irq_work);
}

module_init(ct_events_init);
module_exit(ct_events_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Events for cudatrace's tests");
