// SPDX-License-Identifier: GPL-2.0
/*
 * Rates.  A producer has a virtual time: each charge moves it forward by the cost of the
 * records.  It may run ahead of the clock by the burst (one second); beyond that the
 * records are throttled.  One compare-and-exchange per charge, across CPUs.
 *
 * Records of a thread buffer are charged when they are read, each to its own time.  When a
 * buffer is read late, its producer's other records have moved the virtual time on already.
 * So it is also remembered by second how much of a producer's time was left unused.  A record
 * that exceeds the rate at its own time takes from what was left in the seconds after it.  So
 * records that were within the rate when they were written are not lost if the recorder
 * reads them late (of those older than the memory all compete for what it still holds).
 * A hostile thread can claim any time between its last record and now, but no time is used
 * twice: over its lifetime a producer gets no more than the rate and one burst.
 */
#include <linux/atomic.h>
#include <linux/errno.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include "core/producer.h"
#include "core/rate.h"

#define LEFT_SECONDS	256u		/* so long it is remembered what was left */

struct ct_rate_state {
	atomic64_t time[CT_RATES][CT_PRODUCERS]; /* virtual times */
	/* Virtual time that was left unused in second n: at n % LEFT_SECONDS. */
	atomic64_t left[CT_RATES][CT_PRODUCERS][LEFT_SECONDS];
};

static u64 rate_second_of(u64 time)
{
	return div64_u64(time, CT_RATE_SECOND);
}

/*
 * A charge has moved the virtual time from old to base, which was left unused, and on to end,
 * which was used.  The charge that moves it into a second sets what is left of that one; others
 * add.  Those that add before it was set are ns apart, and so is what they lose.
 */
static void rate_remember(atomic64_t *left, u64 old, u64 base, u64 end)
{
	u64 first = rate_second_of(old), last = rate_second_of(base), stop = rate_second_of(end);
	u64 n;

	if (first == last) {
		if (base != old)
			atomic64_add(base - old, &left[first % LEFT_SECONDS]);
	} else {
		atomic64_add((first + 1) * CT_RATE_SECOND - old, &left[first % LEFT_SECONDS]);
		n = last - first < LEFT_SECONDS ? first + 1 : last - LEFT_SECONDS + 1;
		for (; n < last; n++)
			atomic64_set(&left[n % LEFT_SECONDS], CT_RATE_SECOND);
		atomic64_set(&left[last % LEFT_SECONDS], base - last * CT_RATE_SECOND);
	}
	n = stop - last < LEFT_SECONDS ? last + 1 : stop - LEFT_SECONDS + 1;
	for (; n <= stop; n++)
		atomic64_set(&left[n % LEFT_SECONDS], 0);
}

/* Charge cost at time ns.  False: the rate is exceeded, nothing changed. */
static bool rate_charge(struct ct_rate_limits *l, enum ct_rate rate, u32 entry, u64 cost,
			u64 ns)
{
	atomic64_t *virtual_time = &l->state->time[rate][entry];
	u64 now = ns << CT_RATE_TIME_SHIFT, old, base;

	do {
		old = atomic64_read(virtual_time);
		base = max(old, now);
		/* An idle producer's charge passes even if it costs more than the burst. */
		if (base > now && base + cost - now > CT_RATE_SECOND)
			return false;
	} while (atomic64_cmpxchg(virtual_time, old, base + cost) != old);
	rate_remember(l->state->left[rate][entry], old, base, base + cost);
	return true;
}

static u64 rate_left_in(const atomic64_t *left, u64 second)
{
	return max_t(s64, atomic64_read(&left[second % LEFT_SECONDS]), 0);
}

/*
 * Charge cost to what was left in the seconds after that of ns.  False: that is less, and nothing
 * changed.  Only one task may do this at a time, and others may add meanwhile.
 */
static bool rate_charge_left(struct ct_rate_limits *l, enum ct_rate rate, u32 entry, u64 cost,
			     u64 ns)
{
	atomic64_t *left = l->state->left[rate][entry];
	u64 last = rate_second_of(atomic64_read(&l->state->time[rate][entry]));
	u64 first = rate_second_of(ns << CT_RATE_TIME_SHIFT) + 1, n, part, sum = 0;

	if (last > first && last - first >= LEFT_SECONDS)
		first = last - LEFT_SECONDS + 1;
	for (n = first; n <= last && sum < cost; n++)
		sum += rate_left_in(left, n);
	if (sum < cost)
		return false;
	for (n = first; n <= last && cost; n++) {
		part = min(rate_left_in(left, n), cost);
		atomic64_sub(part, &left[n % LEFT_SECONDS]);
		cost -= part;
	}
	return true;
}

bool ct_rate_charge(struct ct_rate_limits *l, u32 entry, u32 size, u32 records, u64 ns, bool late)
{
	const u32 units[CT_RATES] = { [CT_RATE_RECORDS] = records, [CT_RATE_BYTES] = size };
	u64 cost[CT_RATES];
	int rate;

	/* The state and the costs after any: pairs with ct_rate_set(). */
	if (!smp_load_acquire(&l->any))
		return true;
	for (rate = 0; rate < CT_RATES; rate++) {
		cost[rate] = READ_ONCE(l->cost[rate]) * units[rate];
		if (cost[rate] && !rate_charge(l, rate, entry, cost[rate], ns) &&
		    !(late && rate_charge_left(l, rate, entry, cost[rate], ns)))
			break;
	}
	if (rate == CT_RATES)
		return true;
	/* Refused: give back what the rates before this one have charged. */
	while (rate--)
		atomic64_sub(cost[rate], &l->state->time[rate][entry]);
	return false;
}

bool ct_rate_idle(const struct ct_rate_limits *l, u32 entry)
{
	u64 now = ktime_get_mono_fast_ns() << CT_RATE_TIME_SHIFT;
	enum ct_rate rate;

	/* The state after any: pairs with ct_rate_set(). */
	if (!smp_load_acquire(&l->any))
		return true;
	for (rate = 0; rate < CT_RATES; rate++)
		if (atomic64_read(&l->state->time[rate][entry]) > now)
			return false;
	return true;
}

void ct_rate_forget(struct ct_rate_limits *l, u32 entry)
{
	enum ct_rate rate;

	/* Its first charge then finds all that is remembered of the last producer unused. */
	for (rate = 0; l->state && rate < CT_RATES; rate++)
		atomic64_set(&l->state->time[rate][entry], 0);
}

int ct_rate_set(struct ct_rate_limits *l, u64 records, u64 bytes)
{
	struct ct_rate_state *state = l->state;

	if ((records || bytes) && !state) {
		state = kvzalloc(sizeof(*state), GFP_KERNEL_ACCOUNT);
		if (!state)
			return -ENOMEM;
		WRITE_ONCE(l->state, state);
	}
	WRITE_ONCE(l->cost[CT_RATE_RECORDS], records ? div64_u64(CT_RATE_SECOND, records) : 0);
	WRITE_ONCE(l->cost[CT_RATE_BYTES], bytes ? div64_u64(CT_RATE_SECOND, bytes) : 0);
	/* The state and the costs before any: pairs with those who charge. */
	smp_store_release(&l->any, records || bytes);
	return 0;
}

void ct_rate_free(struct ct_rate_limits *l)
{
	kvfree(l->state);
}
