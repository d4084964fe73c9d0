/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What all of the plugin uses: the library that records, and CUPTI. */
#ifndef CT_GPU_CUPTI_H
#define CT_GPU_CUPTI_H

#include <stdbool.h>

#include "../module/uapi/cudatrace.h"
#include "call/host.h"
#include "plugins/gpu/cupti_abi.h"

#define load(p)		__atomic_load_n(p, __ATOMIC_ACQUIRE)
#define store(p, v)	__atomic_store_n(p, v, __ATOMIC_RELEASE)

/* Set before anything is collected. */
extern const struct ct_host *host;
extern struct cupti cupti;

/* Goes up with each buffer that CUPTI gives back and each packet that is written. */
extern u32 progress;

/* Finds the functions of CUPTI; NULL, or the name of one that is missing. */
const char *cupti_load(void *handle);

/* What went wrong, in words. */
const char *cupti_why(int error);

#endif
