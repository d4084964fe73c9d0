// SPDX-License-Identifier: GPL-2.0
/*
 * Limits of producers: how much one user, container, process or cgroup may write.
 *
 * THE TABLE.  Each producer has its own entry in a table of the session; its rates (rate.c) and
 * its shares go by the number of the entry.  Looking an entry up takes no lock, because records are
 * written in any context.  A producer's first record takes an entry that was never used, or that of
 * the producer which has recorded nothing for the longest time, if that is a second.  If there is
 * none, this record is charged to entry 0, which all such producers share; that is counted.
 *
 * Who gets an entry begins with what its former producer still holds of the rings.  A producer that
 * is looked up while its entry is given to another one charges that one, at most a packet.
 *
 * SHARES of a lossless ring.  For each CPU's ring: the bytes that were ever charged to each entry,
 * and for each packet of the ring a copy of these counters from when the packet was opened.  The
 * owner consumes whole packets.  So an entry holds what was charged to it since the first packet
 * that is not consumed was opened: a difference of two counters, however much the owner consumes at
 * once.  A sub-buffer switch costs one copy.
 *
 * The counter that an entry may reach only grows as the owner consumes.  So it is remembered for
 * the task whose records were charged last, up to the packet's end: its next records only compare
 * with it (ct_limit_spend()).
 *
 * Only the ring's CPU changes these counters, but one writer may interrupt another, so each change
 * is one instruction.  What a writer charges that interrupts the copying may be missing from what
 * its entry holds, until that packet is consumed.  What it charges while another one compares may
 * exceed the share, by a record.  A record is charged to the packet that is open when it is
 * charged; it may go into the next one, so it can be uncharged one packet too early.
 *
 * The smallest share is a packet and the largest record: with less, a producer that is alone could
 * neither continue nor get its packet closed.
 */
#include <linux/atomic.h>
#include <linux/errno.h>
#include <linux/jiffies.h>
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/overflow.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/timekeeping.h>
#include <linux/topology.h>
#include <linux/vmalloc.h>
#include "core/limit.h"
#include "core/producer.h"
#include "core/rate.h"
#include "core/session.h"
#include "base/compat.h"
#include "base/pages.h"

static_assert(CT_LIMIT_PRODUCERS + 1 == CT_PRODUCERS);

struct ct_limit {
	struct ct_limits arg;
	bool counted;			/* counted in ct_limiting */
	u64 share;			/* bytes of a ring, 0: no limit */
	struct ct_rate_limits rates;
	atomic64_t shared;		/* charges to entry 0 */
	u64 key[CT_PRODUCERS];		/* 0: never used */
	unsigned long used[CT_PRODUCERS]; /* jiffies when it was looked up last */
};

/* Of one CPU's ring: what each entry has of it. */
struct ct_share {
	local64_t charged[CT_PRODUCERS];	/* bytes, since the session began */
	/* The same when the packet there was opened; it may wrap: a ring has 1 GiB at most */
	u32 before[][CT_PRODUCERS];
};

DEFINE_STATIC_KEY_FALSE(ct_limiting);

/* --------------------------------------------------------- the table ------- */

/* Was this entry looked up within a second? */
static bool limit_in_use(const struct ct_limit *l, u32 entry)
{
	return READ_ONCE(l->key[entry]) && time_before(jiffies, READ_ONCE(l->used[entry]) + HZ);
}

static u32 limit_find_entry(struct ct_limit *l, u64 key)
{
	unsigned long now = jiffies;
	u32 i;

	for (i = 1; i < CT_PRODUCERS; i++) {
		if (READ_ONCE(l->key[i]) != key)
			continue;
		if (READ_ONCE(l->used[i]) != now)
			WRITE_ONCE(l->used[i], now);
		return i;
	}
	return CT_PRODUCER_SHARED;
}

static noinline u32 limit_make_entry(struct ct_limit *l, u64 key)
{
	u32 i, oldest = 1;
	u64 old;

	for (i = 1; i < CT_PRODUCERS && READ_ONCE(l->key[oldest]); i++)
		if (!READ_ONCE(l->key[i]) ||
		    time_before(READ_ONCE(l->used[i]), READ_ONCE(l->used[oldest])))
			oldest = i;
	old = READ_ONCE(l->key[oldest]);
	if (!limit_in_use(l, oldest)) {
		/* If another CPU is quicker, it may be for the same producer. */
		cmpxchg64(&l->key[oldest], old, key);
		i = limit_find_entry(l, key);
		if (i)
			return i;
	}
	atomic64_inc(&l->shared);
	return CT_PRODUCER_SHARED;
}

