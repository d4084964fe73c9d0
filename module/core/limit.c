// SPDX-License-Identifier: GPL-2.0
/*
 * Limits of producers: how much one user, process or cgroup may write.
 *
 * A producer's key is hashed to a bucket.  The hash has a random seed per session, so that
 * a producer cannot choose with which other one it shares a bucket.
 *
 * RATE.  A bucket has a virtual time: each charge moves it forward by the cost of the
 * records.  It may run ahead of the clock by the burst (one second); beyond that the
 * records are throttled.  One compare-and-exchange per charge, across CPUs.
 *
 * Records of a thread buffer are charged when they are read, each to its own time.  When a
 * buffer is read late, its producer's other records have moved the virtual time on already.
 * So a bucket also remembers by second how much of its time was left unused.  A record that
 * exceeds the rate at its own time takes from what was left in the seconds after it.  So
 * records that were within the rate when they were written are not lost if the recorder
 * reads them late (of those older than the memory all compete for what it still holds).
 * A hostile thread can claim any time between its last record and now, but no time is used
 * twice: over its lifetime a producer gets no more than the rate and one burst.
 *
 * SHARE.  For each CPU's ring: the bytes that were ever charged to each bucket, and for each
 * packet of the ring a copy of these counters from when the packet was opened.  The owner
 * consumes whole packets.  So a bucket holds what was charged to it since the first packet
 * that is not consumed was opened: a difference of two counters, however much the owner
 * consumes at once.  A sub-buffer switch costs one copy.
 * Only the ring's CPU changes these counters, but one writer may interrupt another, so each
 * change is one instruction.  What a writer charges that interrupts the copying may be
 * missing from what its bucket holds, until that packet is consumed.
 *
 * A record is charged to the packet that is open when it is charged.  The record itself may
 * go into the next packet, so it can be uncharged one packet too early.  The smallest
 * share is one packet: with less, a producer that is alone could neither continue nor get
 * its packet closed.
 */
#include <linux/cred.h>
#include <linux/hash.h>
#include <linux/log2.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/vmalloc.h>
#include "core/limit.h"
#include "core/session.h"
#include "base/cgroup.h"
#include "base/pages.h"

#define BUCKET_BITS	6
#define BUCKETS		(1u << BUCKET_BITS)

/* The unit of virtual time is 1/64 ns, so that rates above 1 GB a second are possible. */
#define TIME_SHIFT	6
#define SECOND		(NSEC_PER_SEC << TIME_SHIFT)
#define RATE_MAX	SECOND		/* a record or byte then costs one unit */
#define LEFT_SECONDS	256u		/* so long a bucket remembers what was left */

struct ct_share {
	local64_t charged[BUCKETS];	/* bytes, since the session began */
	s64 before[][BUCKETS];		/* the same when the packet at that place was opened */
};

enum limit_rate { RATE_RECORDS, RATE_BYTES, RATES };

/* Virtual time that was left unused in second n: at n % LEFT_SECONDS. */
struct limit_left {
	atomic64_t second[RATES][BUCKETS][LEFT_SECONDS];
};

struct ct_limit {
	struct ct_limits arg;
	bool counted;			/* counted in ct_limiting */
	bool has_rates;			/* one of the two costs is not 0 */
	u32 seed;			/* of the hash */
	u64 cost[RATES];		/* virtual time of a record and of a byte, 0: no limit */
	u64 share;			/* bytes of a ring, 0: no limit */
	struct limit_left *left;	/* made with the first rate */
	atomic64_t time[RATES][BUCKETS]; /* virtual times */
};

DEFINE_STATIC_KEY_FALSE(ct_limiting);

static u32 limit_bucket_of(const struct ct_limit *l, u32 key)
{
	return hash_32(key ^ l->seed, BUCKET_BITS);
}

static u32 limit_bucket_of_current(const struct ct_limit *l)
{
	u32 flags = READ_ONCE(l->arg.flags);

	if (flags & CT_LIMIT_PROCESS)
		return limit_bucket_of(l, current->tgid);
	if (flags & CT_LIMIT_CGROUP)
		return limit_bucket_of(l, ct_cgroup_id(current));
	return limit_bucket_of(l, __kuid_val(current_uid()));
}

