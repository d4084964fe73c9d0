// SPDX-License-Identifier: GPL-2.0
/*
 * A stand-in for NVIDIA's driver, loaded in its place: functions with its names and
 * with the signatures that NVIDIA publishes for 580, which no package that we have
 * builds, called in the contexts in which the driver calls them.  It shows that the
 * probe table fits those signatures, and gives the interrupt's bottom halves, which
 * need a GPU; it says nothing about the real driver.
 *
 * /dev/ct_nvidia: a write() makes every call once.  "file": one call of the ioctl function, whose
 * file seems to be /dev/nvidia7.  "nowhere": calls whose pointers lead nowhere.  "xid": reports one,
 * in a register whose upper half holds something else.
 *
 * version=: the driver's version once it is loaded, and the signatures of that one.
 */
#include <linux/completion.h>
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/pci.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>
#include "trigger.h"

DECLARE_TRACE_EVENT(nvidia_dev_xid,
		    TP_PROTO(const struct pci_dev *dev, uint32_t code, const char *message),
		    TP_ARGS(dev, code, message));
DEFINE_TRACE(nvidia_dev_xid,
	     TP_PROTO(const struct pci_dev *dev, uint32_t code, const char *message),
	     TP_ARGS(dev, code, message));

static char *version;
module_param(version, charp, 0);
MODULE_PARM_DESC(version, "the driver's version");

CALLED long nvidia_unlocked_ioctl(struct file *file, unsigned int cmd, unsigned long arg);
CALLED long nvidia_unlocked_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	barrier();
	return 0;
}

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

/*
 * It does nothing, so that it may be called with the arguments of any version; the caller stores
 * the handle beforehand.
 */
CALLED int nv_alloc_pages(void *nv, u32 count, u64 page_size, bool contig, u32 cache,
			  bool zeroed, bool unencrypted, s32 node, u64 *pte, void **handle);
CALLED int nv_alloc_pages(void *nv, u32 count, u64 page_size, bool contig, u32 cache,
			  bool zeroed, bool unencrypted, s32 node, u64 *pte, void **handle)
{
	barrier();
	return 0;
}

CALLED const void *nv_get_firmware(void *nv, u32 type, u32 family, const void **data, u32 *size);
CALLED const void *nv_get_firmware(void *nv, u32 type, u32 family, const void **data, u32 *size)
{
	barrier();
	return nv_get_firmware;
}

/* Calls both with the arguments that they have in this version. */
static void call_by_version(unsigned int major)
{
	int (*alloc_525)(void *nv, u32 count, bool contig, u32 cache, bool zeroed,
			 bool unencrypted, u64 *pte, void **handle) = (void *)nv_alloc_pages;
	int (*alloc_535)(void *nv, u32 count, bool contig, u32 cache, bool zeroed,
			 bool unencrypted, s32 node, u64 *pte,
			 void **handle) = (void *)nv_alloc_pages;
	const void *(*firmware_520)(void *nv, u32 type, const void **data,
				    u32 *size) = (void *)nv_get_firmware;
	void *handle = (void *)0xabcd1000;
	u32 size = 4096;

	/* The compiler must not see that it is another function. */
	OPTIMIZER_HIDE_VAR(alloc_525);
	OPTIMIZER_HIDE_VAR(alloc_535);
	OPTIMIZER_HIDE_VAR(firmware_520);
	if (major < 530)
		alloc_525(NULL, 3, true, 0, true, false, NULL, &handle);
	else if (major < 545)
		alloc_535(NULL, 3, true, 0, true, false, -1, NULL, &handle);
	else
		nv_alloc_pages(NULL, 3, 65536, true, 0, true, false, -1, NULL, &handle);
	if (major < 525)
		firmware_520(NULL, 2, NULL, &size);
	else
		nv_get_firmware(NULL, 2, 0, NULL, &size);
}

CALLED int nv_free_pages(void *nv, u32 count, bool contig, u32 cache, void *handle);
CALLED int nv_free_pages(void *nv, u32 count, bool contig, u32 cache, void *handle)
{
	barrier();
	return 0;
}

CALLED void nv_report_error(struct pci_dev *dev, u32 xid, const char *format, void *args);
CALLED void nv_report_error(struct pci_dev *dev, u32 xid, const char *format, void *args)
{
	barrier();
}

static void call_report_error(void)
{
	void (*wide)(void *dev, u64 xid, const char *format, void *args) = (void *)nv_report_error;

	/* The compiler must not see that it is another function. */
	OPTIMIZER_HIDE_VAR(wide);
	wide(NULL, 0xdeadbeef00000000 | 79, NULL, NULL);
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

static int call_with_file(void)
{
	struct inode *inode = kzalloc(sizeof(*inode), GFP_KERNEL);
	struct file *file = kzalloc(sizeof(*file), GFP_KERNEL);
	int err = inode && file ? 0 : -ENOMEM;

	if (!err) {
		inode->i_rdev = MKDEV(195, 7);
		file->f_inode = inode;
		nvidia_unlocked_ioctl(file, _IOWR('F', 0, int), 0);
	}
	kfree(file);
	kfree(inode);
	return err;
}

/* Nothing is ever mapped there: the guard hole of the kernel's half. */
#define NOWHERE	((void *)0xffff800000001000)

static void call_nowhere(void)
{
	nvidia_unlocked_ioctl(NOWHERE, _IOWR('F', 0, int), 0);
	nv_alloc_pages(NULL, 1, 4096, true, 0, true, false, -1, NULL, NOWHERE);
	trace_nvidia_dev_xid(NOWHERE, 13, NOWHERE);
}

static ssize_t ct_nvidia_write(struct file *file, const char __user *user, size_t len,
			       loff_t *at)
{
	char what[16] = "";
	int err;

	if (copy_from_user(what, user, min(len, sizeof(what) - 1)))
		return -EFAULT;
	if (!strncmp(what, "file", 4)) {
		err = call_with_file();
		return err ? err : len;
	}
	if (!strncmp(what, "nowhere", 7)) {
		call_nowhere();
		return len;
	}
	if (!strncmp(what, "xid", 3)) {
		call_report_error();
		return len;
	}
	reinit_completion(&done);
	irq_work_queue(&irq_work);
	wait_for_completion(&done);
	nvidia_isr_kthread_bh(33, NULL);
	call_by_version(version ? simple_strtoul(version, NULL, 10) : 580);
	nv_free_pages(NULL, 3, true, 0, (void *)0xabcd1000);
	trace_nvidia_dev_xid(NULL, 79, "GPU has fallen off the bus.\n");
	return len;
}

TRIGGER("ct_nvidia", ct_nvidia_write);

static int __init ct_nvidia_init(void)
{
	char *text = version ? kstrdup(version, GFP_KERNEL) : NULL;
	int err = misc_register(&trigger);

	if (err || !text) {
		kfree(text);
		return err;
	}
	/* The kernel frees it when it unloads the module. */
	kfree(THIS_MODULE->version);
	THIS_MODULE->version = text;
	return 0;
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
