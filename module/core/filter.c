// SPDX-License-Identifier: GPL-2.0
/*
 * The filter, which decides whether a record is written.
 *
 * A rule is immutable, except for its set of processes.  A new filter replaces the whole
 * rule under RCU; writers, which run with preemption disabled, are its RCU readers.
 *
 * The set of processes is a bitmap by pid, so that a test costs the same for any number
 * of processes.  A child joins in the tracepoint of fork, before it runs, and leaves when
 * it exits, so that a later process with the same pid does not match.
 */
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/threads.h>
#include <linux/tracepoint.h>
#include <linux/vmalloc.h>
#include "core/filter.h"
#include "core/session.h"
#include "base/cgroup.h"
#include "base/pages.h"

struct filter_rule {
	struct ct_filter arg;
	unsigned long *pids;		/* bitmap by tgid; NULL: all processes match */
	struct cgroup *cgroup[CT_FILTER_MAX];
	u8 comm_len[CT_FILTER_MAX];
	u64 categories;			/* bits of the categories that pass */
	bool tasks;			/* has a criterion about tasks */
};

DEFINE_STATIC_KEY_FALSE(ct_filtering);
static struct filter_rule __rcu *active;

static bool filter_matches_uid(const struct filter_rule *r, struct task_struct *task)
{
	u32 i, uid;

	if (!r->arg.uids)
		return true;
	rcu_read_lock();
	uid = __kuid_val(__task_cred(task)->uid);
	rcu_read_unlock();

	for (i = 0; i < r->arg.uids; i++)
		if (r->arg.uid[i] == uid)
			return true;
	return false;
}

static bool filter_matches_comm(const struct filter_rule *r, const struct task_struct *task)
{
	u32 i;

	for (i = 0; i < r->arg.comms; i++)
		if (!strncmp(task->comm, r->arg.comm[i], r->comm_len[i]))
			return true;
	return !r->arg.comms;
}

static bool filter_matches_cgroup(const struct filter_rule *r, struct task_struct *task)
{
	bool matches = false;
	u32 i;

	if (!r->arg.cgroups)
		return true;
	rcu_read_lock();
	for (i = 0; i < r->arg.cgroups && !matches; i++)
		matches = ct_cgroup_within(task, r->cgroup[i]);
	rcu_read_unlock();
	return matches;
}

/* The criteria about tasks besides the pid. */
static noinline bool filter_matches_other(const struct filter_rule *r, struct task_struct *task)
{
	return filter_matches_uid(r, task) && filter_matches_comm(r, task) &&
	       filter_matches_cgroup(r, task);
}

bool ct_filter_passes(u8 category, u8 context, struct task_struct *task)
{
	const struct filter_rule *r;

	/* Disabled preemption is an RCU read-side critical section. */
	r = rcu_dereference_sched(active);
	if (unlikely(!r))
		return true;
	if (!(r->categories >> category & 1))
		return false;
	if (!r->tasks)
		return true;
	if (context || (r->pids && !test_bit(task->tgid, r->pids)))
		return false;
	return filter_matches_other(r, task);
}

/* --------------------------------------------- following child processes --- */
#ifdef CONFIG_TRACEPOINTS
static struct tracepoint *fork_point, *exit_point;

/*
 * Held while bits change because of a fork or an end: the bit of a new process with the pid of one
 * that has ended must stay.
 */
static DEFINE_RAW_SPINLOCK(pids_lock);

static void filter_on_fork(void *data, struct task_struct *parent, struct task_struct *child)
{
	const struct filter_rule *r;
	unsigned long flags;

	if (child->tgid == parent->tgid)
		return;		/* a thread */
	rcu_read_lock();
	r = rcu_dereference(active);
	/* Assign, do not only set: the bit of a former process may still be there. */
	if (r && r->pids) {
		raw_spin_lock_irqsave(&pids_lock, flags);
		assign_bit(child->tgid, r->pids, test_bit(parent->tgid, r->pids));
		raw_spin_unlock_irqrestore(&pids_lock, flags);
	}
	rcu_read_unlock();
}

/*
 * Does a process have this pid?  The number of one that has ended is free before RCU lets go of its
 * task.
 */
static bool filter_pid_taken(pid_t tgid)
{
	struct pid *pid = find_pid_ns(tgid, &init_pid_ns);

	return pid && pid_task(pid, PIDTYPE_TGID);
}

/*
 * sched_process_free: (task); after it no record can have this pid.  Only for a thread group
 * leader: it is freed after the last of its threads.
 */
static void filter_on_free(void *data, struct task_struct *task)
{
	const struct filter_rule *r;
	unsigned long flags;

	if (!thread_group_leader(task))
		return;
	rcu_read_lock();
	r = rcu_dereference(active);
	if (r && r->pids) {
		raw_spin_lock_irqsave(&pids_lock, flags);
		if (!filter_pid_taken(task->tgid))
			clear_bit(task->tgid, r->pids);
		raw_spin_unlock_irqrestore(&pids_lock, flags);
	}
	rcu_read_unlock();
}

static void filter_find_point(struct tracepoint *tp, void *data)
{
	if (!strcmp(tp->name, "sched_process_fork"))
		fork_point = tp;
	else if (!strcmp(tp->name, "sched_process_free"))
		exit_point = tp;
}

