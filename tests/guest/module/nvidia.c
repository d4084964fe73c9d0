// SPDX-License-Identifier: GPL-2.0
/*
 * A stand-in for NVIDIA's driver, loaded in its place: functions with its names and
 * with the signatures that NVIDIA publishes for 580, which no package that we have
 * builds, called in the contexts in which the driver calls them.  It shows that the
 * probe table fits those signatures, and gives the interrupt's bottom halves, which
 * need a GPU; it says nothing about the real driver.
 *
 * /dev/ct_nvidia: a write() makes every call once.
 */
#include <linux/completion.h>
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/pci.h>
#include <linux/workqueue.h>
#include "trigger.h"

DECLARE_TRACE_EVENT(nvidia_dev_xid,
		    TP_PROTO(const struct pci_dev *dev, uint32_t code, const char *message),
		    TP_ARGS(dev, code, message));
DEFINE_TRACE(nvidia_dev_xid,
	     TP_PROTO(const struct pci_dev *dev, uint32_t code, const char *message),
	     TP_ARGS(dev, code, message));

/* The prebuilt core's functions have no ftrace site. */
CALLED notrace void rm_isr_bh(void *sp, void *nv);
CALLED notrace void rm_isr_bh(void *sp, void *nv)
{
	barrier();
}

CALLED notrace void rm_isr_bh_unlocked(void *sp, void *nv);
CALLED notrace void rm_isr_bh_unlocked(void *sp, void *nv)
{
	barrier();
}

CALLED irqreturn_t nvidia_isr_kthread_bh(int irq, void *data);
CALLED irqreturn_t nvidia_isr_kthread_bh(int irq, void *data)
{
	rm_isr_bh(NULL, data);
	return IRQ_HANDLED;
}

CALLED void nvidia_isr_bh_unlocked(void *args);
CALLED void nvidia_isr_bh_unlocked(void *args)
{
	rm_isr_bh_unlocked(NULL, args);
}

CALLED irqreturn_t nvidia_isr(int irq, void *data);
CALLED irqreturn_t nvidia_isr(int irq, void *data)
{
	barrier();
	return IRQ_WAKE_THREAD;
}

CALLED int nv_alloc_pages(void *nv, u32 count, u64 page_size, bool contig, u32 cache,
			  bool zeroed, bool unencrypted, s32 node, u64 *pte, void **handle);
CALLED int nv_alloc_pages(void *nv, u32 count, u64 page_size, bool contig, u32 cache,
			  bool zeroed, bool unencrypted, s32 node, u64 *pte, void **handle)
{
	*handle = (void *)0xabcd1000;
	return 0;
}

CALLED int nv_free_pages(void *nv, u32 count, bool contig, u32 cache, void *handle);
CALLED int nv_free_pages(void *nv, u32 count, bool contig, u32 cache, void *handle)
{
	barrier();
	return 0;
}

static DECLARE_COMPLETION(done);

static void on_work(struct work_struct *w)
{
	nvidia_isr_bh_unlocked((void *)0x1234);
	complete(&done);
}
static DECLARE_WORK(work, on_work);

static void on_irq_work(struct irq_work *w)
{
	nvidia_isr(33, NULL);
	schedule_work(&work);
}
static DEFINE_IRQ_WORK(irq_work, on_irq_work);

static ssize_t ct_nvidia_write(struct file *file, const char __user *user, size_t len,
			       loff_t *at)
{
	void *handle = NULL;

	reinit_completion(&done);
	irq_work_queue(&irq_work);
	wait_for_completion(&done);
	nvidia_isr_kthread_bh(33, NULL);
	nv_alloc_pages(NULL, 3, 65536, true, 0, true, false, -1, NULL, &handle);
	nv_free_pages(NULL, 3, true, 0, handle);
	trace_nvidia_dev_xid(NULL, 79, "GPU has fallen off the bus.\n");
	return len;
}

TRIGGER("ct_nvidia", ct_nvidia_write);

static int __init ct_nvidia_init(void)
{
	return misc_register(&trigger);
}

static void __exit ct_nvidia_exit(void)
{
	misc_deregister(&trigger);
}

module_init(ct_nvidia_init);
module_exit(ct_nvidia_exit);
MODULE_LICENSE("GPL");
MODULE_VERSION("580.95.05");
MODULE_DESCRIPTION("Stand-in for NVIDIA's driver in cudatrace's tests");
