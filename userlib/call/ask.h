/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The name of a kernel that the program looked up before the library was there.
 */
#ifndef CT_ASK_H
#define CT_ASK_H

#include "call/frame.h"

/* Only in a process that was attached to: a preloaded library has heard all names. */
extern bool ct_kernel_ask_driver;

/*
 * Asks libcuda for the name of the kernel with this handle (CUfunction or CUkernel), and learns
 * it.  Returns its string id; 0 if libcuda does not tell: older than CUDA 12.3.
 */
u32 ct_kernel_ask(u64 handle);

#endif
