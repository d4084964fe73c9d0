/* SPDX-License-Identifier: GPL-2.0 */
/* How much memory the thread buffers of a producer have, of all sessions together. */
#ifndef CT_THREADBUF_QUOTA_H
#define CT_THREADBUF_QUOTA_H

#include <linux/types.h>

/*
 * ct_threadbuf_quota_charge - charge a thread buffer of so many bytes to a user or container.  May
 * sleep.  0; -EDQUOT: CT_THREADBUF_QUOTA or CT_THREADBUF_QUOTA_COUNT; -ENOMEM.
 * ct_threadbuf_quota_uncharge - its memory is freed.  May sleep.
 */
int ct_threadbuf_quota_charge(u64 producer, u64 bytes);
void ct_threadbuf_quota_uncharge(u64 producer, u64 bytes);

#endif
