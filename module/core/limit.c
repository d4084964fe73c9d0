// SPDX-License-Identifier: GPL-2.0
/*
 * Limits of producers.
 *
 * A producer is a slot that its user (process, cgroup) hashes to, with a seed of
 * the session's own, so that nobody can choose whose slot to share.
 *
 * RATE.  The virtual time at which a slot will have paid for what it wrote: it may run
 * ahead of the clock by the burst.  One compare-and-exchange, across CPUs.  What a thread buffer
 * holds is charged when it is read, each record to its own time: so a recorder that was
 * late loses nothing that was within the rate when it was written.  A hostile thread's
 * times are claims, but none lies before the last or after now, so over its life it gets
 * no more than the rate and one burst.
 *
 * SHARE.  What each slot holds of a CPU's ring, by packet, because a packet is what the
 * owner consumes: then all that was charged to it is given back.  Only that CPU touches
 * these numbers; a writer may be interrupted by another one, so each is changed by one
 * instruction.  They are by place in the ring, so what a place was charged is given
 * back at the latest before another packet opens there.  A record is charged to the
 * packet that is open when it asks, so it can be given back one packet early.  The
 * least share is a packet: with less, a producer that is alone could neither go on nor
 * have its packet closed.
 */
#include <linux/cgroup.h>
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
#include "base/pages.h"

#define SLOT_BITS	6
#define SLOTS		(1u << SLOT_BITS)

/* Virtual time is in 1/64 ns, so that more than 1 GB a second can be said. */
#define TIME_SHIFT	6
#define SECOND		(NSEC_PER_SEC << TIME_SHIFT)
#define RATE_MAX	SECOND		/* one unit of virtual time each */

struct ct_share {
	local64_t released;		/* packets given back so far */
	local64_t total[SLOTS];		/* bytes held */
	local64_t held[][SLOTS];	/* by packet of the ring */
};

struct ct_limit {
	struct ct_limits arg;
	bool asked;			/* counted in ct_limiting */
	bool rated;			/* one of the costs is not 0 */
	u32 seed;
	u64 record_cost;		/* virtual time of a record, 0: free */
	u64 byte_cost;
	u64 share;			/* bytes of a ring, 0: all */
	atomic64_t records[SLOTS];
	atomic64_t bytes[SLOTS];
};

DEFINE_STATIC_KEY_FALSE(ct_limiting);

static u32 limit_slot_of(const struct ct_limit *l, u32 key)
{
	return hash_32(key ^ l->seed, SLOT_BITS);
}

static u32 limit_slot_of_current(const struct ct_limit *l)
{
	u32 flags = READ_ONCE(l->arg.flags);

	if (flags & CT_LIMIT_PROCESS)
		return limit_slot_of(l, current->tgid);
	if (flags & CT_LIMIT_CGROUP)
		return limit_slot_of(l, cgroup_id(task_dfl_cgroup(current)));
	return limit_slot_of(l, __kuid_val(current_uid()));
}

/* Its cgroup and its user may change meanwhile: what they were is kept by RCU. */
static u32 limit_slot_of_task(const struct ct_limit *l, struct task_struct *task)
{
	u32 flags = READ_ONCE(l->arg.flags), slot;

	if (flags & CT_LIMIT_PROCESS)
		return limit_slot_of(l, task->tgid);
	rcu_read_lock();
	if (flags & CT_LIMIT_CGROUP)
		slot = limit_slot_of(l, cgroup_id(task_dfl_cgroup(task)));
	else
		slot = limit_slot_of(l, __kuid_val(__task_cred(task)->uid));
	rcu_read_unlock();
	return slot;
}

/* ns: the time that it is charged to. */
static bool limit_throttle(atomic64_t *paid, u64 cost, u64 ns)
{
	u64 now = ns << TIME_SHIFT, old, base;

	do {
		old = atomic64_read(paid);
		base = max(old, now);
		/* One that has paid for everything is let through, however large. */
		if (base > now && base + cost - now > SECOND)
			return false;
	} while (atomic64_cmpxchg(paid, old, base + cost) != old);
	return true;
}

/* Within the rates?  By itself: most sessions have none. */
static noinline bool limit_pay_rates(struct ct_limit *l, u32 slot, u32 size, u32 records, u64 ns)
{
	u64 record_cost = READ_ONCE(l->record_cost), byte_cost = READ_ONCE(l->byte_cost);

	return (!record_cost || limit_throttle(&l->records[slot], records * record_cost, ns)) &&
	       (!byte_cost || limit_throttle(&l->bytes[slot], size * byte_cost, ns));
}

/*
 * What the owner has consumed meanwhile is no longer charged to anybody.  The ring calls it
 * for each packet, before anything is charged to the packet that takes an old one's place.
 */
static void limit_release(struct ct_ring *r)
{
	struct ct_share *sh = container_of(r, struct ct_cpu, ring)->share;
	u64 consumed = ct_ring_consumed(r) >> ilog2(r->subbuf_size);
	u32 mask = (r->size >> ilog2(r->subbuf_size)) - 1, i;
	u64 packet;

	while ((packet = local64_read(&sh->released)) < consumed) {
		if (local64_cmpxchg(&sh->released, packet, packet + 1) != packet)
			continue;
		for (i = 0; i < SLOTS; i++)
			local64_sub(local64_xchg(&sh->held[packet & mask][i], 0),
				    &sh->total[i]);
	}
}

