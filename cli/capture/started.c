// SPDX-License-Identifier: LGPL-2.1-or-later
/* See started.h. */
#include "capture/started.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/proc.h"

/* "CUDATRACE_TRACE=" and the number: launch_set_environment(). */
static void started_variable(const uint8_t uuid[16], char text[64])
{
	int len = sprintf(text, "CUDATRACE_TRACE=");

	for (unsigned int i = 0; i < 16; i++)
		len += sprintf(text + len, "%02x", uuid[i]);
}

static bool started_has(pid_t pid, const char *variable)
{
	char path[64], *entry = NULL;
	bool found = false;
	size_t size = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/environ", pid);
	f = fopen(path, "re");
	while (f && !found && getdelim(&entry, &size, '\0', f) > 0)
		found = !strcmp(entry, variable);
	free(entry);
	if (f)
		fclose(f);
	return found;
}

unsigned int ct_started(const uint8_t uuid[16], char *text, size_t size)
{
	DIR *proc = opendir("/proc");
	unsigned int count = 0;
	struct ct_proc_stat s;
	struct dirent *entry;
	char variable[64];

	started_variable(uuid, variable);
	while (proc && (entry = readdir(proc))) {
		pid_t pid = (pid_t)atoi(entry->d_name);

		/* A recorder inside of this one's program is one of them, too. */
		if (pid <= 0 || pid == getpid() || !started_has(pid, variable) || !ct_proc_stat(pid, &s))
			continue;
		if (!count++ && text)
			snprintf(text, size, "%s[%d]", s.name, pid);
		/* One is enough for who only asks whether there is any. */
		if (!text)
			break;
	}
	if (proc)
		closedir(proc);
	return count;
}
