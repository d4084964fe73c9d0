/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * dlsym() and dlvsym(), and what follows cuGetProcAddress.
 */
#ifndef CT_INTERPOSE_H
#define CT_INTERPOSE_H

#include "call/frame.h"

/*
 * Finds the real dlsym() and dlvsym(), which a child could not.  ours: those of dlsym.S;
 * bound: the dlsym() that objects find without one of these.
 */
void ct_interpose_start(void *ours_dlsym, void *ours_dlvsym, void *bound);

/* After cuGetProcAddress and cuGetProcAddress_v2: replaces what *pfn points to. */
void ct_after_get_proc_address(struct ct_frame *f);

#endif
