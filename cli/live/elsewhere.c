// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * See elsewhere.h.
 *
 * A directory is held open, and read through that: a process of a container has it below another root, which is gone
 * when the process has ended.  A process has another number in a container, and so in its records.
 */
#include "live/elsewhere.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/grow.h"
#include "base/keyed.h"
#include "base/proc.h"
#include "trace/directory.h"

#define DIRS_MOST	64u
#define PROCESSES_MOST	4096u	/* of a directory, ended ones included */

struct elsewhere_process {
	uint64_t there;		/* as its records have it */
	pid_t here;		/* 0: it is not known, or has ended */
	unsigned int look;	/* at which it was seen last */
	bool two;		/* two processes have this number there, each in a namespace of its own */
	bool missed;		/* records of it were not given */
};

struct ct_elsewhere_dir {
	struct ct_elsewhere *all;
	struct ct_follow_sink sink;
	struct ct_follower *follower;	/* NULL: an error ended it */
	dev_t dev;
	ino_t ino;
	int fd;
	char path[40];			/* by fd */
	char *name;			/* as the first process has it */
	CT_KEYED(struct elsewhere_process) processes;
};

/* The directory that a process writes to, by our path or by that of its root.  -1, and errno: it can't be opened. */
static int elsewhere_open(pid_t pid, const char *dir, struct stat *st)
{
	char there[PATH_MAX + 32], registry[PATH_MAX + 64];
	const char *const paths[2] = { there, dir };
	int fd = -1, error = ENOENT;

	snprintf(there, sizeof(there), "/proc/%d/root%s", pid, dir);
	/* What the kernel calls a mapping is as we see it, where we do; else as the process does. */
	for (unsigned int i = 0; i < 2 && fd < 0; i++) {
		if (ct_path(registry, sizeof(registry), paths[i], CT_REGISTRY_FILE) || access(registry, F_OK)) {
			error = errno == EACCES ? EACCES : error;
			continue;
		}
		fd = open(paths[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		error = fd < 0 ? errno : 0;
	}
	if (fd >= 0 && fstat(fd, st)) {
		error = errno;
		close(fd);
		fd = -1;
	}
	errno = error;
	return fd;
}

/* Is it recorded into @d, under the number that it has here? */
static bool elsewhere_is_here(const struct ct_elsewhere_dir *d, pid_t pid)
{
	struct stat st;
	struct ct_way w;
	int fd;

	ct_way_of(pid, &w);
	if (!*w.dir || w.deleted || ct_proc_own_pid(pid) != pid)
		return false;
	fd = elsewhere_open(pid, w.dir, &st);
	if (fd >= 0)
		close(fd);
	return fd >= 0 && st.st_dev == d->dev && st.st_ino == d->ino;
}

/* NULL: there are too many. */
static struct elsewhere_process *elsewhere_of(struct ct_elsewhere_dir *d, uint32_t there)
{
	struct elsewhere_process *one = ct_keyed_get(&d->processes, there);

	if (one || d->processes.count == PROCESSES_MOST || !(one = ct_keyed_put(&d->processes, there)))
		return one;
	/* It began after the last look.  Of a container the next one finds it. */
	if (elsewhere_is_here(d, (pid_t)there)) {
		one->here = (pid_t)there;
		one->look = d->all->look;
	}
	return one;
}

static int elsewhere_record(void *arg, const struct ct_registry *reg, const struct ct_record *r, bool old)
{
	struct ct_elsewhere_dir *d = arg;
	struct elsewhere_process *one = elsewhere_of(d, r->pid);
	struct ct_record here = *r;

	if (one && (!one->here || one->two))
		one->missed = true;
	if (!one || !one->here || one->two)
		return 0;
	here.pid = (uint32_t)one->here;
	return d->all->sink->record(d->all->sink->arg, reg, &here, old);
}

static void elsewhere_left_out(void *arg, uint32_t pid)
{
	struct ct_elsewhere_dir *d = arg;

	for (size_t i = 0; i < d->processes.count; i++) {
		struct elsewhere_process *one = &d->processes.list[i];

		if (pid && one->there != pid)
			continue;
		if (one->here && !one->missed)
			d->all->sink->left_out(d->all->sink->arg, (uint32_t)one->here);
		one->missed = true;
	}
	/* It may be found later. */
	if (pid && !ct_keyed_get(&d->processes, pid)) {
		struct elsewhere_process *one = elsewhere_of(d, pid);

		if (one) {
			one->missed = true;
			if (one->here)
				d->all->sink->left_out(d->all->sink->arg, (uint32_t)one->here);
		}
	}
}

static void elsewhere_close(struct ct_elsewhere_dir *d)
{
	ct_follower_close(d->follower);
	ct_keyed_free(&d->processes);
	close(d->fd);
	free(d->name);
	free(d);
}

/* A new one of @fd, which is its own from now on.  NULL, and errno. */
static struct ct_elsewhere_dir *elsewhere_follow(struct ct_elsewhere *e, int fd, const struct stat *st, const char *name)
{
	struct ct_elsewhere_dir *d = calloc(1, sizeof(*d));
	struct ct_error err;
	int rc;

	if (d)
		d->name = strdup(name);
	if (!d || !d->name || !ct_room(e->dirs, e->count, e->room)) {
		free(d ? d->name : NULL);
		free(d);
		close(fd);
		errno = ENOMEM;
		return NULL;
	}
	d->all = e;
	d->fd = fd;
	d->dev = st->st_dev;
	d->ino = st->st_ino;
	d->sink = (struct ct_follow_sink){
		.arg = d, .record = elsewhere_record, .left_out = elsewhere_left_out, .after = e->sink->after,
	};
	snprintf(d->path, sizeof(d->path), "/proc/self/fd/%d", fd);
	rc = ct_follower_open(&d->follower, d->path, d->name, true, &d->sink, &err);
	if (rc) {
		elsewhere_close(d);
		errno = -rc;
		return NULL;
	}
	e->dirs[e->count++] = d;
	return d;
}

static const char *elsewhere_why(int error)
{
	switch (error) {
	case EACCES:
	case EPERM:
		return "not readable";
	case ENOENT:
		return "deleted";
	case EPROTO:
		return "another version";
	default:
		return "can't be followed";
	}
}

static struct ct_elsewhere_dir *elsewhere_find(const struct ct_elsewhere *e, const struct stat *st)
{
	for (unsigned int i = 0; i < e->count; i++)
		if (e->dirs[i]->dev == st->st_dev && e->dirs[i]->ino == st->st_ino)
			return e->dirs[i];
	return NULL;
}

const char *ct_elsewhere_process(struct ct_elsewhere *e, pid_t pid, const struct ct_way *w)
{
	struct elsewhere_process *one;
	struct ct_elsewhere_dir *d;
	struct stat st;
	uint64_t there;
	int fd;

	if (w->deleted)
		return "deleted";
	fd = elsewhere_open(pid, w->dir, &st);
	if (fd < 0)
		return elsewhere_why(errno);
	d = elsewhere_find(e, &st);
	if (d || e->count == DIRS_MOST)
		close(fd);
	if (!d && e->count == DIRS_MOST)
		return "too many recordings";
	if (!d && !(d = elsewhere_follow(e, fd, &st, w->dir)))
		return elsewhere_why(errno);
	there = (uint64_t)ct_proc_own_pid(pid);
	one = ct_keyed_get(&d->processes, there);
	if (!one && d->processes.count < PROCESSES_MOST)
		one = ct_keyed_put(&d->processes, there);
	if (!one)
		return "too many processes";
	one->two = one->look == e->look && one->here && one->here != pid;
	if (one->two)
		return "its number is there twice";
	if (one->here != pid && one->missed)
		e->sink->left_out(e->sink->arg, (uint32_t)pid);
	one->here = pid;
	one->look = e->look;
	return d->follower ? NULL : "damaged";
}

void ct_elsewhere_look_begin(struct ct_elsewhere *e)
{
	e->look++;
}

void ct_elsewhere_look_end(struct ct_elsewhere *e)
{
	for (unsigned int i = e->count; i-- > 0;) {
		struct ct_elsewhere_dir *d = e->dirs[i];
		bool any = false;

		for (size_t j = 0; j < d->processes.count; j++) {
			if (d->processes.list[j].look != e->look)
				d->processes.list[j].here = 0;
			any |= d->processes.list[j].here != 0;
		}
		if (any)
			continue;
		elsewhere_close(d);
		e->dirs[i] = e->dirs[--e->count];
	}
}

bool ct_elsewhere_read(struct ct_elsewhere *e)
{
	bool full = false;

	for (unsigned int i = 0; i < e->count; i++) {
		struct ct_elsewhere_dir *d = e->dirs[i];
		struct ct_follow_state state = { .more = false };
		struct ct_error ignored;

		if (d->follower && ct_follower_read(d->follower, &state, &ignored)) {
			ct_follower_close(d->follower);
			d->follower = NULL;
		}
		full |= state.full;
	}
	return full;
}

void ct_elsewhere_begin(struct ct_elsewhere *e, const struct ct_follow_sink *sink)
{
	*e = (struct ct_elsewhere){ .sink = sink };
}

void ct_elsewhere_end(struct ct_elsewhere *e)
{
	for (unsigned int i = 0; i < e->count; i++)
		elsewhere_close(e->dirs[i]);
	free(e->dirs);
	*e = (struct ct_elsewhere){ .count = 0 };
}
