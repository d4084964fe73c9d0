/* SPDX-License-Identifier: GPL-2.0 */
/* Arrays of marks of any kind: what mark.c's fast path does not take. */
#ifndef CT_MARK_ARRAY_H
#define CT_MARK_ARRAY_H

#include <linux/types.h>

/*
 * ct_mark_array - CT_IOC_MARK; ct_mark_array_begin - CT_IOC_BEGIN.
 * @size:	bytes at user, at least a head
 * Task context, may sleep.  Errors as in cudatrace.h.
 */
long ct_mark_array(void __user *user, u32 size);
long ct_mark_array_begin(void __user *user, u32 size);

#endif
