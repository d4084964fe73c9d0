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
#define UNSURE_NS	100000000ull	/* ... where a process could be one of them */
#define UNSURE_MOST	20

/* *none: it has no environment, as in the middle of an exec(). */
static bool started_look(pid_t pid, bool *none)
{
	char variable[64], *environment;
	bool found = false;
	size_t size;

	*none = false;
	if (!*ct_launch_mark)
		return false;
	snprintf(variable, sizeof(variable), CT_LAUNCH_MARK "=%s", ct_launch_mark);
	environment = ct_proc_environment(pid, CT_PROC_ENVIRONMENT_MOST, &size);
	*none = environment && !size;
	for (size_t i = 0; i < size && !found; i += strlen(environment + i) + 1)
		found = !strcmp(environment + i, variable);
	free(environment);
	return found;
}

bool ct_started_is(pid_t pid)
{
	bool none;

	return started_look(pid, &none);
}

/* Could a process without an environment have one in a moment?  Not one that has ended, nor a thread of the kernel's. */
static bool started_could_be(pid_t pid)
{
	struct ct_proc_stat s;

	return ct_proc_stat(pid, &s) && s.state != 'Z' && s.state != 'X' && pid != 2 && s.parent != 2;
}

/* *unsure: of some it is not known.  How many run; @text: one of them, as "server[4711]"; NULL: whether there is any is all that is asked. */
static unsigned int started_count(char *text, size_t size, bool *unsure)
{
	DIR *proc = opendir("/proc");
	unsigned int count = 0;
	struct ct_proc_stat s;
	struct dirent *entry;
	bool none;

	*unsure = false;
	while (proc && (entry = readdir(proc))) {
		pid_t pid = (pid_t)atoi(entry->d_name);

		/* A recorder inside of this one's program is one of them, too. */
		if (pid <= 0 || pid == getpid())
			continue;
		if (!started_look(pid, &none) || !ct_proc_stat(pid, &s)) {
			*unsure |= none && started_could_be(pid);
			continue;
		}
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
	bool unsure;

	if (ct_launch_stopped())
		return false;
	if (ct_now_ns() < s->look)
		return true;
	count = started_count(s->said ? NULL : name, sizeof(name), &unsure);
	if (!count && unsure && s->unsure++ < UNSURE_MOST) {
		s->look = ct_now_ns() + UNSURE_NS;
		return true;
	}
	s->unsure = 0;
	if (count && !s->said) {
		s->said = true;
		if (count > 1)
			snprintf(more, sizeof(more), " and %u more", count - 1);
		fprintf(stderr, "cudatrace: the program has ended; recording goes on with what it started, %s%s (Ctrl-C ends it)\n",
			name, more);
	}
	s->look = ct_now_ns() + LOOK_NS;
	return count;
}
