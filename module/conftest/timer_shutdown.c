// SPDX-License-Identifier: GPL-2.0
/*
 * Stopping a timer for good.
 * 1: timer_shutdown_sync() (6.2)	2: del_timer_sync()
 */
#include <linux/timer.h>

void conftest(struct timer_list *t);
void conftest(struct timer_list *t)
{
#if CT_FORM == 1
	timer_shutdown_sync(t);
#elif CT_FORM == 2
	del_timer_sync(t);
#endif
}
