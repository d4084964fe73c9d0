// SPDX-License-Identifier: GPL-2.0
/* The rules that section 4 of cudatrace.h tells users. */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/errno.h>
#include <linux/fs.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include <linux/security.h>
#include <linux/user_namespace.h>
#include "api/access.h"

bool ct_access_privileged(void)
{
	return perfmon_capable();
}

bool ct_access_may_read(const struct inode *inode)
{
	return ct_access_privileged() || uid_eq(current_fsuid(), inode->i_uid) ||
	       in_group_p(inode->i_gid);
}

int ct_access_may_probe(void)
{
	return ct_access_privileged() ? security_locked_down(LOCKDOWN_KPROBES) : -EPERM;
}

bool ct_access_initial_namespaces(void)
{
	return task_active_pid_ns(current) == &init_pid_ns && current_user_ns() == &init_user_ns;
}
