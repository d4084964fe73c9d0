// SPDX-License-Identifier: GPL-2.0
/*
 * The rules of sessions: which sizes are allowed, who may start and stop one, in which order the
 * parts are armed and disarmed, and what happens to a session whose owner has gone.
 */
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include "control/control.h"
#include "threadbuf/threadbuf.h"
#include "core/filter.h"
#include "core/limit.h"
#include "core/registry.h"
#include "core/session.h"
#include "core/source.h"
#include "core/trigger.h"
#include "base/clock.h"

#define CONTROL_SUBBUF_SIZE (64u << 10) /* the defaults */
#define CONTROL_SUBBUF_COUNT 64u
#define CONTROL_SUBBUF_COUNT_MAX 65536u
#define CONTROL_RING_MAX BIT_ULL(30)

/*
 * The session of an owner that closed its file before it had consumed everything; NULL: none.
 * Under ct_session_lock, with a reference.
 */
static struct ct_session_state *orphan;

/*
 * Held while a session's memory is allocated, which may take long: so two starts do not take the
 * memory of two sessions.  ct_session_lock is not held meanwhile, and a task that waits can be
 * killed.
 */
static DEFINE_MUTEX(starting);

/* Fills in the defaults.  -EINVAL: not possible. */
static int control_check_sizes(struct ct_session *arg)
{
	if (!arg->subbuf_size)
		arg->subbuf_size = CONTROL_SUBBUF_SIZE;
	if (!arg->subbuf_count)
		arg->subbuf_count = CONTROL_SUBBUF_COUNT;
	if (!is_power_of_2(arg->subbuf_size) || !is_power_of_2(arg->subbuf_count) ||
	    arg->subbuf_size < CT_PACKET_MIN || arg->subbuf_size > CT_PACKET_MAX ||
	    arg->subbuf_count < 2 || arg->subbuf_count > CONTROL_SUBBUF_COUNT_MAX ||
	    (u64)arg->subbuf_size * arg->subbuf_count > CONTROL_RING_MAX ||
	    arg->subbuf_size % PAGE_SIZE)
		return -EINVAL;
	if (arg->flags & ~(CT_SESSION_OVERWRITE | CT_SESSION_PERSISTENT | CT_SESSION_THREADBUFS))
		return -EINVAL;
	/* Thread buffers are lossless: only the thread itself writes into its buffer. */
	if (arg->flags & CT_SESSION_THREADBUFS && arg->flags & CT_SESSION_OVERWRITE)
		return -EINVAL;
	/* After its owner has gone, a lossless ring would fill up and stay full. */
	if (arg->flags & CT_SESSION_PERSISTENT && !(arg->flags & CT_SESSION_OVERWRITE))
		return -EINVAL;
	if (arg->groups != ~0ull && arg->groups >> CT_GROUP_COUNT)
		return -EINVAL;
	return 0;
}

/* -EBUSY and its owner if a session runs that this start does not replace. */
static int control_check_running(struct ct_session *arg, bool is_default)
{
	struct ct_session_state *s = ct_session_running();

	if (!s || (s->is_default && !is_default))
		return 0;
	arg->owner_pid = pid_vnr(s->owner_process);
	return -EBUSY;
}

/* The last reference is gone: free what control_make() attached. */
static void control_release(struct ct_session_state *s)
{
	ct_limit_free(s);
	ct_threadbufs_free(s->threadbufs);
	if (s->keeps_registry)
		ct_registry_put();
}

static struct ct_session_state *control_make(const struct ct_session *arg)
{
	struct ct_session_state *s = ct_session_new(arg, control_release);

	if (!s)
		return NULL;
	ct_registry_get();
	s->keeps_registry = true;
	if (arg->flags & CT_SESSION_THREADBUFS) {
		s->threadbufs = ct_threadbufs_new();
		if (!s->threadbufs)
			goto err;
	}
	if (ct_limit_init(s, !(arg->flags & CT_SESSION_OVERWRITE)))
		goto err;
	return s;
err:
	ct_session_put(s);
	return NULL;
}

/*
 * Are thread buffers accepted?  Not with a filter, which decides by task and therefore only
 * works for CT_IOC_MARK.  And not with extra readers, which see the rings alone.
 */
static void control_publish_threadbufs(const struct ct_session_state *s)
{
	bool accepts = s && !s->extra_readers && !static_branch_unlikely(&ct_filtering);

	WRITE_ONCE(ct_clock_page->session, accepts ? ct_threadbufs_session(s->threadbufs) : 0);
}

