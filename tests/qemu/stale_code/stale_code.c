// SPDX-License-Identifier: GPL-2.0
/*
 * Keeps emulated processors from running code that is no longer there.
 *
 * QEMU forgets its translation of some code just before it makes the write that changes
 * this code.  If another processor comes by in between, it translates the old code once
 * more and runs it until that code is written again.  The kernel keeps a breakpoint on
 * code while it changes it, and takes it away last: should that write be the one, a
 * processor meets a breakpoint that memory does not hold and nobody knows.  Linux 6.12
 * dies of it ("Oops: int3"), 6.1 tries the same address for ever.  A probe's breakpoint
 * may never be met in the same way.
 *
 * So the kernel's function that writes code is made to do it twice.  What was translated
 * during the first write is forgotten by the second, and the kernel answers for its
 * breakpoints until both are done.  stale_trial.c shows the difference.
 */
#include <linux/ftrace.h>
#include <linux/module.h>

/* Before text_poke_memcpy(to, from, size), with interrupts off and "to" mapped writable. */
static void notrace before_write(unsigned long ip, unsigned long parent, struct ftrace_ops *ops,
				 struct ftrace_regs *fregs)
{
	struct pt_regs *regs = ftrace_get_regs(fregs);
	unsigned long to, from, size;

	if (!regs)
		return;
	to = regs->di;
	from = regs->si;
	size = regs->dx;
	/* Not memcpy(): the kernel's address checks know nothing of this mapping. */
	asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size) : : "memory");
}

static struct ftrace_ops ops = {
	.func = before_write,
	.flags = FTRACE_OPS_FL_SAVE_REGS,
};

static int __init stale_code_init(void)
{
	static char name[] = "text_poke_memcpy";
	int err = ftrace_set_filter(&ops, name, strlen(name), 1);

	return err ? err : register_ftrace_function(&ops);
}

static void __exit stale_code_exit(void)
{
	unregister_ftrace_function(&ops);
}

module_init(stale_code_init);
module_exit(stale_code_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("for emulated processors: code that has changed is translated again");
