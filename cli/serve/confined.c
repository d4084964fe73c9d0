// SPDX-License-Identifier: LGPL-2.1-or-later
/* See confined.h. */
#include "serve/confined.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/grow.h"
#include "pack/files.h"
#include "trace/directory.h"

#define DEEPEST		6u
#define TRACES_MAX	200u
#define LOOKED_AT_MAX	20000u	/* entries of directories */

int ct_confined_open(struct ct_confined *c, const char *dir, struct ct_error *err)
{
	struct stat st;

	if (!realpath(dir, c->root))
		return ct_fail(err, errno, "%s: %s", dir, strerror(errno));
	if (stat(c->root, &st) || !S_ISDIR(st.st_mode))
		return ct_fail(err, ENOTDIR, "%s is no directory", dir);
	return 0;
}

/* Is @path the directory, or below it? */
static bool confined_holds(const struct ct_confined *c, const char *path)
{
	size_t len = strcmp(c->root, "/") ? strlen(c->root) : 0;

	return !strncmp(path, c->root, len) && (path[len] == '/' || !path[len]);
}

int ct_confined_find(const struct ct_confined *c, const char *name, char path[PATH_MAX], struct ct_error *err)
{
	char asked[PATH_MAX];
	int n = *name == '/' ? snprintf(asked, sizeof(asked), "%s", name) :
		snprintf(asked, sizeof(asked), "%s/%s", c->root, name);

	/* One answer for all, so that it says nothing of what lies elsewhere. */
	if (n < 0 || n >= (int)sizeof(asked) || !realpath(asked, path) || !confined_holds(c, path) ||
	    (!ct_is_trace(path) && !ct_pack_begins(path)))
		return ct_fail(err, ENOENT, "there is no trace '%.200s' below %.200s: the tool 'traces' lists them", name,
			       c->root);
	return 0;
}

struct confined_trace {
	char *name;
	time_t when;
	unsigned long long bytes;
};

struct confined_list {
	const struct ct_confined *c;
	struct confined_trace *traces;
	size_t count, room;
	unsigned int looked_at;
	bool cut;
	int error;
};

static void confined_add(struct confined_list *l, const char *path, time_t when, unsigned long long bytes)
{
	const char *name = path + strlen(l->c->root);

	while (*name == '/')
		name++;
	if (l->count == TRACES_MAX * 4) {
		l->cut = true;
		return;
	}
	if (!ct_room(l->traces, l->count, l->room)) {
		l->error = -ENOMEM;
		return;
	}
	l->traces[l->count] = (struct confined_trace){ .name = strdup(*name ? name : "."), .when = when, .bytes = bytes };
	if (!l->traces[l->count].name)
		l->error = -ENOMEM;
	else
		l->count++;
}

/* A pack has this end as a rule; not each file is opened. */
static bool confined_is_pack(const char *dir, const char *name)
{
	static const char end[] = ".zst";
	size_t len = strlen(name);
	char path[PATH_MAX];

	return len > sizeof(end) && !strcmp(name + len - sizeof(end) + 1, end) && !ct_path(path, sizeof(path), dir, name) &&
	       ct_pack_begins(path);
}

/* Looks into @path, follows no link, and not into traces. */
static void confined_walk(struct confined_list *l, const char *path, unsigned int depth)
{
	bool trace = ct_is_trace(path);
	unsigned long long bytes = 0;
	struct dirent *entry;
	time_t when = 0;
	struct stat st;
	DIR *dir;

	dir = opendir(path);
	while (dir && !l->error && (entry = readdir(dir))) {
		char below[PATH_MAX];

		if (l->looked_at++ >= LOOKED_AT_MAX) {
			l->cut = true;
			break;
		}
		if (fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW))
			continue;
		if (S_ISREG(st.st_mode) && !trace && confined_is_pack(path, entry->d_name)) {
			char pack[PATH_MAX];

			if (!ct_path(pack, sizeof(pack), path, entry->d_name))
				confined_add(l, pack, st.st_mtime, st.st_size);
		} else if (S_ISREG(st.st_mode)) {
			bytes += st.st_size;
			when = st.st_mtime > when ? st.st_mtime : when;
		} else if (S_ISDIR(st.st_mode) && !trace && *entry->d_name != '.' && depth < DEEPEST &&
			   !ct_path(below, sizeof(below), path, entry->d_name)) {
			confined_walk(l, below, depth + 1);
		}
	}
	if (dir)
		closedir(dir);
	if (trace)
		confined_add(l, path, when, bytes);
}

static int confined_newest(const void *a, const void *b)
{
	const struct confined_trace *x = a, *y = b;

	return x->when != y->when ? (x->when < y->when) - (x->when > y->when) : strcmp(x->name, y->name);
}

int ct_confined_list(const struct ct_confined *c, FILE *out)
{
	struct confined_list l = { .c = c };
	size_t shown;

	confined_walk(&l, c->root, 0);
	if (l.count)
		qsort(l.traces, l.count, sizeof(*l.traces), confined_newest);
	shown = l.count < TRACES_MAX ? l.count : TRACES_MAX;
	for (size_t i = 0; i < shown; i++) {
		char date[32] = "";
		struct tm tm;

		if (gmtime_r(&l.traces[i].when, &tm))
			strftime(date, sizeof(date), "%Y-%m-%d %H:%M UTC", &tm);
		fprintf(out, "%s  (%s, %.1f MB)\n", l.traces[i].name, date, l.traces[i].bytes / 1e6);
	}
	if (!l.count)
		fprintf(out, "there is no trace below %s; 'cudatrace record -o DIR -- PROGRAM' makes one\n", c->root);
	if (l.cut || shown < l.count)
		fprintf(out, "[cut: more traces are there; these are the newest of those that were looked at]\n");
	for (size_t i = 0; i < l.count; i++)
		free(l.traces[i].name);
	free(l.traces);
	return l.error ? 1 : 0;
}
