/* SPDX-License-Identifier: GPL-2.0 */
/* Records and bytes per second of each producer, by its entry in the table of limit.c. */
#ifndef CT_RATE_H
#define CT_RATE_H

#include <linux/atomic.h>
#include <linux/time64.h>
#include <linux/types.h>
#include "core/producer.h"

/* The unit of virtual time is 1/64 ns, so that rates above 1 GB a second are possible. */
#define CT_RATE_TIME_SHIFT	6
#define CT_RATE_SECOND		((u64)NSEC_PER_SEC << CT_RATE_TIME_SHIFT)
#define CT_RATE_MAX		CT_RATE_SECOND	/* a record or byte then costs one unit */

enum ct_rate { CT_RATE_RECORDS, CT_RATE_BYTES, CT_RATES };

/* The rates of a session.  A struct of zeros has none. */
struct ct_rate_limits {
	u64 cost[CT_RATES];		/* virtual time of a record and of a byte, 0: no limit */
	u64 since;			/* virtual time at which they were set */
	/* Virtual times of each producer: rate.c. */
	atomic64_t time[CT_RATES][CT_PRODUCERS];
	atomic64_t used[CT_RATES][CT_PRODUCERS];
};

/* ct_rate_set - set the rates, per second; 0: no limit.  One call at a time. */
void ct_rate_set(struct ct_rate_limits *l, u64 records, u64 bytes);

/* ct_rate_any - is there a rate?  Any context. */
static inline bool ct_rate_any(const struct ct_rate_limits *l)
{
	return READ_ONCE(l->cost[CT_RATE_RECORDS]) || READ_ONCE(l->cost[CT_RATE_BYTES]);
}

/*
 * ct_rate_charge - charge records, and their size in bytes.
 * @ns:		when they were written
 * @now:	when they are charged: more than a second later, they may use what is left since
 * Returns false if they are throttled: then nothing was charged.  Any context.
 */
bool ct_rate_charge(struct ct_rate_limits *l, u32 entry, u32 size, u32 records, u64 ns, u64 now);

#endif
