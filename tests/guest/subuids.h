/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* For tests of producers: a user who has as many uids as /etc/subuid gives. */
#ifndef CT_TEST_SUBUIDS_H
#define CT_TEST_SUBUIDS_H

#include "session.h"

/*
 * A process of user uid that is root of a user namespace with 65,536 uids, and runs this function.
 * The caller is root.  Returns its pid, or -1.
 */
static pid_t with_subuids(uid_t uid, void (*run)(void))
{
	int mapped[2], made[2];
	char path[64], c = 0;
	const char *const files[] = { "uid_map", "gid_map" };
	pid_t pid;
	int i, fd;

	if (pipe(mapped) || pipe(made))
		return -1;
	pid = fork();
	if (!pid) {
		if (setresgid(uid, uid, uid) || setresuid(uid, uid, uid) ||
		    unshare(CLONE_NEWUSER) ||
		    write(made[1], &c, 1) != 1 || read(mapped[0], &c, 1) != 1 || c != 1)
			_exit(1);
		run();
		_exit(0);
	}
	if (read(made[0], &c, 1) == 1) {
		c = 1;
		for (i = 0; i < 2; i++) {
			snprintf(path, sizeof(path), "/proc/%d/%s", pid, files[i]);
			fd = open(path, O_WRONLY);
			if (fd < 0 || write(fd, "0 100000 65536", 14) != 14)
				c = 0;
			close(fd);
		}
		if (write(mapped[1], &c, 1) != 1)
			c = 0;
	}
	for (i = 0; i < 2; i++) {
		close(mapped[i]);
		close(made[i]);
	}
	return pid;
}

#endif
