// SPDX-License-Identifier: GPL-2.0
/*
 * Limits of producers: how much one user, container, process or cgroup may write.
 *
 * THE TABLE.  Each producer has its own entry in a table of the session; its rates (rate.c) and
 * its shares (share.c) go by the number of the entry.  Looking an entry up takes no lock, because
 * records are written in any context.  A producer's first record takes an entry that was never
 * used.  If there is none, it takes one whose producer has no debt of a rate and holds nothing of a
 * ring, but for the packets that are open.  To find that out means a look at all CPUs, maybe with
 * locks of the scheduler held, so it is done once a millisecond.  If it finds none, or another CPU
 * is making an entry at this moment, this record is charged to entry 0, which all such producers
 * share; that is counted.
 *
 * A producer that is looked up while its entry is given to another one charges that one, at most
 * a packet.
 *
 * The smallest share is a packet and the largest record: with less, a producer that is alone could
 * neither continue nor get its packet closed.
 */
#include <linux/atomic.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/timekeeping.h>
#include "core/limit.h"
#include "core/producer.h"
#include "core/rate.h"
#include "core/session.h"
#include "core/share.h"

/* So many entries are looked at for one that is free, and so often (ns). */
#define LIMIT_TRIES	4
#define LIMIT_LOOKS	NSEC_PER_MSEC

static_assert(CT_LIMIT_PRODUCERS + 1 == CT_PRODUCERS);

struct ct_limit {
	struct ct_limits arg;
	bool counted;			/* counted in ct_limiting */
	u64 share;			/* bytes of a ring, 0: no limit */
	struct ct_rate_limits rates;

	atomic_t making;		/* held while an entry is made; nobody waits for it */
	u32 next;			/* under making: the entry to look at next, */
	u64 look;			/* ns: not before */
	atomic64_t shared;		/* charges to entry 0 */
	u64 key[CT_PRODUCERS];		/* 0: never used */
};

DEFINE_STATIC_KEY_FALSE(ct_limiting);

/* Does this entry's producer hold nothing? */
static bool limit_idle(const struct ct_session_state *s, u32 entry)
{
	u32 i;

	if (!ct_rate_idle(&s->limit->rates, entry))
		return false;
	for (i = 0; i < s->cpus; i++)
		if (s->cpu[i] && s->cpu[i]->share && !ct_share_idle(s->cpu[i], entry))
			return false;
	return true;
}

static u32 limit_find_entry(const struct ct_limit *l, u64 key)
{
	u32 i;

	for (i = 1; i < CT_PRODUCERS; i++)
		if (READ_ONCE(l->key[i]) == key)
			return i;
	return CT_PRODUCER_SHARED;
}

/* An entry that was never used, or one of the next few whose producer holds nothing. */
static u32 limit_free_entry(const struct ct_session_state *s)
{
	struct ct_limit *l = s->limit;
	u64 now = ktime_get_mono_fast_ns();
	u32 tries, i;

	i = 1 + l->next % (CT_PRODUCERS - 1);
	if (l->key[i]) {
		if (now < l->look)
			return CT_PRODUCER_SHARED;
		l->look = now + LIMIT_LOOKS;
	}
	for (tries = 0; tries < LIMIT_TRIES; tries++) {
		i = 1 + l->next++ % (CT_PRODUCERS - 1);
		if (!l->key[i] || limit_idle(s, i))
			return i;
	}
	return CT_PRODUCER_SHARED;
}

static noinline u32 limit_make_entry(const struct ct_session_state *s, u64 key)
{
	struct ct_limit *l = s->limit;
	u32 entry = CT_PRODUCER_SHARED;

	if (!atomic_cmpxchg(&l->making, 0, 1)) {
		/* Another CPU may have made it meanwhile. */
		entry = limit_find_entry(l, key) ?: limit_free_entry(s);
		if (entry && l->key[entry] != key) {
			ct_rate_forget(&l->rates, entry);
			WRITE_ONCE(l->key[entry], key);
		}
		atomic_set_release(&l->making, 0);
	}
	if (!entry)
		atomic64_inc(&l->shared);
	return entry;
}

static u32 limit_entry_of(const struct ct_session_state *s, u64 key)
{
	u32 entry = limit_find_entry(s->limit, key);

	return likely(entry) ? entry : limit_make_entry(s, key);
}

/* @remember: the task is the current one, whose next records may use ct_share_spend() */
static local64_t *limit_charge(struct ct_cpu *cpu, struct task_struct *task, u32 size,
			       u32 records, bool remember)
{
	local64_t *charged = &cpu->uncounted;
	struct ct_limit *l = cpu->s->limit;
	u32 producer = limit_entry_of(cpu->s, ct_producer_of(task, READ_ONCE(l->arg.flags)));
	u64 share = READ_ONCE(l->share);
	enum ct_lost reason = CT_LOST_RATE;

	/* The rates after any: pairs with the release in ct_rate_set(). */
	if (smp_load_acquire(&l->rates.any)) {
		remember = false;
		if (!ct_rate_charge(&l->rates, producer, size, records, ktime_get_mono_fast_ns(),
				    false))
			goto lost;
	}
	if (!share) {
		local64_add(size, charged);
		return charged;
	}
	/* Who shares an entry looks for one of its own each time. */
	charged = ct_share_charge(cpu, producer, size, share, remember && producer);
	if (charged)
		return charged;
	reason = CT_LOST_SHARE;
lost:
	local64_add(records, ct_counter(&cpu->ring.status->lost[reason]));
	return NULL;
}

local64_t *ct_limit_charge(struct ct_cpu *cpu, u32 size, u32 records)
{
	ct_share_settle(cpu);
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

	/* The rates after any: pairs with the release in ct_rate_set(). */
	return !smp_load_acquire(&l->rates.any) ||
	       ct_rate_charge(&l->rates, limit_entry_of(s, key), size, records, ns, true);
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
	for_each_possible_cpu(cpu)
		if (ct_share_init(s->cpu[cpu], s->facts->subbuf_count))
			return -ENOMEM;
	return 0;
}

void ct_limit_free(struct ct_session_state *s)
{
	u32 i;

	for (i = 0; s->cpu && i < s->cpus; i++)
		if (s->cpu[i])
			ct_share_free(s->cpu[i]);
	if (s->limit)
		ct_rate_free(&s->limit->rates);
	kfree(s->limit);
}

void ct_limit_begin(struct ct_session_state *s)
{
	s->limit->counted = s->limit->rates.any || s->limit->share;
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
static void limit_settle(void *session)
{
	const struct ct_session_state *s = session;

	ct_share_settle(s->cpu[smp_processor_id()]);
}

int ct_limit_set(struct ct_session_state *s, const struct ct_limits *arg)
{
	bool lossless = !(s->facts->flags & CT_SESSION_OVERWRITE);
	u32 share = arg->share ? arg->share : CT_SHARE_DEFAULT;
	struct ct_limit *l = s->limit;
	int err;

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
	err = ct_rate_set(&l->rates, arg->records, arg->bytes);
	if (!err) {
		l->arg = *arg;
		l->arg.share = share;
		WRITE_ONCE(l->share, limit_share_bytes(s, share));
	}
	ct_limit_begin(s);
	on_each_cpu(limit_settle, s, 1);
	return err;
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
		arg->producers += READ_ONCE(l->key[i]) && !limit_idle(s, i);
}
