// SPDX-License-Identifier: GPL-2.0
/*
 * The session.  There is at most one; writers find their CPU's part of it
 * with preemption disabled (and find nothing while it is paused), everybody else
 * holds a reference.  Ending it takes it away from writers first (and waits until the last one has left), so its
 * rings never change afterwards and readers can drain them at leisure.
 */
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/uuid.h>
#include <linux/vmalloc.h>
#include "base/clock.h"
#include "base/pages.h"
#include "core/filter.h"
#include "core/limit.h"
#include "probes/probe.h"
#include "core/registry.h"
#include "core/session.h"
#include "probes/tracepoint.h"
#include "threadbuf/threadbuf.h"
#include "core/trigger.h"

#define CT_SUBBUF_SIZE_DEFAULT	(64u << 10)
#define CT_SUBBUF_COUNT_DEFAULT	64u
#define CT_SUBBUF_COUNT_MAX	65536u
#define CT_RING_MAX		(1ull << 30)

DEFINE_MUTEX(ct_session_lock);
DEFINE_PER_CPU(struct ct_cpu *, ct_cpu_current);
DECLARE_WAIT_QUEUE_HEAD(ct_session_wait);
u32 ct_session_waiters;
/* The session, paused or not; under ct_session_lock, and now_lock for readers. */
static struct ct_session_state *running;
/* What an owner left that was closed without stopping it; under ct_session_lock. */
static struct ct_session_state *left;
/* Guards taking a reference against the last put; never held for long. */
static DEFINE_SPINLOCK(now_lock);

static void session_free(struct kref *ref)
{
	struct ct_session_state *s = container_of(ref, struct ct_session_state, ref);
	u32 i;

	irq_work_sync(&s->wake);
	ct_limit_free(s);
	for (i = 0; s->cpu && i < s->cpus; i++) {
		if (!s->cpu[i])
			continue;
		ct_ring_free(&s->cpu[i]->ring);
		kfree(s->cpu[i]);
	}
	kfree(s->cpu);
	ct_threadbufs_free(s->threadbufs);
	vfree(s->facts);
	kfree(s);
}

struct ct_session_state *ct_session_get(void)
{
	struct ct_session_state *s;

	spin_lock(&now_lock);
	s = running;
	if (s)
		kref_get(&s->ref);
	spin_unlock(&now_lock);
	return s;
}

void ct_session_put(struct ct_session_state *s)
{
	if (s)
		kref_put(&s->ref, session_free);
}

static void session_wake_readers(struct irq_work *work)
{
	wake_up_interruptible_all(&ct_session_wait);
}

void ct_session_wake_now(struct ct_cpu *cpu)
{
	irq_work_queue(&cpu->s->wake);
}

/* Defaults filled in; -EINVAL if what was asked can't be. */
static int session_check_sizes(struct ct_session *arg)
{
	if (!arg->subbuf_size)
		arg->subbuf_size = CT_SUBBUF_SIZE_DEFAULT;
	if (!arg->subbuf_count)
		arg->subbuf_count = CT_SUBBUF_COUNT_DEFAULT;
	if (!is_power_of_2(arg->subbuf_size) || !is_power_of_2(arg->subbuf_count) ||
	    arg->subbuf_size < CT_PACKET_MIN || arg->subbuf_size > CT_PACKET_MAX ||
	    arg->subbuf_count < 2 || arg->subbuf_count > CT_SUBBUF_COUNT_MAX ||
	    (u64)arg->subbuf_size * arg->subbuf_count > CT_RING_MAX ||
	    arg->subbuf_size % PAGE_SIZE)
		return -EINVAL;
	if (arg->flags & ~(CT_SESSION_OVERWRITE | CT_SESSION_PERSISTENT | CT_SESSION_THREADBUFS))
		return -EINVAL;
	/* A thread buffer is lossless: nobody could overwrite what a thread has not read. */
	if (arg->flags & CT_SESSION_THREADBUFS && arg->flags & CT_SESSION_OVERWRITE)
		return -EINVAL;
	/* With no owner that reads, a lossless ring would stand full for ever. */
	if (arg->flags & CT_SESSION_PERSISTENT && !(arg->flags & CT_SESSION_OVERWRITE))
		return -EINVAL;
	if (arg->groups != ~0ull && arg->groups >> CT_GROUP_COUNT)
		return -EINVAL;
	return 0;
}

static struct ct_session_state *session_make(const struct ct_session *arg)
{
	struct ct_session_state *s = kzalloc(sizeof(*s), GFP_KERNEL_ACCOUNT);
	bool overwrite = arg->flags & CT_SESSION_OVERWRITE;
	unsigned int cpu;
	uuid_t uuid;

