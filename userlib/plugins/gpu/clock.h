/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* CUPTI's times on the trace's clock. */
#ifndef CT_GPU_CLOCK_H
#define CT_GPU_CLOCK_H

#include "plugins/gpu/cupti.h"

/* Once, before any kind is enabled. */
void clock_start(void);

/* Before the records of a batch are converted. */
void clock_update(void);

/* ns; 0 stays 0. */
u64 clock_ns(u64 cupti_time);

/* Another tool goes on with CUPTI's own clock. */
void clock_give_back(void);

/* Another trace begins: nothing is known of its clock. */
void clock_forget(void);

#endif
