/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Extractors: they fill a record's payload from a call.
 *
 * Rules for all of them, those of arguments.h too.  Values that are passed in registers
 * or on the stack are always read.  What a program's pointer leads to is read only after
 * the call, and only if its result shows that libcuda read or wrote it; any pointer may be
 * NULL.  Must never call CUDA.
 */
#ifndef CT_EXTRACT_H
#define CT_EXTRACT_H

#include "call/frame.h"

/* The call returned and succeeded: what it wrote may be read. */
static inline bool ct_done(const struct ct_frame *f, bool after)
{
	return after && !(u32)f->result;
}

/* ... or failed in a way that shows that it read its arguments. */
static inline bool ct_read(const struct ct_frame *f, bool after)
{
	switch (after ? (u32)f->result : ~0u) {
	case 0:		/* success */
	case 2:		/* out of memory */
	case 200:	/* invalid image */
	case 209:	/* no binary for this GPU */
	case 218:	/* invalid PTX */
	case 301:	/* file not found */
	case 500:	/* name not found */
		return true;
	}
	return false;
}

/* The word at this byte of what argument n leads to; 0 if it can't be read. */
static inline u64 ct_word(const struct ct_frame *f, bool after, unsigned n, u32 at)
{
	const char *p = (const char *)ct_arg(f, n);

	return ct_done(f, after) && p ? *(const u64 *)(p + at) : 0;
}

/* The id of the text that argument n leads to, slow the first time; 0 for none. */
u32 ct_text(const struct ct_frame *f, bool after, unsigned n);

/* The id of a text of the program; 0 for none. */
u32 ct_string_id(const char *s);

/* The id of a kernel's name, which libcuda is asked for where that is allowed; 0: it is not known. */
u32 ct_kernel_named(u64 handle);

/* Two numbers side by side in one store, as whole words are read back at once. */
static inline u64 ct_two(u32 low, u64 high)
{
	return low | high << 32;
}

/* By hand. */
ct_extract ct_x_launch, ct_x_launch_ex;
ct_extract ct_x_module_unload, ct_x_get_function, ct_x_kernel_function, ct_x_learn_name;

#endif
