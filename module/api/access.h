/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who may do what with /dev/cudatrace: docs/permissions.md.  Only api/ asks; what it calls gets the
 * answer as a flag.
 */
#ifndef CT_ACCESS_H
#define CT_ACCESS_H

#include <linux/types.h>

struct inode;

/*
 * ct_access_may_read - may the current task open the device for reading?  CAP_PERFMON may, and on
 * the host the device's group.  Not left to the file's mode, which knows no capabilities and which
 * root of a container may change.
 */
bool ct_access_may_read(const struct inode *inode);

/* ct_access_privileged - may the current task configure what is recorded (CAP_PERFMON)? */
bool ct_access_privileged(void);

/* ct_access_may_probe - may the current task add probes?  0 or -EPERM. */
int ct_access_may_probe(void);

/* ct_access_sees_addresses - may the current task see addresses of the kernel (CAP_SYSLOG)? */
bool ct_access_sees_addresses(void);

/*
 * ct_access_initial_namespaces - is the current task in the initial pid and user namespaces?
 * Records in memory have the pids and uids of those, so no other task may map them.
 */
bool ct_access_initial_namespaces(void);

#endif
