/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The pointers that dlsym() (dlsym.S) and cuGetProcAddress hand out.
 */
#ifndef CT_INTERPOSE_H
#define CT_INTERPOSE_H

#include "thunk.h"

/* The library's constructor ran: before, everything goes straight through. */
extern u8 ct_ready;

/* Last of all that has to be ready. */
void ct_interpose_start(void);

/* After cuGetProcAddress and cuGetProcAddress_v2: replaces what *pfn points to. */
void ct_after_get_proc_address(struct ct_frame *f);

#endif