/* The task may change its cgroup or user meanwhile: RCU keeps the old ones alive. */
static u32 limit_bucket_of_task(const struct ct_limit *l, struct task_struct *task)
{
	u32 flags = READ_ONCE(l->arg.flags), bucket;

	if (flags & CT_LIMIT_PROCESS)
		return limit_bucket_of(l, task->tgid);
	rcu_read_lock();
	if (flags & CT_LIMIT_CGROUP)
		bucket = limit_bucket_of(l, ct_cgroup_id(task));
	else
		bucket = limit_bucket_of(l, __kuid_val(__task_cred(task)->uid));
	rcu_read_unlock();
	return bucket;
}

static u64 limit_second_of(u64 time)
{
	return div64_u64(time, SECOND);
}

/*
 * A charge has moved the virtual time from old to base, which was left unused, and on to end,
 * which was used.  The charge that moves it into a second sets what is left of that one; others
 * add.  Those that add before it was set are ns apart, and so is what they lose.
 */
static void limit_remember(atomic64_t *left, u64 old, u64 base, u64 end)
{
	u64 first = limit_second_of(old), last = limit_second_of(base), stop = limit_second_of(end);
	u64 n;

	if (first == last) {
		if (base != old)
			atomic64_add(base - old, &left[first % LEFT_SECONDS]);
	} else {
		atomic64_add((first + 1) * SECOND - old, &left[first % LEFT_SECONDS]);
		n = last - first < LEFT_SECONDS ? first + 1 : last - LEFT_SECONDS + 1;
		for (; n < last; n++)
			atomic64_set(&left[n % LEFT_SECONDS], SECOND);
		atomic64_set(&left[last % LEFT_SECONDS], base - last * SECOND);
	}
	n = stop - last < LEFT_SECONDS ? last + 1 : stop - LEFT_SECONDS + 1;
	for (; n <= stop; n++)
		atomic64_set(&left[n % LEFT_SECONDS], 0);
}

/* Charge cost at time ns.  False: the rate is exceeded, nothing changed. */
static bool limit_charge_rate(struct ct_limit *l, enum limit_rate rate, u32 bucket, u64 cost, u64 ns)
{
	atomic64_t *virtual_time = &l->time[rate][bucket];
	u64 now = ns << TIME_SHIFT, old, base;

	do {
		old = atomic64_read(virtual_time);
		base = max(old, now);
		/* An idle producer's charge passes even if it costs more than the burst. */
		if (base > now && base + cost - now > SECOND)
			return false;
	} while (atomic64_cmpxchg(virtual_time, old, base + cost) != old);
	limit_remember(l->left->second[rate][bucket], old, base, base + cost);
	return true;
}

static u64 limit_left_in(const atomic64_t *left, u64 second)
{
	return max_t(s64, atomic64_read(&left[second % LEFT_SECONDS]), 0);
}

/*
 * Charge cost to what was left in the seconds after that of ns.  False: that is less, and nothing
 * changed.  Only one task may do this at a time, and others may add meanwhile.
 */
static bool limit_charge_left(struct ct_limit *l, enum limit_rate rate, u32 bucket, u64 cost, u64 ns)
{
	atomic64_t *left = l->left->second[rate][bucket];
	u64 last = limit_second_of(atomic64_read(&l->time[rate][bucket]));
	u64 first = limit_second_of(ns << TIME_SHIFT) + 1, n, part, sum = 0;

	if (last > first && last - first >= LEFT_SECONDS)
		first = last - LEFT_SECONDS + 1;
	for (n = first; n <= last && sum < cost; n++)
		sum += limit_left_in(left, n);
	if (sum < cost)
		return false;
	for (n = first; n <= last && cost; n++) {
		part = min(limit_left_in(left, n), cost);
		atomic64_sub(part, &left[n % LEFT_SECONDS]);
		cost -= part;
	}
	return true;
}

/*
 * Charge both rates.  late: what was left may be used, see limit_charge_left().  Not inline,
 * because most sessions have no rates.
 */
