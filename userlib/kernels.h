/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The names of GPU kernels by their handles, learnt as the program looks them up.
 */
#ifndef CT_KERNELS_H
#define CT_KERNELS_H

#include "sys.h"

/* A handle (CUfunction, CUkernel) of this module or library has this name. */
void ct_kernel_learn(u64 handle, u64 module, u32 name);

/* The name's string id, 0 if it was never heard. */
u32 ct_kernel_name(u64 handle);
u64 ct_kernel_module(u64 handle);

/* The module or library was unloaded: its handles may come again as others. */
void ct_kernels_forget(u64 module);

#endif
