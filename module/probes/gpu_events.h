/* SPDX-License-Identifier: GPL-2.0 */
/* Tracepoints about the GPU: fences, memory and errors. */
#ifndef CT_GPU_EVENTS_H
#define CT_GPU_EVENTS_H

#ifdef CONFIG_TRACEPOINTS
int ct_gpu_events_init(void);
void ct_gpu_events_exit(void);
#else
static inline int ct_gpu_events_init(void)
{
	return 0;
}

static inline void ct_gpu_events_exit(void)
{
}
#endif

#endif
