/* SPDX-License-Identifier: GPL-2.0 */
/* What is counted of a probe or a tracepoint. */
#ifndef CT_COUNT_H
#define CT_COUNT_H

#include <linux/math64.h>
#include <linux/percpu.h>
#include <linux/string.h>
#include <linux/types.h>
#include "base/clock.h"

/* Counters on one CPU. */
struct ct_count {
	u64 hits; /* records tried */
	u64 lost; /* records that found no room in the ring */
	u64 cost; /* ns in the handlers, of the calls that were timed */
	u32 timed; /* calls that were timed */
	u32 calls; /* for sampling */
};

/*
 * ct_count_time_begins - the time if this hit is one of those (1 in 64) whose handlers are timed,
 * else 0.  What the kernel needs to reach the handler (a breakpoint, or ftrace) is not in it.
 * Preemption is disabled.
 */
static __always_inline u64 ct_count_time_begins(struct ct_count __percpu *count)
{
	return unlikely(!(this_cpu_read(count->hits) & 63)) ? ct_clock_ns() : 0;
}

/* ct_count_cost - ns that the handlers take for a hit, averaged over the hits that were timed. */
static inline u64 ct_count_cost(struct ct_count __percpu *count)
{
	u64 cost = 0, timed = 0;
	int cpu;

	for_each_possible_cpu(cpu) {
		cost += per_cpu_ptr(count, cpu)->cost;
		timed += per_cpu_ptr(count, cpu)->timed;
	}
	return timed ? div64_u64(cost, timed) : 0;
}

/* ct_count_clear - all CPUs; no handler runs. */
static inline void ct_count_clear(struct ct_count __percpu *count)
{
	int cpu;

	for_each_possible_cpu(cpu)
		memset(per_cpu_ptr(count, cpu), 0, sizeof(struct ct_count));
}

#endif
