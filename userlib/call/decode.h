/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Typed arguments: which layout a function's records have, and who fills it.
 *
 * Rules for all extractors.  Values that are passed in registers or on the stack
 * are always read.  What a program's pointer leads to is read only after the
 * call, and only if its result shows that libcuda read or wrote it; any pointer
 * may be NULL.  Must never call CUDA.
 */
#ifndef CT_DECODE_H
#define CT_DECODE_H

#include "call/frame.h"

struct ct_binding {
	const char *name;	/* of the function, without _vN and _ptsz */
	u8 from, to;		/* versions of the symbol that have this signature */
	u8 layout;
	u8 size;		/* bytes of the layout */
	ct_extract *extract;
};

const struct ct_binding *ct_binding_of(const char *name, unsigned version);

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

/* What the pointer in argument n leads to; 0 if it can't be read. */
static inline u64 ct_out(const struct ct_frame *f, unsigned n, bool after)
{
	const u64 *p = (const u64 *)ct_arg(f, n);

	return ct_done(f, after) && p ? *p : 0;
}

/* Two numbers side by side in one store, as whole words are read back at once. */
static inline u64 ct_two(u32 low, u64 high)
{
	return low | high << 32;
}

#define CT_EXTRACTOR(name)	\
	void ct_x_##name(const struct ct_frame *f, void *payload, bool after)

CT_EXTRACTOR(launch);	/* thunks.S does the same */

/* The id of a text of the program, cold and slow the first time; 0 for none. */
u32 ct_string_id(const char *s);

#endif
