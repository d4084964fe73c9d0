/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Typed arguments: which layout a function's records have, and who fills it.
 */
#ifndef CT_DECODE_H
#define CT_DECODE_H

#include "call/frame.h"

struct ct_binding {
	u8 layout;
	u8 size;		/* bytes of the layout */
	ct_extract *extract;	/* NULL: no argument of it is recorded */
};

/* By the name without _vN and _ptsz, and the N. */
struct ct_binding ct_binding_of(const char *name, unsigned version);

#endif
