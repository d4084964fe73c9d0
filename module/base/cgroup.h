/* SPDX-License-Identifier: GPL-2.0 */
/* Cgroups, also of a kernel that has none: there no task is in one, and none can be named. */
#ifndef CT_CGROUP_H
#define CT_CGROUP_H

#include <linux/cgroup.h>
#include <linux/err.h>
#include <linux/types.h>

struct task_struct;

/*
 * ct_cgroup_id - of the task's cgroup in the unified hierarchy; 0: the kernel has no cgroups.
 * ct_cgroup_within - is the task in this cgroup or below it?
 * Of both the caller holds rcu_read_lock().  Any context.
 *
 * ct_cgroup_get - a directory of a cgroup that this task has open.  Returns it with a reference,
 * which ct_cgroup_put() drops; ERR_PTR(-EBADF), or ERR_PTR(-EOPNOTSUPP): no cgroups.  May sleep.
 */
#ifdef CONFIG_CGROUPS
static inline u64 ct_cgroup_id(struct task_struct *task)
{
	return cgroup_id(task_dfl_cgroup(task));
}

static inline bool ct_cgroup_within(struct task_struct *task, struct cgroup *cgroup)
{
	return cgroup_is_descendant(task_dfl_cgroup(task), cgroup);
}

static inline struct cgroup *ct_cgroup_get(int fd)
{
	struct cgroup *cgroup = cgroup_get_from_fd(fd);

	return IS_ERR(cgroup) ? ERR_PTR(-EBADF) : cgroup;
}

static inline void ct_cgroup_put(struct cgroup *cgroup)
{
	cgroup_put(cgroup);
}
#else
static inline u64 ct_cgroup_id(struct task_struct *task)
{
	return 0;
}

static inline bool ct_cgroup_within(struct task_struct *task, struct cgroup *cgroup)
{
	return false;
}

static inline struct cgroup *ct_cgroup_get(int fd)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static inline void ct_cgroup_put(struct cgroup *cgroup)
{
}
#endif

#endif
