// SPDX-License-Identifier: GPL-2.0
/*
 * Stands in for cudatrace.ko in selfcheck and does on load what it is told to,
 * to show that `run` notices.
 */
#include <linux/delay.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/spinlock.h>

static char *fault = "none";
module_param(fault, charp, 0444);
MODULE_PARM_DESC(fault, "none, warn, oops, sleep, foreign, known or hang");

static DEFINE_SPINLOCK(lock);

static noinline void cudatrace_fault(void)
{
	if (!strcmp(fault, "warn"))
		WARN(1, "as told\n");
	if (!strcmp(fault, "oops"))
		*(volatile int *)8 = 1;
	if (!strcmp(fault, "sleep")) {
		spin_lock(&lock);
		msleep(20);
		spin_unlock(&lock);
	}
	/* What a report of somebody else looks like while this module is loaded. */
	if (!strcmp(fault, "foreign"))
		pr_warn("WARNING: CPU: 0 PID: 1 at drivers/other.c:1 other+0x1/0x2 [other]\n"
			"Modules linked in: other cudatrace(OE)\n"
			"CPU: 0 PID: 1 Comm: cudatrace Tainted\n"
			"---[ end trace 0000000000000000 ]---\n");
	/* The one of the kernel's own that is known. */
	if (!strcmp(fault, "known"))
		pr_warn("WARNING: CPU: 2 PID: 0 at hrtimer_forward+0x100/0x170\n"
			"Modules linked in: cudatrace(O)\n"
			"Call Trace:\n"
			" dl_task_timer+0x9e9/0x21f0\n"
			"---[ end trace 0000000000000000 ]---\n");
	if (!strcmp(fault, "hang"))
		msleep(1000000);
}

static int __init faulty_init(void)
{
	cudatrace_fault();
	return 0;
}

static void __exit faulty_exit(void)
{
}

module_init(faulty_init);
module_exit(faulty_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("faults for the check of cudatrace's test guest");
