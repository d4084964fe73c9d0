// SPDX-License-Identifier: GPL-2.0
/*
 * In which of four contexts code runs, as a number.
 * 1: interrupt_context_level() (5.16)	2: it is worked out
 */
#include <linux/hardirq.h>
#include <linux/preempt.h>

int conftest(void);
int conftest(void)
{
#if CT_FORM == 1
	return interrupt_context_level();
#elif CT_FORM == 2
	return !!(preempt_count() & NMI_MASK) + !!(preempt_count() & HARDIRQ_MASK);
#endif
}
