// SPDX-License-Identifier: GPL-2.0
/*
 * The arguments of the tracepoint sched_switch.
 * 1: the state of the thread that leaves is the last (5.19)	2: it is the second (5.18)
 * 3: it is none of them
 */
#include <trace/events/sched.h>

#if CT_FORM == 1
void conftest(void *data, bool preempt, struct task_struct *prev, struct task_struct *next,
	      unsigned int state);
#elif CT_FORM == 2
void conftest(void *data, bool preempt, unsigned int state, struct task_struct *prev,
	      struct task_struct *next);
#elif CT_FORM == 3
void conftest(void *data, bool preempt, struct task_struct *prev, struct task_struct *next);
#endif

void conftest_check(void);
void conftest_check(void)
{
	check_trace_callback_type_sched_switch(conftest);
}
