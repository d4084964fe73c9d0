/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The name of a kernel that the program looked up before the library was there.
 */
#ifndef CT_ASK_H
#define CT_ASK_H

#include "base/sys.h"

/*
 * Asks libcuda for the name of the kernel with this handle (CUfunction or CUkernel), and learns
 * it: kernel_HANDLE if libcuda does not tell (older than CUDA 12.3).  Returns its string id.
 */
u32 ct_kernel_ask(u64 handle);

#endif