/* Lets writers write into s, or into none (NULL): then no writer is left when it returns. */
static void control_publish(struct ct_session_state *s)
{
	/* Before ct_session_publish() waits, so that it waits for users of this as well. */
	if (!s)
		control_publish_threadbufs(NULL);
	ct_session_publish(s);
	if (s)
		control_publish_threadbufs(s);
}

static void control_end(struct ct_session_state *s)
{
	struct ct_ring *r;
	u32 i;

	lockdep_assert_held(&ct_session_lock);
	ct_source_disarm();
	control_publish(NULL);
	ct_clock_stop();
	for (i = 0; i < s->cpus; i++) {
		r = s->cpu[i] ? &s->cpu[i]->ring : NULL;
		if (r)
			r->status->consumed = ct_ring_consumed(r);
	}
	ct_registry_report(NULL);
	ct_limit_end(s);
	ct_filter_clear();
	ct_trigger_set(&(struct ct_trigger_set){});
	ct_session_end(s);
}

/* s, which is complete, becomes the running session. */
static void control_begin(struct ct_session_state *s, struct ct_session *arg, const void *owner,
			  bool is_default)
{
	s->owner = owner;
	s->owner_pid = task_tgid_nr(current);
	s->owner_process = get_pid(task_tgid(current));
	s->is_default = is_default;
	s->persistent = arg->flags & CT_SESSION_PERSISTENT;
	/*
	 * Sources are armed before anybody can record, so that no trace begins with half of its
	 * probes.  Until then the handlers find no session and do nothing.
	 */
	ct_clock_start();
	ct_source_arm(s->groups);
	s->start = ktime_get_mono_fast_ns();
	s->facts->start = s->start;
	memcpy(arg->uuid, s->facts->uuid, sizeof(arg->uuid));
	arg->start = s->start;
	arg->cpus = s->cpus;
	arg->owner_pid = pid_vnr(s->owner_process);
	ct_session_begin(s);
	WRITE_ONCE(s->facts->probes, ct_source_count());
	ct_registry_report(&s->facts->defines);
	/* A read() alone does not drop the orphan: that one waits for a recorder. */
	if (!is_default) {
		ct_session_put(orphan);
		orphan = NULL;
	}
	ct_limit_begin(s);
	control_publish(s);
}

static int control_start(struct ct_session *arg, const void *owner, bool is_default)
{
	struct ct_session_state *s;
	int err;

	lockdep_assert_held(&starting);
	if (mutex_lock_killable(&ct_session_lock))
		return -EINTR;
	err = control_check_running(arg, is_default);
	mutex_unlock(&ct_session_lock);
	if (err)
		return err;
	s = control_make(arg);
	if (!s)
		return fatal_signal_pending(current) ? -EINTR : -ENOMEM;
	/* No other session can have begun meanwhile, but the default one may have ended. */
	if (mutex_lock_killable(&ct_session_lock)) {
		ct_session_put(s);
		return -EINTR;
	}
	if (ct_session_running())
		control_end(ct_session_running());
	control_begin(s, arg, owner, is_default);
	mutex_unlock(&ct_session_lock);
	return 0;
}

int ct_control_start(struct ct_session *arg, const void *owner, bool is_default)
{
	int err = control_check_sizes(arg);

	if (err)
		return err;
	if (mutex_lock_killable(&starting))
		return -EINTR;
	err = control_start(arg, owner, is_default);
	mutex_unlock(&starting);
	return err;
}

int ct_control_stop(const void *owner, bool privileged)
{
	struct ct_session_state *s;
	int err = 0;

	if (mutex_lock_killable(&ct_session_lock))
		return -EINTR;
	s = ct_session_running();
	if (!s)
		err = -ENODATA;
	else if (s->owner != owner && !(s->persistent && privileged))
		err = -EPERM;
	else
		control_end(s);
	mutex_unlock(&ct_session_lock);
	return err;
}

/* Does this session, which has ended, hold records that its owner has not consumed? */
static bool control_unread(struct ct_session_state *s)
{
	const struct ct_cpu_status *status;
	u32 i;

	for (i = 0; i < s->cpus; i++) {
		status = s->cpu[i] ? s->cpu[i]->ring.status : NULL;
		if (status && status->committed > status->consumed)
			return true;
	}
	return ct_threadbufs_unread(s->threadbufs);
}

/* Does this file own the running session?  It cannot begin to while it is closed. */
static bool control_owns(const void *owner)
{
	struct ct_session_state *s = ct_session_get();
	bool owns = s && READ_ONCE(s->owner) == owner;

	ct_session_put(s);
	return owns;
}

