/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The names of GPU kernels by their handles, learnt as the program looks them up.
 */
#ifndef CT_KERNELS_H
#define CT_KERNELS_H

#include "call/frame.h"

/* A handle (CUfunction, CUkernel) of this module or library has this name. */
void ct_kernel_learn(u64 handle, u64 module, u32 name);

/* An entry of the table, whose rules are in kernels.c.*/
struct ct_kernel {
	u64 handle;
	u32 name;
	u32 next;		/* in the list of those in use */
	u64 module;
};

#define CT_KERNEL_HASH	0x9e3779b97f4a7c15
#define CT_KERNEL_BITS	16
#define CT_KERNELS	(1u << CT_KERNEL_BITS)

extern struct ct_kernel *ct_kernels;

/* Where the search for a handle begins. */
static inline u32 ct_kernel_first(u64 handle)
{
	return (u32)((handle * CT_KERNEL_HASH) >> (64 - CT_KERNEL_BITS));
}

/*
 * Asks libcuda for a name that was never heard, and learns it: its string id, or 0.  Only set in a
 * process that was attached to: a preloaded library has heard all names.
 */
extern u32 (*ct_kernel_asked)(u64 handle);

/* The name's string id, 0 if it was never heard. */
u32 ct_kernel_name(u64 handle);

/* At every launch: 0 also if the name is not where its search begins. */
static inline u32 ct_kernel_name_quick(u64 handle)
{
	const struct ct_kernel *t = ct_load(&ct_kernels);

	if (unlikely(!t || !handle))
		return 0;
	t += ct_kernel_first(handle);
	return likely(__atomic_load_n(&t->handle, __ATOMIC_RELAXED) == handle) ?
	       __atomic_load_n(&t->name, __ATOMIC_RELAXED) : 0;
}

u64 ct_kernel_module(u64 handle);

/* Another recording begins, with other ids: all names are to be learnt again. */
void ct_kernels_renew(void);

/* The module or library was unloaded: its handles may come again as others. */
void ct_kernels_forget(u64 module);

#endif
