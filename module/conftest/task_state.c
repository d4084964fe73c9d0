// SPDX-License-Identifier: GPL-2.0
/*
 * What a thread waits for.
 * 1: the member __state (5.14)	2: the member state
 */
#include <linux/sched.h>

unsigned int conftest(const struct task_struct *task);
unsigned int conftest(const struct task_struct *task)
{
#if CT_FORM == 1
	return READ_ONCE(task->__state);
#elif CT_FORM == 2
	return READ_ONCE(task->state);
#endif
}
