// SPDX-License-Identifier: GPL-2.0
/*
 * An interrupt inside a writer of cudatrace's ring, at an instruction that the test chooses: where
 * a packet ends and the next one begins.  A kprobe there queues an irq_work.  It runs when the
 * kprobe's handler is over, in a hard interrupt, and calls ct_nested_call() many times.
 *
 * /dev/ct_nested takes a number, one a write(): the byte of ct_ring_reserve_slow() at which it
 * happens, once, when the writing task comes there.  EINVAL: no instruction begins there, or none
 * that may be probed; ENODATA: the function ends before it.  "off": not any more.
 */
#include <linux/atomic.h>
#include <linux/irq_work.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include "trigger.h"

static unsigned int calls = 250;
module_param(calls, uint, 0444);
MODULE_PARM_DESC(calls, "calls of ct_nested_call() in an interrupt");
static unsigned int times;
module_param(times, uint, 0444);
MODULE_PARM_DESC(times, "how often it has happened");

CALLED int ct_nested_call(int n);
CALLED int ct_nested_call(int n)
{
	barrier();
	return n;
}

static void nested_interrupt(struct irq_work *w)
{
	unsigned int i;

	for (i = 0; i < calls; i++)
		ct_nested_call(i);
	WRITE_ONCE(times, times + 1);
}

static DEFINE_IRQ_WORK(nested_work, nested_interrupt);
static struct task_struct *writer; /* for comparing only */
static atomic_t ready;
static bool armed;

static int nested_here(struct kprobe *p, struct pt_regs *regs)
{
	if (current == writer && atomic_cmpxchg(&ready, 1, 0) == 1)
		irq_work_queue(&nested_work);
	return 0;
}

/* So that the kernel does not replace the breakpoint by a jump, whose handler may be interrupted. */
static void nested_after(struct kprobe *p, struct pt_regs *regs, unsigned long flags)
{
}

static struct kprobe probe;

static void nested_disarm(void)
{
	if (armed)
		unregister_kprobe(&probe);
	armed = false;
	atomic_set(&ready, 0);
	irq_work_sync(&nested_work);
}

/* Bytes of the function; 0: not found. */
static unsigned long nested_size(void)
{
	struct kprobe at = { .symbol_name = "cudatrace:ct_ring_reserve_slow" };
	unsigned long size;
	char name[KSYM_SYMBOL_LEN];

	if (register_kprobe(&at))
		return 0;
	sprint_symbol(name, (unsigned long)at.addr);
	unregister_kprobe(&at);
	return strchr(name, '/') && sscanf(strchr(name, '/'), "/0x%lx", &size) == 1 ? size : 0;
}

static int nested_arm(unsigned int offset)
{
	static unsigned long size;
	int err;

	size = size ? : nested_size();
	if (offset >= size)
		return -ENODATA;
	probe = (struct kprobe){
		.symbol_name = "cudatrace:ct_ring_reserve_slow",
		.offset = offset,
		.pre_handler = nested_here,
		.post_handler = nested_after,
	};
	writer = current;
	atomic_set(&ready, 1);
	err = register_kprobe(&probe);
	armed = !err;
	return err ? -EINVAL : 0;
}

static ssize_t nested_write(struct file *file, const char __user *user, size_t len, loff_t *at)
{
	char word[16] = "";
	u32 offset;
	int err;

	if (copy_from_user(word, user, min(len, sizeof(word) - 1)))
		return -EFAULT;
	nested_disarm();
	if (!strncmp(word, "off", 3))
		return len;
	err = kstrtou32(strim(word), 10, &offset);
	if (!err)
		err = nested_arm(offset);
	return err ? : len;
}

TRIGGER("ct_nested", nested_write);

static int __init nested_init(void)
{
	return misc_register(&trigger);
}

static void __exit nested_exit(void)
{
	misc_deregister(&trigger);
	nested_disarm();
}

module_init(nested_init);
module_exit(nested_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Interrupts inside a writer, for cudatrace's tests");
