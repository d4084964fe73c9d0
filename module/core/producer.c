// SPDX-License-Identifier: GPL-2.0
/*
 * Whom limits and quotas treat as one.  What counts is a number that an unprivileged task cannot
 * change: otherwise it would have as many shares of a ring as it likes.
 *
 *   - A container is one producer, with all its users: its root may become any user.  A task is
 *     in a container if it is in a pid namespace that the machine's root made.  The outermost one
 *     counts, because those inside it are made by the container.
 *   - A task in another user namespace belongs to the user who made the outermost one: with
 *     /etc/subuid that user has 65,536 uids there.  If the machine's root made it, it is a
 *     container as well (with remapped uids).
 *   - Every other task belongs to its real user.
 */
#include <linux/cred.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/uidgid.h>
#include <linux/user_namespace.h>
#include "core/producer.h"
#include "base/cgroup.h"
#include "cudatrace.h"

/* The outermost pid namespace of the task; NULL: it has none but the initial one. */
static const struct pid_namespace *producer_pid_ns(struct task_struct *task)
{
	/* A task that is being reaped has none. */
	const struct pid *pid = READ_ONCE(task->thread_pid);

	return pid && pid->level ? pid->numbers[1].ns : NULL;
}

/* RCU keeps what the task leaves meanwhile. */
static u64 producer_user_of(struct task_struct *task)
{
	const struct pid_namespace *pids = producer_pid_ns(task);
	const struct cred *cred = __task_cred(task);
	const struct user_namespace *ns = cred->user_ns;

	if (pids && pids->user_ns == &init_user_ns)
		return CT_PRODUCER_CONTAINER | pids->ns.inum;
	if (ns == &init_user_ns)
		return CT_PRODUCER_USER | __kuid_val(cred->uid);
	while (ns->parent != &init_user_ns)
		ns = ns->parent;
	if (uid_eq(ns->owner, GLOBAL_ROOT_UID))
		return CT_PRODUCER_CONTAINER | ns->ns.inum;
	return CT_PRODUCER_USER | __kuid_val(ns->owner);
}

u64 ct_producer_of(struct task_struct *task, u32 flags)
{
	u64 key;

	if (flags & CT_LIMIT_PROCESS)
		return CT_PRODUCER_PROCESS | task->tgid;
	rcu_read_lock();
	if (flags & CT_LIMIT_CGROUP)
		key = CT_PRODUCER_CGROUP | ct_cgroup_id(task);
	else
		key = producer_user_of(task);
	rcu_read_unlock();
	return key;
}