	if (!s)
		return NULL;
	kref_init(&s->ref);
	init_irq_work(&s->wake, session_wake_readers);
	if (arg->flags & CT_SESSION_THREADBUFS) {
		s->threadbufs = ct_threadbufs_new();
		if (!s->threadbufs)
			goto err;
	}
	s->cpus = nr_cpu_ids;
	s->groups = arg->groups;
	s->cpu = kcalloc(s->cpus, sizeof(*s->cpu), GFP_KERNEL_ACCOUNT);
	s->facts = __vmalloc(PAGE_SIZE, CT_GFP_USER_SIZED);
	if (!s->cpu || !s->facts)
		goto err;
	uuid_gen(&uuid);
	/* Every possible CPU, so that one that comes later has its ring. */
	for_each_possible_cpu(cpu) {
		s->cpu[cpu] = kzalloc_node(sizeof(**s->cpu), GFP_KERNEL_ACCOUNT,
					   cpu_to_node(cpu));
		if (!s->cpu[cpu] ||
		    ct_ring_init(&s->cpu[cpu]->ring, cpu, arg->subbuf_size,
				 arg->subbuf_count, overwrite, uuid.b))
			goto err;
		s->cpu[cpu]->s = s;
		cond_resched();
	}
	*s->facts = (struct ct_facts) {
		.magic = CT_MAGIC,
		.abi = CT_ABI_VERSION,
		.cpus = s->cpus,
		.subbuf_size = arg->subbuf_size,
		.subbuf_count = arg->subbuf_count,
		.flags = arg->flags,
		.running = 1,
		.defines = ct_registry_count(),
		.probes = ct_probe_count(),
		.schema = CT_SCHEMA_VERSION,
	};
	memcpy(s->facts->uuid, uuid.b, sizeof(s->facts->uuid));
	if (ct_limit_init(s, !overwrite))
		goto err;
	return s;
err:
	ct_session_put(s);
	return NULL;
}

/*
 * Who takes thread buffers: a filter looks at tasks, and so at CT_IOC_MARK alone; and other
 * readers than the owner look at rings alone.
 */
static void session_publish_threadbufs(const struct ct_session_state *s)
{
	bool takes = s && !s->extra_readers && !static_branch_unlikely(&ct_filtering);

	WRITE_ONCE(ct_clock_page->session, takes ? ct_threadbufs_session(s->threadbufs) : 0);
}

void ct_session_filtered(void)
{
	lockdep_assert_held(&ct_session_lock);
	session_publish_threadbufs(running && !running->paused ? running : NULL);
	if (running && static_branch_unlikely(&ct_filtering))
		ct_threadbufs_close(running->threadbufs);
}

void ct_session_extra_readers(struct ct_session_state *s, int n)
{
	mutex_lock(&ct_session_lock);
	s->extra_readers += n;
	if (s == running && !s->paused)
		session_publish_threadbufs(s);
	mutex_unlock(&ct_session_lock);
}

/*
 * Who writes: the running session, or nobody while it is paused.  When this returns
 * after taking it away, the last writer (which has preemption disabled) has left.
 */
static void session_publish(struct ct_session_state *s)
{
	int cpu;

	for_each_possible_cpu(cpu)
		WRITE_ONCE(per_cpu(ct_cpu_current, cpu), s ? s->cpu[cpu] : NULL);
	WRITE_ONCE(ct_clock_page->recording, s != NULL);
	session_publish_threadbufs(s);
	if (!s)
		synchronize_rcu();
}

/* Take the session away from the writers, then from the readers. */
static void session_end(struct ct_session_state *s)
{
	struct ct_ring *r;
	u32 i;

	lockdep_assert_held(&ct_session_lock);
	ct_probe_disarm_all();
	ct_tracepoint_disarm();
	session_publish(NULL);
	ct_clock_stop();
	for (i = 0; i < s->cpus; i++) {
		r = s->cpu[i] ? &s->cpu[i]->ring : NULL;
		if (r)
			r->status->consumed = ct_ring_consumed(r);
	}
	ct_limit_end(s);
	ct_filter_clear();
	ct_trigger_set(&(struct ct_trigger_set){});
	spin_lock(&now_lock);
	running = NULL;
	spin_unlock(&now_lock);
	WRITE_ONCE(s->facts->running, 0);
	WRITE_ONCE(s->ended, true);
	wake_up_all(&ct_session_wait);
	ct_session_put(s);
}

int ct_session_start(struct ct_session *arg, const void *owner, bool is_default)
{
	struct ct_session_state *s;
	int err;

	err = session_check_sizes(arg);
	if (err)
		return err;
	mutex_lock(&ct_session_lock);
	s = running;
	if (s && (is_default || !s->is_default)) {
		arg->owner_pid = s->owner_pid;
		err = -EBUSY;
		goto out;
	}
	if (s)
		session_end(s);
	s = session_make(arg);
	if (!s) {
		err = -ENOMEM;
		goto out;
	}
	s->owner = owner;
	s->owner_pid = task_tgid_nr(current);
	s->is_default = is_default;
	s->persistent = arg->flags & CT_SESSION_PERSISTENT;
	/* Armed before anybody can record, so that a trace does not begin with
	 * half of the probes; the handlers do nothing until then.
	 */
	ct_clock_start();
	ct_probe_arm(s->groups);
	ct_tracepoint_arm(s->groups);
	s->start = s->facts->start = ktime_get_mono_fast_ns();
	memcpy(arg->uuid, s->facts->uuid, sizeof(arg->uuid));
	arg->start = s->start;
	arg->cpus = s->cpus;
	arg->owner_pid = s->owner_pid;
	spin_lock(&now_lock);
	running = s;
	spin_unlock(&now_lock);
	/* Who only reads takes nothing away: what was left waits for a recorder. */
	if (!is_default) {
		ct_session_put(left);
		left = NULL;
	}
	ct_limit_begin(s);
	session_publish(s);
out:
	mutex_unlock(&ct_session_lock);
	return err;
}

