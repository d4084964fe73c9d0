// SPDX-License-Identifier: GPL-2.0
/*
 * What ftrace's functions get, where ftrace calls them for chosen functions.
 * 1: struct ftrace_regs, and ftrace keeps them from recursion if asked to (5.11)
 * 2: struct pt_regs, and ftrace keeps them from recursion unless asked not to
 * 3: the kernel is without DYNAMIC_FTRACE
 */
#include <linux/ftrace.h>

#if CT_FORM != 3 && !defined(CONFIG_DYNAMIC_FTRACE)
#error "no sites"
#endif

#if CT_FORM == 1
static void conftest_call(unsigned long ip, unsigned long parent, struct ftrace_ops *ops,
			  struct ftrace_regs *regs)
{
}

struct ftrace_ops conftest;
struct ftrace_ops conftest = {
	.func = conftest_call,
	.flags = FTRACE_OPS_FL_RECURSION,
};
#elif CT_FORM == 2
static void conftest_call(unsigned long ip, unsigned long parent, struct ftrace_ops *ops,
			  struct pt_regs *regs)
{
}

struct ftrace_ops conftest;
struct ftrace_ops conftest = {
	.func = conftest_call,
	.flags = FTRACE_OPS_FL_RECURSION_SAFE,
};
#elif CT_FORM == 3
#ifdef CONFIG_DYNAMIC_FTRACE
#error "ftrace of a form that is not known"
#endif
#endif
