// SPDX-License-Identifier: LGPL-2.1-or-later
/* See started.h. */
#include "capture/started.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/proc.h"
#include "capture/launch.h"

#define LOOK_NS		500000000ull	/* between two looks */

bool ct_started_is(pid_t pid)
{
	char path[64], variable[64], *entry = NULL;
	bool found = false;
	size_t size = 0;
	FILE *f;

	if (!*ct_launch_mark)
		return false;
	snprintf(variable, sizeof(variable), CT_LAUNCH_MARK "=%s", ct_launch_mark);
	snprintf(path, sizeof(path), "/proc/%d/environ", pid);
	f = fopen(path, "re");
	while (f && !found && getdelim(&entry, &size, '\0', f) > 0)
		found = !strcmp(entry, variable);
	free(entry);
	if (f)
		fclose(f);
	return found;
}

/* How many run; @text: one of them, as "server[4711]"; NULL: whether there is any is all that is asked. */
static unsigned int started_count(char *text, size_t size)
{
	DIR *proc = opendir("/proc");
	unsigned int count = 0;
	struct ct_proc_stat s;
	struct dirent *entry;

	while (proc && (entry = readdir(proc))) {
		pid_t pid = (pid_t)atoi(entry->d_name);

		/* A recorder inside of this one's program is one of them, too. */
		if (pid <= 0 || pid == getpid() || !ct_started_is(pid) || !ct_proc_stat(pid, &s))
			continue;
		if (!count++ && text)
			snprintf(text, size, "%s[%d]", s.name, pid);
		if (!text)
			break;
	}
	if (proc)
		closedir(proc);
	return count;
}

bool ct_started_goes_on(struct ct_started *s)
{
	char name[64], more[32] = "";
	unsigned int count;

	if (ct_launch_stopped())
		return false;
	if (ct_now_ns() < s->look)
		return true;
	count = started_count(s->look ? NULL : name, sizeof(name));
	if (count && !s->look) {
		if (count > 1)
			snprintf(more, sizeof(more), " and %u more", count - 1);
		fprintf(stderr, "cudatrace: the program has ended; recording goes on with what it started, %s%s (Ctrl-C ends it)\n",
			name, more);
	}
	s->look = ct_now_ns() + LOOK_NS;
	return count;
}
