/* SPDX-License-Identifier: GPL-2.0 */
/* How much of the kernel's memory a producer may have, of all sessions together. */
#ifndef CT_QUOTA_H
#define CT_QUOTA_H

#include <linux/types.h>

/* What is counted. */
enum ct_quota { CT_QUOTA_OF_CLASSES, CT_QUOTA_OF_STRINGS, CT_QUOTA_OF_THREADBUFS, CT_QUOTAS };

/*
 * ct_quota_charge - charge one thing of so many bytes to a producer (ct_producer_of()).
 * ct_quota_uncharge - its memory is freed.  With the same arguments.
 * Both may sleep.  0; -EDQUOT: its quota, or that of all but the machine's root; -ENOMEM.
 */
int ct_quota_charge(enum ct_quota quota, u64 producer, u64 bytes);
void ct_quota_uncharge(enum ct_quota quota, u64 producer, u64 bytes);

#endif