static noinline bool limit_charge_rates(struct ct_limit *l, u32 bucket, u32 size, u32 records,
					u64 ns, bool late)
{
	const u32 units[RATES] = { [RATE_RECORDS] = records, [RATE_BYTES] = size };
	enum limit_rate rate;
	u64 cost;

	for (rate = 0; rate < RATES; rate++) {
		cost = READ_ONCE(l->cost[rate]) * units[rate];
		if (cost && !limit_charge_rate(l, rate, bucket, cost, ns) &&
		    !(late && limit_charge_left(l, rate, bucket, cost, ns)))
			return false;
	}
	return true;
}

/* The row of before[] of the packet in which this position of the ring lies. */
static __always_inline s64 *limit_before(const struct ct_ring *r, struct ct_share *sh, u64 position)
{
	return sh->before[(position & r->mask) >> ilog2(r->subbuf_size)];
}

/* The ring calls this before the packet that begins at start is opened. */
static void limit_open_packet(struct ct_ring *r, u64 start)
{
	struct ct_share *sh = container_of(r, struct ct_cpu, ring)->share;
	s64 *before = limit_before(r, sh, start);
	u32 i;

	for (i = 0; i < BUCKETS; i++)
		WRITE_ONCE(before[i], local64_read(&sh->charged[i]));
}

static __always_inline bool limit_charge_share(struct ct_cpu *cpu, s64 most, u32 bucket, u32 size,
					     u32 *charge)
{
	struct ct_ring *r = &cpu->ring;
	struct ct_share *sh = cpu->share;
	s64 charged = local64_add_return(size, &sh->charged[bucket]);

	/* The ring's last valid value first: reading the owner's costs more. */
	if (charged - READ_ONCE(limit_before(r, sh, READ_ONCE(r->consumed))[bucket]) > most &&
	    charged - READ_ONCE(limit_before(r, sh, ct_ring_consumed(r))[bucket]) > most) {
		local64_sub(size, &sh->charged[bucket]);
		return false;
	}
	*charge = bucket;
	return true;
}

static __always_inline bool limit_charge(struct ct_cpu *cpu, struct ct_limit *l, u32 bucket,
					 u32 size, u32 records, u32 *charge)
{
	u64 share = READ_ONCE(l->share);
	enum ct_lost reason = CT_LOST_RATE;

	*charge = U32_MAX;
	if (smp_load_acquire(&l->has_rates) &&
	    !limit_charge_rates(l, bucket, size, records, ktime_get_mono_fast_ns(), false))
		goto lost;
	reason = CT_LOST_SHARE;
	if (share && !limit_charge_share(cpu, share, bucket, size, charge))
		goto lost;
	return true;
lost:
	local64_add(records, ct_counter(&cpu->ring.status->lost[reason]));
	return false;
}

bool ct_limit_charge(struct ct_cpu *cpu, u32 size, u32 records, u32 *charge)
{
	struct ct_limit *l = cpu->s->limit;

	return limit_charge(cpu, l, limit_bucket_of_current(l), size, records, charge);
}

bool ct_limit_charge_task(struct ct_cpu *cpu, struct task_struct *task, u32 size, u32 *charge)
{
	struct ct_limit *l = cpu->s->limit;

	return limit_charge(cpu, l, limit_bucket_of_task(l, task), size, 1, charge);
}

void ct_limit_uncharge(struct ct_cpu *cpu, u32 size, u32 charge)
{
	struct ct_share *sh = cpu->share;

	if (charge == U32_MAX)
		return;
	local64_sub(size, &sh->charged[charge]);
}

void ct_limit_producer(struct ct_producer *producer)
{
	producer->uid = __kuid_val(current_uid());
	producer->pid = current->tgid;
	rcu_read_lock();
	producer->cgroup = ct_cgroup_id(current);
	rcu_read_unlock();
}

bool ct_limit_charge_late(struct ct_session_state *s, const struct ct_producer *producer, u64 ns,
			  u32 size, u32 records)
{
	struct ct_limit *l = s->limit;
	u32 flags = READ_ONCE(l->arg.flags);
	u32 key = flags & CT_LIMIT_PROCESS ? producer->pid :
		  flags & CT_LIMIT_CGROUP ? (u32)producer->cgroup : producer->uid;

	return !smp_load_acquire(&l->has_rates) ||
	       limit_charge_rates(l, limit_bucket_of(l, key), size, records, ns, true);
}

