// SPDX-License-Identifier: LGPL-2.1-or-later
/* See unseen.h. */
#include "capture/unseen.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "analysis/unseen_processes.h"
#include "base/clock.h"
#include "base/proc.h"
#include "trace/directory.h"

#define FIRST_NS 200000000ull /* short programs are the ones that people try first */
#define LONGEST_NS 2000000000ull /* between two looks for new processes */
#define MAPS_NS 16000000000ull /* between two looks at the maps of one */
#define NVIDIA_MAJOR 195 /* /dev/nvidiactl, /dev/nvidia0; as fixed in the kernel's list */

/* What /proc/PID/stat says; false: it has gone. */
static bool unseen_read_stat(pid_t pid, struct ct_unseen_process *p)
{
	struct ct_proc_stat stat;

	if (!ct_proc_stat(pid, &stat))
		return false;
	*p = (struct ct_unseen_process){ .pid = pid, .parent = stat.parent, .started = stat.started, .stack = stat.stack };
	snprintf(p->name, sizeof(p->name), "%s", stat.name);
	return true;
}

static struct ct_unseen_process *unseen_process(struct ct_unseen *u, pid_t pid)
{
	struct ct_unseen_process *p, now;

	if (!unseen_read_stat(pid, &now))
		return NULL;
	for (unsigned int i = 0; i < u->count; i++) {
		p = &u->processes[i];
		if (p->pid == pid && p->started == now.started) {
			/* exec() has changed it: it may be another program. */
			if (strcmp(p->name, now.name) || p->stack != now.stack) {
				memcpy(p->name, now.name, sizeof(p->name));
				p->stack = now.stack;
				p->wait = FIRST_NS;
				p->next = 0;
			}
			return p;
		}
	}
	if (u->count == CT_UNSEEN_PROCESSES)
		return NULL;
	p = &u->processes[u->count++];
	*p = now;
	p->wait = FIRST_NS;
	p->own_pid = ct_proc_own_pid(pid);
	return p;
}

