// SPDX-License-Identifier: GPL-2.0
/*
 * The filter.  A rule is immutable but for the processes that join it: writers find
 * it under RCU (they run with preemption disabled), and it is replaced whole.
 *
 * Processes are one bit each by pid, so that asking costs one test whatever their
 * number; their children join in the fork's tracepoint, before they run, and leave
 * when they exit, so that a pid that is given out anew does not inherit.
 */
#include <linux/cgroup.h>
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/threads.h>
#include <linux/tracepoint.h>
#include <linux/vmalloc.h>
#include "base/compat.h"
#include "core/filter.h"
#include "core/session.h"

struct rule {
	struct ct_filter arg;
	unsigned long *pids;		/* one bit a tgid, or NULL: any */
	struct cgroup *cgroup[CT_FILTER_MAX];
	u8 comm_len[CT_FILTER_MAX];
	u64 categories;			/* those that pass */
	bool tasks;			/* has a part about tasks */
};

DEFINE_STATIC_KEY_FALSE(ct_filtering);
static struct rule __rcu *now;
static struct tracepoint *fork_point, *exit_point;

static bool filter_any_uid(const struct rule *r, struct task_struct *task)
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

static bool filter_any_comm(const struct rule *r, const struct task_struct *task)
{
	u32 i;

	for (i = 0; i < r->arg.comms; i++)
		if (!strncmp(task->comm, r->arg.comm[i], r->comm_len[i]))
			return true;
	return !r->arg.comms;
}

static bool filter_any_cgroup(const struct rule *r, struct task_struct *task)
{
	struct cgroup *mine;
	bool any = false;
	u32 i;

	if (!r->arg.cgroups)
		return true;
	rcu_read_lock();
	mine = task_dfl_cgroup(task);
	for (i = 0; i < r->arg.cgroups && !any; i++)
		any = cgroup_is_descendant(mine, r->cgroup[i]);
	rcu_read_unlock();
	return any;
}

/* The parts that are looked at after the pid. */
static noinline bool filter_any_other(const struct rule *r, struct task_struct *task)
{
	return filter_any_uid(r, task) && filter_any_comm(r, task) && filter_any_cgroup(r, task);
}

bool ct_filter_passes(u8 category, u8 context, struct task_struct *task)
{
	const struct rule *r;

	/* Preemption is disabled, which is a reader's section by itself. */
	r = rcu_dereference_sched(now);
	if (unlikely(!r))
		return true;
	if (!(r->categories >> category & 1))
		return false;
	if (!r->tasks)
		return true;
	if (context || (r->pids && !test_bit(task->tgid, r->pids)))
		return false;
	return filter_any_other(r, task);
}

/* --------------------------------------------- processes come and go ------- */

static void filter_on_fork(void *data, struct task_struct *parent, struct task_struct *child)
{
	const struct rule *r;

	if (child->tgid == parent->tgid)
		return;		/* a thread */
	rcu_read_lock();
	r = rcu_dereference(now);
	/* Who had this pid before may not have been forgotten yet. */
	if (r && r->pids)
		assign_bit(child->tgid, r->pids, test_bit(parent->tgid, r->pids));
	rcu_read_unlock();
}

/* The process, not one of its threads: its last one is gone. */
static void filter_process_exited(struct task_struct *task)
{
	const struct rule *r;

	if (!thread_group_leader(task))
		return;
	rcu_read_lock();
	r = rcu_dereference(now);
	if (r && r->pids)
		clear_bit(task->tgid, r->pids);
	rcu_read_unlock();
}

/* sched_process_free: (task); by then the pid can't be seen in a record. */
static void filter_on_free(void *data, struct task_struct *task)
{
	filter_process_exited(task);
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

static bool filter_follows(const struct rule *r)
{
	return r && r->pids && r->arg.flags & CT_FILTER_CHILDREN;
}

/* ----------------------------------------------------------- rules --------- */

static void filter_rule_free(struct rule *r)
{
	u32 i;

	if (!r)
		return;
	for (i = 0; i < CT_FILTER_MAX; i++)
		if (r->cgroup[i])
			cgroup_put(r->cgroup[i]);
	vfree(r->pids);
	kfree(r);
}

static struct rule *filter_rule_make(const struct ct_filter *f)
{
	struct rule *r;
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
		r->pids = __vmalloc(BITS_TO_LONGS(PID_MAX_LIMIT) * sizeof(long),
				   GFP_KERNEL_ACCOUNT | __GFP_ZERO);
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
		r->cgroup[i] = cgroup_get_from_fd(f->cgroup[i]);
		if (IS_ERR(r->cgroup[i])) {
			r->cgroup[i] = NULL;
			err = -EBADF;
			goto fail;
		}
	}
	return r;
fail:
	filter_rule_free(r);
	return ERR_PTR(err);
}

static void filter_rule_replace(struct rule *new)
{
	struct rule *old = rcu_dereference_protected(now,
						     lockdep_is_held(&ct_session_lock));

	rcu_assign_pointer(now, new);
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
	struct rule *r, *old;
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
	/* Registered twice, a tracepoint's function is refused: old first. */
	old = rcu_dereference_protected(now, lockdep_is_held(&ct_session_lock));
	if (filter_follows(r) && !filter_follows(old)) {
		err = filter_follow_children();
		if (err) {
			filter_rule_free(r);
			return err;
		}
	}
	if (filter_follows(r) && filter_follows(old))
		old->arg.flags &= ~CT_FILTER_CHILDREN;	/* they stay for r */
	filter_rule_replace(r);
	return 0;
}

void ct_filter_get(struct ct_filter *f)
{
	const struct rule *r = rcu_dereference_protected(now,
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
	if (rcu_access_pointer(now))
		filter_rule_replace(NULL);
}