/* ---------------------------------------------- a session's limits --------- */

static u64 limit_share_bytes(const struct ct_session_state *s, u32 percent)
{
	u64 ring = (u64)s->facts->subbuf_size * s->facts->subbuf_count;

	if (percent >= 100)
		return 0;
	return max_t(u64, div_u64(ring * percent, 100), s->facts->subbuf_size);
}

int ct_limit_init(struct ct_session_state *s, bool lossless)
{
	struct ct_share *sh;
	unsigned int cpu;

	s->limit = kzalloc(sizeof(*s->limit), GFP_KERNEL_ACCOUNT);
	if (!s->limit)
		return -ENOMEM;
	get_random_bytes(&s->limit->seed, sizeof(s->limit->seed));
	if (!lossless) {
		s->limit->arg.share = 100;
		return 0;
	}
	s->limit->arg.share = CT_SHARE_DEFAULT;
	s->limit->share = limit_share_bytes(s, CT_SHARE_DEFAULT);
	for_each_possible_cpu(cpu) {
		sh = ct_pages_alloc(struct_size(sh, before, s->facts->subbuf_count));
		if (!sh)
			return -ENOMEM;
		s->cpu[cpu]->share = sh;
		s->cpu[cpu]->ring.before_packet = limit_open_packet;
	}
	return 0;
}

void ct_limit_free(struct ct_session_state *s)
{
	u32 i;

	for (i = 0; s->cpu && i < s->cpus; i++)
		if (s->cpu[i])
			vfree(s->cpu[i]->share);
	if (s->limit)
		kvfree(s->limit->left);
	kfree(s->limit);
}

static bool limit_any(const struct ct_limit *l)
{
	return l->cost[RATE_RECORDS] || l->cost[RATE_BYTES] || l->share;
}

void ct_limit_begin(struct ct_session_state *s)
{
	s->limit->counted = limit_any(s->limit);
	if (s->limit->counted)
		static_branch_inc(&ct_limiting);
}

void ct_limit_end(struct ct_session_state *s)
{
	if (s->limit->counted)
		static_branch_dec(&ct_limiting);
	s->limit->counted = false;
}

int ct_limit_set(struct ct_session_state *s, const struct ct_limits *arg)
{
	bool lossless = !(s->facts->flags & CT_SESSION_OVERWRITE);
	u32 share = arg->share ? arg->share : CT_SHARE_DEFAULT;
	struct ct_limit *l = s->limit;
	struct limit_left *left;

	if (arg->flags & ~(CT_LIMIT_PROCESS | CT_LIMIT_CGROUP) ||
	    arg->flags == (CT_LIMIT_PROCESS | CT_LIMIT_CGROUP) || arg->share > 100 ||
	    arg->records > RATE_MAX || arg->bytes > RATE_MAX)
		return -EINVAL;
	if (arg->flags & CT_LIMIT_CGROUP && !IS_ENABLED(CONFIG_CGROUPS))
		return -EOPNOTSUPP;
	if (!lossless) {
		if (arg->share && arg->share < 100)
			return -EINVAL;
		share = 100;
	}
	if ((arg->records || arg->bytes) && !l->left) {
		left = kvzalloc(sizeof(*left), GFP_KERNEL_ACCOUNT);
		if (!left)
			return -ENOMEM;
		l->left = left;
	}
	/* Bytes that old buckets hold of the rings stay charged until they are consumed. */
	ct_limit_end(s);
	l->arg = *arg;
	l->arg.share = share;
	WRITE_ONCE(l->cost[RATE_RECORDS], arg->records ? div64_u64(SECOND, arg->records) : 0);
	WRITE_ONCE(l->cost[RATE_BYTES], arg->bytes ? div64_u64(SECOND, arg->bytes) : 0);
	/* left before has_rates: pairs with the acquire of those who charge. */
	smp_store_release(&l->has_rates, arg->records || arg->bytes);
	WRITE_ONCE(l->share, limit_share_bytes(s, share));
	ct_limit_begin(s);
	return 0;
}

void ct_limit_get(const struct ct_session_state *s, struct ct_limits *arg)
{
	u32 size = arg->size;

	*arg = s->limit->arg;
	arg->size = size;
}
