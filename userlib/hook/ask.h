/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the program made or looked up before the library was there: names of kernels, ranks of communicators.
 */
#ifndef CT_ASK_H
#define CT_ASK_H

#include "base/sys.h"
#include "call/frame.h"

/*
 * Asks libcuda for the name of the kernel with this handle (CUfunction or CUkernel), and learns
 * it: kernel_HANDLE if libcuda does not tell (older than CUDA 12.3).  Returns its string id.
 */
u32 ct_kernel_ask(u64 handle);

/* Asks the libnccl whose function was called for a communicator's ranks and its own rank; false: it does not tell. */
bool ct_collective_ask(const struct ct_frame *f, u64 comm, u32 *ranks, u32 *rank);

#endif
