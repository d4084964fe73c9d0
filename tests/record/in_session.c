// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * cudatrace session attach and detach without a module: record-in-session VERB OPTION...
 * What a snapshot says of the session's processes: record-in-session names DIR
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
#include "base/rank.h"
#include "capture/session.h"
#include "capture/session_names.h"
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

/* A registry with the lines of a snapshot; and the rank of each process that is given. */
static int names(char **argv)
{
	struct ct_registry_writer w = { .fd = -1 };
	const uint8_t uuid[16] = { 1 };
	struct ct_error err;

	if (ct_registry_create(&w, argv[0], uuid, 1, 1, &err))
		return ct_complain("%s", err.text);
	ct_session_names(&w, getenv("FAKE_SESSION"));
	ct_registry_close(&w);
	for (char **pid = argv + 1; *pid; pid++)
		printf("%d\n", ct_rank_number(atoi(*pid)));
	return 0;
}

int main(int argc, char **argv)
{
	static char name[] = "cudatrace session";

	if (argc > 2 && !strcmp(argv[1], "names"))
		return names(argv + 2);
	argv[0] = name;
	return cmd_session(argc, argv);
}
