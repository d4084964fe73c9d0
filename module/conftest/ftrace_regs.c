// SPDX-License-Identifier: GPL-2.0
/*
 * Functions of ftrace's own, with all registers, for a module.
 * 1: they get struct ftrace_regs, and ftrace keeps them from recursion if asked to (5.11)
 * 2: older, or the kernel is without DYNAMIC_FTRACE_WITH_REGS: not used
 */
#include <linux/ftrace.h>

#if CT_FORM == 1
#ifndef CONFIG_DYNAMIC_FTRACE_WITH_REGS
#error "no registers"
#endif
static void conftest_call(unsigned long ip, unsigned long parent, struct ftrace_ops *ops,
			  struct ftrace_regs *fregs)
{
	ops->private = ftrace_get_regs(fregs);
}

struct ftrace_ops conftest;
struct ftrace_ops conftest = {
	.func = conftest_call,
	.flags = FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_RECURSION | FTRACE_OPS_FL_RCU,
};
#elif CT_FORM == 2
#endif