static int filter_follow_children(void)
{
	int err;

	for_each_kernel_tracepoint(filter_find_point, NULL);
	if (!fork_point || !exit_point)
		return -EOPNOTSUPP;
	err = tracepoint_probe_register(fork_point, filter_on_fork, NULL);
	if (err)
		return err;
	err = tracepoint_probe_register(exit_point, filter_on_free, NULL);
	if (err)
		tracepoint_probe_unregister(fork_point, filter_on_fork, NULL);
	return err;
}

static void filter_forget_children(void)
{
	tracepoint_probe_unregister(fork_point, filter_on_fork, NULL);
	tracepoint_probe_unregister(exit_point, filter_on_free, NULL);
	tracepoint_synchronize_unregister();
}
#else
static int filter_follow_children(void)
{
	return -EOPNOTSUPP;
}

static void filter_forget_children(void)
{
}
#endif

static bool filter_follows(const struct filter_rule *r)
{
	return r && r->pids && r->arg.flags & CT_FILTER_CHILDREN;
}

/* ----------------------------------------------------------- rules --------- */

static void filter_rule_free(struct filter_rule *r)
{
	u32 i;

	if (!r)
		return;
	for (i = 0; i < CT_FILTER_MAX; i++)
		if (r->cgroup[i])
			ct_cgroup_put(r->cgroup[i]);
	vfree(r->pids);
	kfree(r);
}

static struct filter_rule *filter_rule_make(const struct ct_filter *f)
{
	struct filter_rule *r;
	u32 i;
	int err = -EINVAL;

	if (f->flags & ~CT_FILTER_CHILDREN || f->pids > CT_FILTER_MAX ||
	    f->uids > CT_FILTER_MAX || f->comms > CT_FILTER_MAX ||
	    f->cgroups > CT_FILTER_MAX || f->categories >> CT_CAT_COUNT)
		return ERR_PTR(-EINVAL);
	r = kzalloc(sizeof(*r), GFP_KERNEL_ACCOUNT);
	if (!r)
		return ERR_PTR(-ENOMEM);
	r->arg = *f;
	r->categories = f->categories ? : ~0ull;
	r->tasks = f->pids || f->uids || f->comms || f->cgroups;
	if (f->pids) {
		r->pids = ct_pages_alloc(BITS_TO_LONGS(PID_MAX_LIMIT) * sizeof(long),
					 NUMA_NO_NODE);
		if (!r->pids) {
			err = -ENOMEM;
			goto fail;
		}
	}
	for (i = 0; i < f->pids; i++) {
		if (!f->pid[i] || f->pid[i] >= PID_MAX_LIMIT)
			goto fail;
		__set_bit(f->pid[i], r->pids);
	}
	for (i = 0; i < f->comms; i++) {
		r->comm_len[i] = strnlen(f->comm[i], sizeof(f->comm[i]));
		if (!r->comm_len[i])
			goto fail;
	}
	for (i = 0; i < f->cgroups; i++) {
		r->cgroup[i] = ct_cgroup_get(f->cgroup[i]);
		if (IS_ERR(r->cgroup[i])) {
			err = PTR_ERR(r->cgroup[i]);
			r->cgroup[i] = NULL;
			goto fail;
		}
	}
	return r;
fail:
	filter_rule_free(r);
	return ERR_PTR(err);
}

static void filter_rule_replace(struct filter_rule *new)
{
	struct filter_rule *old = rcu_dereference_protected(active,
						     lockdep_is_held(&ct_session_lock));

	rcu_assign_pointer(active, new);
	if (new && !old)
		static_branch_enable(&ct_filtering);
	else if (!new && old)
		static_branch_disable(&ct_filtering);
	if (filter_follows(old))
		filter_forget_children();
	synchronize_rcu();
	filter_rule_free(old);
}

int ct_filter_set(const struct ct_filter *f)
{
	struct filter_rule *r, *old;
	int err;

	lockdep_assert_held(&ct_session_lock);
	if (!f->pids && !f->uids && !f->comms && !f->cgroups && !f->categories) {
		if (f->flags)
			return -EINVAL;
		ct_filter_clear();
		return 0;
	}
	r = filter_rule_make(f);
	if (IS_ERR(r))
		return PTR_ERR(r);
	/* A tracepoint refuses to register a function twice: register only once. */
	old = rcu_dereference_protected(active, lockdep_is_held(&ct_session_lock));
	if (filter_follows(r) && !filter_follows(old)) {
		err = filter_follow_children();
		if (err) {
			filter_rule_free(r);
			return err;
		}
	}
	if (filter_follows(r) && filter_follows(old))
		old->arg.flags &= ~CT_FILTER_CHILDREN;	/* r keeps the tracepoints */
	filter_rule_replace(r);
	return 0;
}

void ct_filter_get(struct ct_filter *f)
{
	const struct filter_rule *r = rcu_dereference_protected(active,
							 lockdep_is_held(&ct_session_lock));
	u32 size = f->size;

	memset(f, 0, sizeof(*f));
	if (r)
		*f = r->arg;
	f->size = size;
}

void ct_filter_clear(void)
{
	lockdep_assert_held(&ct_session_lock);
	if (rcu_access_pointer(active))
		filter_rule_replace(NULL);
}