int ct_session_stop(const void *owner, bool privileged)
{
	struct ct_session_state *s;
	int err = 0;

	mutex_lock(&ct_session_lock);
	s = running;
	if (!s)
		err = -ENODATA;
	else if (s->owner != owner && !(s->persistent && privileged))
		err = -EPERM;
	else
		session_end(s);
	mutex_unlock(&ct_session_lock);
	return err;
}

/* Does it hold what its owner has not consumed?  It has ended. */
static bool session_unread(struct ct_session_state *s)
{
	u32 i;

	for (i = 0; i < s->cpus; i++)
		if (s->cpu[i] && s->cpu[i]->ring.status->committed >
				 s->cpu[i]->ring.status->consumed)
			return true;
	return ct_threadbufs_unread(s->threadbufs);
}

void ct_session_closed(const void *owner)
{
	struct ct_session_state *s;

	mutex_lock(&ct_session_lock);
	s = running;
	if (s && s->owner == owner) {
		/* The file's address may be given to another one. */
		s->owner = NULL;
		if (!s->persistent) {
			kref_get(&s->ref);
			session_end(s);
			if (!s->is_default && session_unread(s))
				swap(left, s);
			ct_session_put(s);
		}
	}
	mutex_unlock(&ct_session_lock);
}

int ct_session_drop_orphan(struct ct_session_state *s)
{
	int err = -ENODATA;

	mutex_lock(&ct_session_lock);
	if (left && left == s) {
		ct_session_put(left);
		left = NULL;
		err = 0;
	}
	mutex_unlock(&ct_session_lock);
	return err;
}

void ct_session_exit(void)
{
	mutex_lock(&ct_session_lock);
	if (running)
		session_end(running);
	ct_session_put(left);
	left = NULL;
	mutex_unlock(&ct_session_lock);
}

bool ct_session_running(void)
{
	return READ_ONCE(running);
}

void ct_session_probes(u32 count)
{
	if (running)
		WRITE_ONCE(running->facts->probes, count);
}

int ct_session_may(const void *owner, bool privileged)
{
	lockdep_assert_held(&ct_session_lock);
	if (!privileged && (!running || running->owner != owner || running->is_default))
		return -EPERM;
	return running ? 0 : -ENODATA;
}

void ct_session_pause(bool pause)
{
	lockdep_assert_held(&ct_session_lock);
	running->paused = pause;
	session_publish(pause ? NULL : running);
	if (pause)
		ct_threadbufs_close(running->threadbufs);
}

int ct_session_flush(void)
{
	struct ct_session_state *s = ct_session_get();

	if (!s)
		return -ENODATA;
	/* Whoever was writing has preemption disabled. */
	synchronize_rcu();
	wake_up_interruptible_all(&ct_session_wait);
	ct_session_put(s);
	return 0;
}

static void session_describe(const struct ct_session_state *s, struct ct_session *arg)
{
	u32 size = arg->size;

	*arg = (struct ct_session){
		.size = size,
		.flags = s->facts->flags | (s->paused ? CT_SESSION_PAUSED : 0) |
			 (s->is_default ? CT_SESSION_DEFAULT : 0) |
			 (s == left ? CT_SESSION_ORPHANED : 0),
		.subbuf_size = s->facts->subbuf_size,
		.subbuf_count = s->facts->subbuf_count,
		.groups = s->groups,
		.start = s->start,
		.cpus = s->cpus,
		.owner_pid = s->owner_pid,
	};
	memcpy(arg->uuid, s->facts->uuid, sizeof(arg->uuid));
}

int ct_session_tell(struct ct_session *arg)
{
	int err = -ENODATA;

	mutex_lock(&ct_session_lock);
	if (running) {
		session_describe(running, arg);
		err = 0;
	}
	mutex_unlock(&ct_session_lock);
	return err;
}

struct ct_session_state *ct_session_adopt(struct ct_session *arg)
{
	struct ct_session_state *s;

	mutex_lock(&ct_session_lock);
	s = left;
	if (s) {
		kref_get(&s->ref);
		session_describe(s, arg);
	}
	mutex_unlock(&ct_session_lock);
	return s;
}

int ct_session_limit(const struct ct_limits *arg)
{
	lockdep_assert_held(&ct_session_lock);
	return ct_limit_set(running, arg);
}

int ct_session_limits(struct ct_limits *arg)
{
	int err = -ENODATA;

	mutex_lock(&ct_session_lock);
	if (running) {
		ct_limit_get(running, arg);
		err = 0;
	}
	mutex_unlock(&ct_session_lock);
	return err;
}
