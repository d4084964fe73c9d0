/* SPDX-License-Identifier: GPL-2.0 */
/* Records and bytes per second of each producer, by its entry in the table of limit.c. */
#ifndef CT_RATE_H
#define CT_RATE_H

#include <linux/time64.h>
#include <linux/types.h>

/* The unit of virtual time is 1/64 ns, so that rates above 1 GB a second are possible. */
#define CT_RATE_TIME_SHIFT	6
#define CT_RATE_SECOND		((u64)NSEC_PER_SEC << CT_RATE_TIME_SHIFT)
#define CT_RATE_MAX		CT_RATE_SECOND	/* a record or byte then costs one unit */

enum ct_rate { CT_RATE_RECORDS, CT_RATE_BYTES, CT_RATES };

struct ct_rate_state;

/* The rates of a session.  A struct of zeros has none. */
struct ct_rate_limits {
	bool any;			/* one of the two costs is not 0 */
	u64 cost[CT_RATES];		/* virtual time of a record and of a byte, 0: no limit */
	struct ct_rate_state *state;	/* made with the first rate */
};

/*
 * ct_rate_set - set the rates, per second; 0: no limit.  Returns 0 or -ENOMEM.  May sleep; one
 * call at a time.
 * ct_rate_free - free what it has allocated.
 */
int ct_rate_set(struct ct_rate_limits *l, u64 records, u64 bytes);
void ct_rate_free(struct ct_rate_limits *l);

/*
 * ct_rate_charge - charge records, and their size in bytes, at a time (ns).
 * @late:	they were written at that time and are read now: what was left since may be used.
 *		One such call at a time for a session.
 * Returns false if they are throttled: then nothing was charged.  Any context.
 */
bool ct_rate_charge(struct ct_rate_limits *l, u32 entry, u32 size, u32 records, u64 ns, bool late);

/*
 * ct_rate_idle - has the entry's producer no debt, so that it may be forgotten?  Any context.
 * ct_rate_forget - the entry is given to a new producer.  Any context.
 */
bool ct_rate_idle(const struct ct_rate_limits *l, u32 entry);
void ct_rate_forget(struct ct_rate_limits *l, u32 entry);

#endif