static u32 limit_entry_of(struct ct_limit *l, u64 key)
{
	u32 entry = limit_find_entry(l, key);

	return likely(entry) ? entry : limit_make_entry(l, key);
}

/* ------------------------------------------------------------ shares ------- */

/* The counters when the packet was opened in which this position of the ring lies. */
static u32 *limit_before(const struct ct_ring *r, struct ct_share *sh, u64 position)
{
	return sh->before[(position & r->mask) >> ilog2(r->subbuf_size)];
}

/* What the entry holds, if the owner has consumed the packets up to this position. */
static s64 limit_held(const struct ct_ring *r, struct ct_share *sh, u32 entry, u64 charged,
		      u64 consumed)
{
	/* Signed: what was uncharged one packet too early makes it less than nothing. */
	return (s32)((u32)charged - READ_ONCE(limit_before(r, sh, consumed)[entry]));
}

/* Forget whose records were charged last, and what it may charge. */
static void limit_settle(struct ct_cpu *cpu)
{
	WRITE_ONCE(cpu->charged_max, 0);
}

/* The ring calls this before the packet that begins at start is opened. */
static void limit_open_packet(struct ct_ring *r, u64 start)
{
	struct ct_cpu *cpu = container_of(r, struct ct_cpu, ring);
	struct ct_share *sh = cpu->share;
	u32 *before = limit_before(r, sh, start);
	u32 i;

	limit_settle(cpu);
	for (i = 0; i < CT_PRODUCERS; i++)
		WRITE_ONCE(before[i], local64_read(&sh->charged[i]));
}

/* Charge size bytes to an entry, which may hold most.  Its counter; NULL: it would hold more. */
static local64_t *limit_charge_share(struct ct_cpu *cpu, u32 entry, u32 size, u64 most,
				     bool remember)
{
	struct ct_ring *r = &cpu->ring;
	struct ct_share *sh = cpu->share;
	local64_t *counter = &sh->charged[entry];
	u64 charged = local64_add_return(size, counter);
	/* The ring's last valid value first: reading the owner's costs more. */
	s64 held = limit_held(r, sh, entry, charged, READ_ONCE(r->consumed));

	if (held > (s64)most)
		held = limit_held(r, sh, entry, charged, ct_ring_consumed(r));
	if (held > (s64)most) {
		local64_sub(size, counter);
		return NULL;
	}
	if (remember) {
		cpu->charged = counter;
		WRITE_ONCE(cpu->charged_max, charged + most - held);
	}
	return counter;
}

/* ---------------------------------------------------------- charging ------- */

/* @remember: the task is the current one, whose next records may use ct_limit_spend() */
static local64_t *limit_charge(struct ct_cpu *cpu, struct task_struct *task, u32 size,
			       u32 records, bool remember)
{
	local64_t *charged = &cpu->uncounted;
	struct ct_limit *l = cpu->s->limit;
	u32 producer = limit_entry_of(l, ct_producer_of(task, READ_ONCE(l->arg.flags)));
	u64 share = READ_ONCE(l->share), now;
	enum ct_lost reason = CT_LOST_RATE;

	if (ct_rate_any(&l->rates)) {
		remember = false;
		now = ktime_get_mono_fast_ns();
		if (!ct_rate_charge(&l->rates, producer, size, records, now, now))
			goto lost;
	}
	if (!share) {
		local64_add(size, charged);
		return charged;
	}
	/* Who shares an entry looks for one of its own each time. */
	charged = limit_charge_share(cpu, producer, size, share, remember && producer);
	if (charged)
		return charged;
	reason = CT_LOST_SHARE;
lost:
	local64_add(records, ct_counter(&cpu->ring.status->lost[reason]));
	return NULL;
}

local64_t *ct_limit_charge(struct ct_cpu *cpu, u32 size, u32 records)
{
	limit_settle(cpu);
	return limit_charge(cpu, current, size, records, true);
}

local64_t *ct_limit_charge_task(struct ct_cpu *cpu, struct task_struct *task, u32 size)
{
	return limit_charge(cpu, task, size, 1, false);
}

void ct_limit_producer(struct ct_producer *producer)
{
	producer->user = ct_producer_of(current, 0);
	producer->process = ct_producer_of(current, CT_LIMIT_PROCESS);
	producer->cgroup = ct_producer_of(current, CT_LIMIT_CGROUP);
}

