/* SPDX-License-Identifier: GPL-2.0 */
/* The scheduler's tracepoints: traced threads leave the CPU, are woken and get a CPU. */
#ifndef CT_SCHED_EVENTS_H
#define CT_SCHED_EVENTS_H

#ifdef CONFIG_TRACEPOINTS
int ct_sched_events_init(void);
void ct_sched_events_exit(void);
#else
static inline int ct_sched_events_init(void)
{
	return 0;
}

static inline void ct_sched_events_exit(void)
{
}
#endif

#endif
