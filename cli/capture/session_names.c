// SPDX-License-Identifier: LGPL-2.1-or-later
/* See session_names.h.  A process says what it likes in its environment and its names: they are for people only. */
#include "capture/session_names.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/proc.h"
#include "base/rank.h"

#define THREADS_MOST	256	/* of a process, as in the library */

static bool session_names_has(pid_t pid, const char *page)
{
	FILE *maps = ct_proc_maps(pid);
	struct ct_proc_mapping m;
	bool found = false;

	while (maps && !found && ct_proc_next_mapping(maps, &m))
		found = !strcmp(m.path, page);
	if (maps)
		fclose(maps);
	return found;
}

static void session_names_thread(struct ct_registry_writer *w, pid_t pid, pid_t tid, const char *name)
{
	char line[96];

	snprintf(line, sizeof(line), "%d %d %s", pid, tid, name);
	ct_registry_add_info(w, "thread_name", line);
}

/* The process's, and those of threads that are not called like it: a new thread has the name of its creator. */
static void session_names_threads(struct ct_registry_writer *w, pid_t pid)
{
	char path[320], process[16], name[16];
	unsigned int told = 0;
	struct dirent *entry;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	if (!ct_first_line(path, process, sizeof(process)))
		return;
	session_names_thread(w, pid, pid, process);
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	tasks = opendir(path);
	while (tasks && told < THREADS_MOST && (entry = readdir(tasks))) {
		pid_t tid = (pid_t)atoi(entry->d_name);

		snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", pid, tid);
		if (tid <= 0 || !ct_first_line(path, name, sizeof(name)) || !strcmp(name, process))
			continue;
		session_names_thread(w, pid, tid, name);
		told++;
	}
	if (tasks)
		closedir(tasks);
}

void ct_session_names(struct ct_registry_writer *w, const char *page)
{
	DIR *proc = opendir("/proc");
	char text[CT_RANK_TEXT];
	struct dirent *entry;

	while (proc && (entry = readdir(proc))) {
		pid_t pid = (pid_t)atoi(entry->d_name);

		if (pid <= 0 || !session_names_has(pid, page))
			continue;
		if (ct_rank_read(pid, text))
			ct_registry_add_info(w, "rank", text);
		session_names_threads(w, pid);
	}
	if (proc)
		closedir(proc);
}
