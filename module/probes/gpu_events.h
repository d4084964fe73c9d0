/* SPDX-License-Identifier: GPL-2.0 */
/* Tracepoints about the GPU: fences, memory, errors and the driver's interrupts. */
#ifndef CT_GPU_EVENTS_H
#define CT_GPU_EVENTS_H

int ct_gpu_events_init(void);
void ct_gpu_events_exit(void);

#endif
