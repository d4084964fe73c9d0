/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The pointers that cuGetProcAddress hands out.
 */
#ifndef CT_INTERPOSE_H
#define CT_INTERPOSE_H

#include "call/frame.h"

/* After cuGetProcAddress and cuGetProcAddress_v2: replaces what *pfn points to. */
void ct_after_get_proc_address(struct ct_frame *f);

#endif