/* Is there a stream of it, or was there one? */
static bool unseen_is_recorded(const struct ct_unseen *u, const struct ct_unseen_process *p)
{
	char begin[32];
	struct dirent *entry;
	bool found = p->named;
	int fd = openat(u->dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	snprintf(begin, sizeof(begin), "u-%d-", p->own_pid);
	while (!found && d && (entry = readdir(d)))
		found = !strncmp(entry->d_name, begin, strlen(begin));
	if (d)
		closedir(d);
	else if (fd >= 0)
		close(fd);
	return found;
}

/* @path, as the process sees it. */
static bool unseen_path_there(const struct ct_unseen_process *p, const char *path, char *there,
			      size_t size)
{
	return (size_t)snprintf(there, size, "/proc/%d/root%s", p->pid, path) < size;
}

static bool unseen_is_missing(const struct ct_unseen_process *p, const char *path,
			      const struct stat *ours)
{
	char there[PATH_MAX + 64];
	struct stat theirs;

	if (!unseen_path_there(p, path, there, sizeof(there)))
		return false;
	if (stat(there, &theirs))
		return errno == ENOENT || errno == ENOTDIR;
	return ours && (theirs.st_dev != ours->st_dev || theirs.st_ino != ours->st_ino);
}

/* Does the path of the trace name something else in its root, or nothing?  May it be written? */
static void unseen_look_at_root(const struct ct_unseen *u, struct ct_unseen_process *p)
{
	char link[64], path[PATH_MAX], there[PATH_MAX + 64];
	struct statvfs fs;
	struct stat ours;
	ssize_t len;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", u->dirfd);
	len = readlink(link, path, sizeof(path) - 1);
	if (len <= 0 || fstat(u->dirfd, &ours))
		return;
	path[len] = '\0';
	p->elsewhere = unseen_is_missing(p, path, &ours) ||
		       (!p->library && unseen_is_missing(p, u->library, NULL));
	p->read_only = unseen_path_there(p, path, there, sizeof(there)) && !statvfs(there, &fs) &&
		       fs.f_flag & ST_RDONLY;
}

/* Is it the beginning of a mapped libc?  Until glibc 2.33 its file was libc-2.33.so. */
static bool unseen_is_libc(const struct ct_proc_mapping *m, const char *file)
{
	return !m->offset && (!strncmp(file, "libc.so.6", strlen("libc.so.6")) || !strncmp(file, "libc-2.", strlen("libc-2.")));
}

static void unseen_read_maps(const struct ct_unseen *u, struct ct_unseen_process *p)
{
	const char *library = ct_proc_file(u->library), *file;
	FILE *maps = ct_proc_maps(p->pid);
	struct ct_proc_mapping m;
	unsigned int libcs = 0;

	if (!maps)
		return;
	while (ct_proc_next_mapping(maps, &m)) {
		if (!strchr(m.path, '/'))
			continue;
		file = ct_proc_file(m.path);
		p->cuda |= !strncmp(file, "libcuda.so", strlen("libcuda.so"));
		p->library |= !strncmp(file, library, strlen(library));
		libcs += unseen_is_libc(&m, file);
	}
	fclose(maps);
	p->namespaces = libcs > 1;
	if (p->cuda)
		unseen_look_at_root(u, p);
}

static void unseen_find_device(struct ct_unseen_process *p)
{
	char path[64 + 256];
	struct dirent *entry;
	struct stat st;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/fd", p->pid);
	d = opendir(path);
	while (d && !p->driver && (entry = readdir(d))) {
		snprintf(path, sizeof(path), "/proc/%d/fd/%s", p->pid, entry->d_name);
		p->driver = *entry->d_name != '.' && !stat(path, &st) &&
			    S_ISCHR(st.st_mode) && major(st.st_rdev) == NVIDIA_MAJOR;
	}
	if (d)
		closedir(d);
}

static void unseen_look_at(struct ct_unseen *u, pid_t pid, uint64_t now)
{
	struct ct_unseen_process *p = unseen_process(u, pid);

	if (!p || (p->cuda && (p->driver || !u->driver)) || now < p->next)
		return;
	/* A process that has a stream is recorded: its maps need not be read. */
	if (!unseen_is_recorded(u, p)) {
		if (!p->cuda)
			unseen_read_maps(u, p);
		if (p->cuda && u->driver)
			unseen_find_device(p);
	}
	p->next = now + p->wait;
	p->wait = p->wait * 2 < MAPS_NS ? p->wait * 2 : MAPS_NS;
}

/* Appends the children of each of its threads to @pids. */
static unsigned int unseen_children(pid_t pid, pid_t *pids, unsigned int count)
{
	char path[64 + 256];
	struct dirent *entry;
	int child;
	DIR *d;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	d = opendir(path);
	while (d && (entry = readdir(d))) {
		if (*entry->d_name == '.')
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%s/children", pid, entry->d_name);
		f = fopen(path, "re");
		while (f && count < CT_UNSEEN_PROCESSES && fscanf(f, "%d", &child) == 1)
			pids[count++] = child;
		if (f)
			fclose(f);
	}
	if (d)
		closedir(d);
	return count;
}

void ct_unseen_open(struct ct_unseen *u, pid_t root, int dirfd, const char *library)
{
	*u = (struct ct_unseen){
		.root = root, .dirfd = dirfd, .wait = FIRST_NS, .next = ct_now_ns() + FIRST_NS,
		.driver = !access("/sys/module/nvidia", F_OK),
	};
	if (!realpath(library, u->library))
		snprintf(u->library, sizeof(u->library), "%s", library);
	u->processes = calloc(CT_UNSEEN_PROCESSES, sizeof(*u->processes));
}

int ct_unseen_due(const struct ct_unseen *u)
{
	uint64_t now = ct_now_ns();

	if (!u->processes)
		return -1;
	return u->next > now ? (u->next - now) / 1000000 + 1 : 0;
}

void ct_unseen_look(struct ct_unseen *u)
{
	pid_t pids[CT_UNSEEN_PROCESSES] = { u->root };
	unsigned int count = 1;
	uint64_t now = ct_now_ns();

	if (!u->processes || now < u->next)
		return;
	for (unsigned int i = 0; i < count; i++) {
		unseen_look_at(u, pids[i], now);
		count = unseen_children(pids[i], pids, count);
	}
	u->wait = u->wait * 2 < LONGEST_NS ? u->wait * 2 : LONGEST_NS;
	u->next = ct_now_ns() + u->wait;
}

/* A forked child has libcuda because its parent has: that says nothing about its calls. */
static bool unseen_is_heir(const struct ct_unseen *u, const struct ct_unseen_process *p)
{
	for (unsigned int i = 0; i < u->count; i++) {
		const struct ct_unseen_process *parent = &u->processes[i];

		if (parent->pid == p->parent && parent->stack == p->stack)
			return parent->cuda || unseen_is_recorded(u, parent);
	}
	return false;
}

static const char *unseen_cause(const struct ct_unseen *u, const struct ct_unseen_process *p)
{
	if (u->driver && !p->driver)
		return CT_UNSEEN_IDLE;
	if (p->elsewhere)
		return CT_UNSEEN_ELSEWHERE;
	if (p->library && p->read_only)
		return CT_UNSEEN_READ_ONLY;
	if (p->library && p->namespaces)
		return CT_UNSEEN_NAMESPACE;
	return p->library ? CT_UNSEEN_LOADED_INFO : CT_UNSEEN_INFO;
}

/* A process that had a stream, which record --keep may have dropped, has a line for its first thread. */
static void unseen_note_named(struct ct_unseen *u)
{
	int fd = openat(u->dirfd, CT_REGISTRY_FILE, O_RDONLY | O_CLOEXEC);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	char *line = NULL;
	size_t room = 0;
	int pid;

	if (fd >= 0 && !f)
		close(fd);
	while (f && getline(&line, &room, f) > 0) {
		if (sscanf(line, "info thread_name %d%%20", &pid) != 1)
			continue;
		for (unsigned int i = 0; i < u->count; i++)
			u->processes[i].named |= u->processes[i].own_pid == pid;
	}
	free(line);
	if (f)
		fclose(f);
}

void ct_unseen_close(struct ct_unseen *u, struct ct_registry_writer *w)
{
	char text[64];

	unseen_note_named(u);
	for (unsigned int i = 0; i < u->count; i++) {
		struct ct_unseen_process *p = &u->processes[i];

		if (!p->cuda || unseen_is_recorded(u, p) ||
		    (p->library && !p->elsewhere && unseen_is_heir(u, p)))
			continue;
		snprintf(text, sizeof(text), "%d %s", p->own_pid, p->name);
		ct_registry_add_info(w, unseen_cause(u, p), text);
	}
	free(u->processes);
	u->processes = NULL;
	u->count = 0;
}