bool ct_limit_charge_late(struct ct_session_state *s, const struct ct_producer *producer, u64 ns,
			  u32 size, u32 records)
{
	struct ct_limit *l = s->limit;
	u32 flags = READ_ONCE(l->arg.flags);
	u64 key = flags & CT_LIMIT_PROCESS ? producer->process :
		  flags & CT_LIMIT_CGROUP ? producer->cgroup : producer->user;

	return !ct_rate_any(&l->rates) ||
	       ct_rate_charge(&l->rates, limit_entry_of(l, key), size, records, ns,
			      max(ns, ktime_get_mono_fast_ns()));
}

/* ---------------------------------------------- a session's limits --------- */

static u64 limit_share_bytes(const struct ct_session_state *s, u32 percent)
{
	u64 ring = (u64)s->facts->subbuf_size * s->facts->subbuf_count;

	if (percent >= 100)
		return 0;
	return max_t(u64, div_u64(ring * percent, 100), s->facts->subbuf_size + CT_RECORD_MAX);
}

int ct_limit_init(struct ct_session_state *s, bool lossless)
{
	struct ct_cpu *c;
	unsigned int cpu;

	s->limit = kzalloc(sizeof(*s->limit), GFP_KERNEL_ACCOUNT);
	if (!s->limit)
		return -ENOMEM;
	if (!lossless) {
		s->limit->arg.share = 100;
		return 0;
	}
	s->limit->arg.share = CT_SHARE_DEFAULT;
	s->limit->share = limit_share_bytes(s, CT_SHARE_DEFAULT);
	for_each_possible_cpu(cpu) {
		c = s->cpu[cpu];
		c->share = ct_pages_alloc(struct_size(c->share, before, s->facts->subbuf_count),
					  cpu_to_node(cpu));
		if (!c->share)
			return -ENOMEM;
		c->ring.before_packet = limit_open_packet;
	}
	return 0;
}

void ct_limit_free(struct ct_session_state *s)
{
	u32 i;

	for (i = 0; s->cpu && i < s->cpus; i++)
		if (s->cpu[i])
			vfree(s->cpu[i]->share);
	kfree(s->limit);
}

void ct_limit_begin(struct ct_session_state *s)
{
	s->limit->counted = ct_rate_any(&s->limit->rates) || s->limit->share;
	if (s->limit->counted)
		static_branch_inc(&ct_limiting);
}

void ct_limit_end(struct ct_session_state *s)
{
	if (s->limit->counted)
		static_branch_dec(&ct_limiting);
	s->limit->counted = false;
}

/* On each CPU: what the old limits allowed must not be used. */
static void limit_settle_here(void *session)
{
	const struct ct_session_state *s = session;

	limit_settle(s->cpu[smp_processor_id()]);
}

int ct_limit_set(struct ct_session_state *s, const struct ct_limits *arg)
{
	bool lossless = !(s->facts->flags & CT_SESSION_OVERWRITE);
	u32 share = arg->share ? arg->share : CT_SHARE_DEFAULT;
	struct ct_limit *l = s->limit;

	if (arg->flags & ~(CT_LIMIT_PROCESS | CT_LIMIT_CGROUP) ||
	    arg->flags == (CT_LIMIT_PROCESS | CT_LIMIT_CGROUP) || arg->share > 100 ||
	    arg->records > CT_RATE_MAX || arg->bytes > CT_RATE_MAX)
		return -EINVAL;
	if (arg->flags & CT_LIMIT_CGROUP && !IS_ENABLED(CONFIG_CGROUPS))
		return -EOPNOTSUPP;
	if (!lossless) {
		if (arg->share && arg->share < 100)
			return -EINVAL;
		share = 100;
	}
	/* Bytes that producers hold of the rings stay charged until they are consumed. */
	ct_limit_end(s);
	ct_rate_set(&l->rates, arg->records, arg->bytes);
	l->arg = *arg;
	l->arg.share = share;
	WRITE_ONCE(l->share, limit_share_bytes(s, share));
	ct_limit_begin(s);
	on_each_cpu(limit_settle_here, s, 1);
	return 0;
}

void ct_limit_get(const struct ct_session_state *s, struct ct_limits *arg)
{
	const struct ct_limit *l = s->limit;
	u32 size = arg->size, i;

	*arg = l->arg;
	arg->size = size;
	arg->producers = 0;
	arg->shared = atomic64_read(&l->shared);
	for (i = 1; i < CT_PRODUCERS; i++)
		arg->producers += limit_in_use(l, i);
}