static __always_inline bool limit_take_share(struct ct_cpu *cpu, s64 most, u32 slot, u32 size,
					     u32 *charge)
{
	struct ct_ring *r = &cpu->ring;
	struct ct_share *sh = cpu->share;
	u32 packet;

	if (local64_add_return(size, &sh->total[slot]) > most) {
		limit_release(r);
		if (local64_read(&sh->total[slot]) > most) {
			local64_sub(size, &sh->total[slot]);
			return false;
		}
	}
	packet = (local64_read(&r->head) & r->mask) >> ilog2(r->subbuf_size);
	local64_add(size, &sh->held[packet][slot]);
	*charge = packet << SLOT_BITS | slot;
	return true;
}

static __always_inline bool limit_take(struct ct_cpu *cpu, struct ct_limit *l, u32 slot, u32 size,
				       u32 records, u32 *charge)
{
	u64 share = READ_ONCE(l->share);
	enum ct_lost why = CT_LOST_RATE;

	*charge = U32_MAX;
	if (READ_ONCE(l->rated) &&
	    !limit_pay_rates(l, slot, size, records, ktime_get_mono_fast_ns()))
		goto lost;
	why = CT_LOST_SHARE;
	if (share && !limit_take_share(cpu, share, slot, size, charge))
		goto lost;
	return true;
lost:
	local64_add(records, ct_counter(&cpu->ring.status->lost[why]));
	return false;
}

bool ct_limit_charge(struct ct_cpu *cpu, u32 size, u32 records, u32 *charge)
{
	struct ct_limit *l = cpu->s->limit;

	return limit_take(cpu, l, limit_slot_of_current(l), size, records, charge);
}

bool ct_limit_charge_task(struct ct_cpu *cpu, struct task_struct *task, u32 size, u32 *charge)
{
	struct ct_limit *l = cpu->s->limit;

	return limit_take(cpu, l, limit_slot_of_task(l, task), size, 1, charge);
}

void ct_limit_uncharge(struct ct_cpu *cpu, u32 size, u32 charge)
{
	struct ct_share *sh = cpu->share;

	if (charge == U32_MAX)
		return;
	local64_sub(size, &sh->held[charge >> SLOT_BITS][charge % SLOTS]);
	local64_sub(size, &sh->total[charge % SLOTS]);
}

void ct_limit_producer(struct ct_producer *who)
{
	who->uid = __kuid_val(current_uid());
	who->pid = current->tgid;
	rcu_read_lock();
	who->cgroup = cgroup_id(task_dfl_cgroup(current));
	rcu_read_unlock();
}

bool ct_limit_throttle(struct ct_session_state *s, const struct ct_producer *who, u64 ns, u32 size,
		       u32 records)
{
	struct ct_limit *l = s->limit;
	u32 flags = READ_ONCE(l->arg.flags);
	u32 key = flags & CT_LIMIT_PROCESS ? who->pid :
		  flags & CT_LIMIT_CGROUP ? (u32)who->cgroup : who->uid;

	return !READ_ONCE(l->rated) || limit_pay_rates(l, limit_slot_of(l, key), size, records, ns);
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
		sh = __vmalloc(struct_size(sh, held, s->facts->subbuf_count), CT_GFP_USER_SIZED);
		if (!sh)
			return -ENOMEM;
		s->cpu[cpu]->share = sh;
		s->cpu[cpu]->ring.before_packet = limit_release;
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

static bool limit_any(const struct ct_limit *l)
{
	return l->record_cost || l->byte_cost || l->share;
}

void ct_limit_begin(struct ct_session_state *s)
{
	s->limit->asked = limit_any(s->limit);
	if (s->limit->asked)
		static_branch_inc(&ct_limiting);
}

void ct_limit_end(struct ct_session_state *s)
{
	if (s->limit->asked)
		static_branch_dec(&ct_limiting);
	s->limit->asked = false;
}

int ct_limit_set(struct ct_session_state *s, const struct ct_limits *arg)
{
	bool lossless = !(s->facts->flags & CT_SESSION_OVERWRITE);
	u32 share = arg->share ? arg->share : CT_SHARE_DEFAULT;
	struct ct_limit *l = s->limit;

	if (arg->flags & ~(CT_LIMIT_PROCESS | CT_LIMIT_CGROUP) || arg->reserved ||
	    arg->flags == (CT_LIMIT_PROCESS | CT_LIMIT_CGROUP) || arg->share > 100 ||
	    arg->records > RATE_MAX || arg->bytes > RATE_MAX)
		return -EINVAL;
	if (!lossless) {
		if (arg->share && arg->share < 100)
			return -EINVAL;
		share = 100;
	}
	/* What is charged stays charged: to a slot of the old kind, until consumed. */
	ct_limit_end(s);
	l->arg = *arg;
	l->arg.share = share;
	WRITE_ONCE(l->record_cost, arg->records ? div64_u64(SECOND, arg->records) : 0);
	WRITE_ONCE(l->byte_cost, arg->bytes ? div64_u64(SECOND, arg->bytes) : 0);
	WRITE_ONCE(l->rated, arg->records || arg->bytes);
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