void ct_control_closed(const void *owner)
{
	struct ct_session_state *s;

	/* A killed task must not wait for the lock, unless it has something to end. */
	if (!control_owns(owner))
		return;
	mutex_lock(&ct_session_lock);
	s = ct_session_running();
	if (s && s->owner == owner) {
		/* Another file may get the same address. */
		WRITE_ONCE(s->owner, NULL);
		if (!s->persistent) {
			kref_get(&s->ref);
			control_end(s);
			if (!s->is_default && control_unread(s))
				swap(orphan, s);
			ct_session_put(s);
		}
	}
	mutex_unlock(&ct_session_lock);
}

int ct_control_drop_orphan(struct ct_session_state *s)
{
	int err = -ENODATA;

	if (mutex_lock_killable(&ct_session_lock))
		return -EINTR;
	if (orphan && orphan == s) {
		ct_session_put(orphan);
		orphan = NULL;
		err = 0;
	}
	mutex_unlock(&ct_session_lock);
	return err;
}

void ct_control_exit(void)
{
	mutex_lock(&ct_session_lock);
	if (ct_session_running())
		control_end(ct_session_running());
	ct_session_put(orphan);
	orphan = NULL;
	mutex_unlock(&ct_session_lock);
}

static void control_count_extra_readers(struct ct_session_state *s, int n)
{
	s->extra_readers += n;
	if (s == ct_session_running() && !s->paused)
		control_publish_threadbufs(s);
	mutex_unlock(&ct_session_lock);
}

int ct_control_extra_reader(struct ct_session_state *s)
{
	if (mutex_lock_killable(&ct_session_lock))
		return -EINTR;
	control_count_extra_readers(s, 1);
	return 0;
}

void ct_control_extra_reader_gone(struct ct_session_state *s)
{
	mutex_lock(&ct_session_lock);
	control_count_extra_readers(s, -1);
}

int ct_control_may(const void *owner, bool privileged)
{
	struct ct_session_state *s = ct_session_running();

	if (!privileged && (!s || s->owner != owner || s->is_default))
		return -EPERM;
	return s ? 0 : -ENODATA;
}

void ct_control_pause(bool pause)
{
	struct ct_session_state *s = ct_session_running();

	s->paused = pause;
	control_publish(pause ? NULL : s);
	if (pause)
		ct_threadbufs_close(s->threadbufs);
}

int ct_control_set_filter(const struct ct_filter *arg)
{
	struct ct_session_state *s = ct_session_running();
	int err = ct_filter_set(arg);

	if (err)
		return err;
	control_publish_threadbufs(s->paused ? NULL : s);
	if (static_branch_unlikely(&ct_filtering))
		ct_threadbufs_close(s->threadbufs);
	return 0;
}

int ct_control_flush(void)
{
	struct ct_session_state *s = ct_session_get();

	if (!s)
		return -ENODATA;
	/* A writer has preemption disabled, so this waits for its record. */
	synchronize_rcu();
	ct_session_put(s);
	return 0;
}

static void control_describe(const struct ct_session_state *s, struct ct_session *arg)
{
	u32 size = arg->size;

	*arg = (struct ct_session){
		.size = size,
		.flags = s->facts->flags | (s->paused ? CT_SESSION_PAUSED : 0) |
			 (s->is_default ? CT_SESSION_DEFAULT : 0) |
			 (s == orphan ? CT_SESSION_ORPHANED : 0),
		.subbuf_size = s->facts->subbuf_size,
		.subbuf_count = s->facts->subbuf_count,
		.groups = s->groups,
		.start = s->start,
		.cpus = s->cpus,
		.owner_pid = pid_vnr(s->owner_process),
	};
	memcpy(arg->uuid, s->facts->uuid, sizeof(arg->uuid));
}

int ct_control_describe(struct ct_session *arg)
{
	struct ct_session_state *s = ct_session_running();

	if (!s)
		return -ENODATA;
	control_describe(s, arg);
	arg->probe_memory = ct_source_memory();
	return 0;
}

struct ct_session_state *ct_control_adopt(struct ct_session *arg)
{
	struct ct_session_state *s;

	if (mutex_lock_killable(&ct_session_lock))
		return NULL;
	s = orphan;
	if (s) {
		kref_get(&s->ref);
		control_describe(s, arg);
	}
	mutex_unlock(&ct_session_lock);
	return s;
}
