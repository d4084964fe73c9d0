// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * cudatrace session attach and detach without a module: record-in-session VERB OPTION...
 *
 * The library (CUDATRACE_LIBRARY) has a module of its own in it, tests/userlib/fake_device.c, and
 * CUDATRACE_DEVICE is any file that can be opened.  The command knows of the session by the same page,
 * $FAKE_SESSION: its word "running", and who has it mapped.
 *
 *	SESSION_BLIND=1	it does not see who is in the session
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/way.h"
#include "base/proc.h"
#include "capture/session.h"
#include "cmd/cmd.h"

/* The linker puts these in their places. */
void __real_ct_way_of(pid_t pid, struct ct_way *w);
void __wrap_ct_way_of(pid_t pid, struct ct_way *w);
int __wrap_ct_session_runs(const char *what, struct ct_error *err);

void __wrap_ct_way_of(pid_t pid, struct ct_way *w)
{
	const char *page = getenv("FAKE_SESSION");
	FILE *maps = ct_proc_maps(pid);
	struct ct_proc_mapping m;

	__real_ct_way_of(pid, w);
	while (maps && page && !getenv("SESSION_BLIND") && ct_proc_next_mapping(maps, &m))
		w->session |= !strcmp(m.path, page);
	if (maps)
		fclose(maps);
}

int __wrap_ct_session_runs(const char *what, struct ct_error *err)
{
	int fd = open(getenv("FAKE_SESSION"), O_RDONLY | O_CLOEXEC);
	uint32_t running = 0;

	if (fd < 0 || pread(fd, &running, sizeof(running), 5 * sizeof(running)) != sizeof(running))
		return ct_fail(err, ENOENT, "the module is not loaded");
	close(fd);
	return running ? 0 : ct_fail(err, ENODATA, "%s: no session runs (cudatrace session start)", what);
}

int main(int argc, char **argv)
{
	static char name[] = "cudatrace session";

	argv[0] = name;
	return cmd_session(argc, argv);
}
