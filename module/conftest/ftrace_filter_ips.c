// SPDX-License-Identifier: GPL-2.0
/*
 * Which functions ftrace calls for.
 * 1: a list of addresses at once (5.18)	2: one address after the other, if at all
 */
#include <linux/ftrace.h>

#if CT_FORM == 1
int conftest(struct ftrace_ops *ops, unsigned long *ips, unsigned int count);
int conftest(struct ftrace_ops *ops, unsigned long *ips, unsigned int count)
{
	return ftrace_set_filter_ips(ops, ips, count, 0, 0);
}
#elif CT_FORM == 2
#endif
