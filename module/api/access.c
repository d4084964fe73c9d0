// SPDX-License-Identifier: GPL-2.0
/* The rules that section 4 of cudatrace.h tells users. */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/errno.h>
#include <linux/fs.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include <linux/security.h>
#include <linux/string.h>
#include <linux/user_namespace.h>
#include "api/access.h"

bool ct_access_privileged(void)
{
	return perfmon_capable();
}

/*
 * Is the task in the group that the host's administrator gave the device?
 *
 * Root of a container usually has CAP_MKNOD, CAP_CHOWN and CAP_SETGID: it makes a device file of
 * its own in any group, and joins any group.  So only the file in devtmpfs, where udev sets the
 * group, says which group that is, and in a container being in it proves nothing.  gid 0 is the
 * group of a device for which nobody has chosen one.
 */
static bool access_by_group(const struct inode *inode)
{
	return !gid_eq(inode->i_gid, GLOBAL_ROOT_GID) &&
	       !strcmp(inode->i_sb->s_type->name, "devtmpfs") &&
	       ct_access_initial_namespaces() && in_group_p(inode->i_gid);
}

bool ct_access_may_read(const struct inode *inode)
{
	return access_by_group(inode) || ct_access_privileged();
}

int ct_access_may_probe(void)
{
	return ct_access_privileged() ? security_locked_down(LOCKDOWN_KPROBES) : -EPERM;
}

bool ct_access_sees_addresses(void)
{
	/* Without a line in the audit log: most readers lack it and are served. */
	return ns_capable_noaudit(&init_user_ns, CAP_SYSLOG);
}

bool ct_access_initial_namespaces(void)
{
	return task_active_pid_ns(current) == &init_pid_ns && current_user_ns() == &init_user_ns;
}
