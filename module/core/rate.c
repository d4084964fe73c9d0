// SPDX-License-Identifier: GPL-2.0
/*
 * Rates: for each producer a token bucket that holds one second.
 *
 * A producer has a virtual time: each charge moves it forward by the cost of the records.  It may
 * run ahead of the clock by the burst (one second); beyond that the records are throttled.
 *
 * Records of a thread buffer are charged when they are read, each to its own time.  When a buffer
 * is read late, its producer's other records have moved the virtual time on already.  So all that
 * it has used is summed as well, in a second virtual time, which stays behind the clock by what was
 * left, by 256 seconds at most.  A late record that exceeds the rate at its own time takes from
 * that.  So records that were within the rate when they were written are not lost if the recorder
 * reads them late (of those older than 256 seconds all compete for what is left).
 *
 * A hostile thread can claim that its records are late, but no time is used twice: since the rates
 * were set, a producer gets no more than the rate and one burst.
 */
#include <linux/atomic.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include "core/rate.h"

#define LEFT_MAX	(256 * CT_RATE_SECOND)	/* so much of what was left is remembered */

/*
 * Move virtual times of an entry on by these costs, each from where it is, but at least from.
 * False: one of them would go beyond most; then nothing changed.  Who was not ahead of from passes,
 * even if a record costs more than the burst.
 */
static bool rate_move(atomic64_t (*time)[CT_PRODUCERS], u32 entry, const u64 *cost, u64 from,
		      u64 most)
{
	u64 old, base;
	int rate;

	for (rate = 0; rate < CT_RATES; rate++) {
		if (!cost[rate])
			continue;
		do {
			old = atomic64_read(&time[rate][entry]);
			base = max(old, from);
			if (base > from && base + cost[rate] > most)
				goto refused;
		} while (atomic64_cmpxchg(&time[rate][entry], old, base + cost[rate]) != old);
	}
	return true;
refused:
	while (rate--)
		atomic64_sub(cost[rate], &time[rate][entry]);
	return false;
}

bool ct_rate_charge(struct ct_rate_limits *l, u32 entry, u32 size, u32 records, u64 ns, u64 now)
{
	const u64 cost[CT_RATES] = {
		[CT_RATE_RECORDS] = READ_ONCE(l->cost[CT_RATE_RECORDS]) * records,
		[CT_RATE_BYTES] = READ_ONCE(l->cost[CT_RATE_BYTES]) * size,
	};
	u64 at = ns << CT_RATE_TIME_SHIFT, since = READ_ONCE(l->since);
	bool passes = rate_move(l->time, entry, cost, at, at + CT_RATE_SECOND);

	now <<= CT_RATE_TIME_SHIFT;
	if (!passes && now - at <= CT_RATE_SECOND)
		return false;
	if (now - since > LEFT_MAX)
		since = now - LEFT_MAX;
	return rate_move(l->used, entry, cost, since, passes ? ~0ull : now);
}

void ct_rate_set(struct ct_rate_limits *l, u64 records, u64 bytes)
{
	WRITE_ONCE(l->since, ktime_get_mono_fast_ns() << CT_RATE_TIME_SHIFT);
	WRITE_ONCE(l->cost[CT_RATE_RECORDS], records ? div64_u64(CT_RATE_SECOND, records) : 0);
	WRITE_ONCE(l->cost[CT_RATE_BYTES], bytes ? div64_u64(CT_RATE_SECOND, bytes) : 0);
}
