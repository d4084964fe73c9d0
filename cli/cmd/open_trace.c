// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * See open_trace.h.  Must never fail because a trace can't be finished: it is then read
 * as it stands.
 */
#include "cmd/open_trace.h"

#include <errno.h>
#include <dirent.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/grow.h"
#include "capture/finish.h"
#include "pack/files.h"
#include "pack/pack.h"
#include "ranks/clocks.h"
#include "ranks/rank_summary.h"
#include "trace/directory.h"
#include "trace/several.h"

bool ct_open_read_only;

#define LINES	16u	/* about damages; the others are only counted */

/* What is missing of a trace: lines on stderr, and text for what is made of the trace. */
struct damage {
	const struct ct_trace *trace;
	unsigned int lines;
	char text[640];
};

static void damage_add(struct damage *d, const char *name, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void damage_add(struct damage *d, const char *name, const char *format, ...)
{
	size_t used = strlen(d->text);
	char line[400];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (d->lines++ >= LINES)
		return;
	ct_complain("%s/%s%s", d->trace->dir, name, line);
	snprintf(d->text + used, sizeof(d->text) - used, "%s%s%s", used ? "; " : "", name, line);
}

/* Says which records are missing because files are damaged, a line for each stream. */
static int open_tell_bad(struct ct_trace *t)
{
	struct damage d = { .trace = t };

	if (t->reg.damaged)
		damage_add(&d, ".registry", " is damaged: metadata is read instead");
	for (unsigned int i = 0; i < t->unread_count; i++) {
		const struct ct_unread *u = &t->unread[i];

		damage_add(&d, u->name, u->lost ? " %s: its records are lost" : ": %s: left out", u->why);
	}
	for (unsigned int i = 0; i < t->streams_count; i++) {
		const struct ct_stream_file *s = &t->streams[i];

		if (s->packets_bad)
			damage_add(&d, s->name, ": offset %llu: %s: left out %llu damaged packet%s of this stream",
				   (unsigned long long)s->bad_offset, s->bad_why,
				   (unsigned long long)s->packets_bad, s->packets_bad == 1 ? "" : "s");
	}
	if (d.lines > LINES)
		ct_complain("%s: and %u more streams that are damaged", t->dir, d.lines - LINES);
	return d.lines ? ct_registry_add_damage(&t->reg, d.text) : 0;
}

static int open_directory(struct ct_trace *t, const char *dir)
{
	struct ct_error err;
	int rc;

	rc = ct_open_read_only ? 0 : ct_finish(dir, false, &err);
	if (rc < 0 && ct_trace_open(t, dir, NULL)) {
		ct_trace_close(t);
		return ct_complain("%s", err.text);
	}
	/* What is no stream is named below. */
	if (rc < 0 && rc != -EBADMSG)
		ct_complain("%s; the records that can be read are shown", err.text);
	if (rc == 1)
		ct_complain("%s: still being recorded; the records until now are shown", dir);
	if (rc >= 0 && ct_trace_open(t, dir, &err))
		return ct_complain("%s", err.text);
	if (ct_open_read_only && t->unfinished)
		ct_complain("%s: being recorded, or not finished; the records until now are shown", dir);
	return 0;
}

/* The trace has the pack's name: where it was unpacked says nothing to people. */
static int open_pack(struct ct_trace *t, const char *file)
{
	char dir[PATH_MAX], *name;
	struct ct_error err;
	int status;

	if (ct_pack_unpack(file, dir, &err))
		return ct_complain("%s", err.text);
	status = open_directory(t, dir);
	name = status ? NULL : strdup(file);
	if (name) {
		free(t->dir);
		t->dir = name;
	}
	return status;
}

static int open_trace(struct ct_trace *t, const char *dir)
{
	int status;

	*t = (struct ct_trace){ 0 };
	status = ct_pack_is(dir) ? open_pack(t, dir) : open_directory(t, dir);
	if (status)
		return status;
	if (open_tell_bad(t))
		return ct_complain("%s: no memory", dir);
	if (t->lost)
		fprintf(stderr, "cudatrace: %llu record%s lost while this was recorded\n",
			(unsigned long long)t->lost, t->lost == 1 ? " was" : "s were");
	return 0;
}

/* Those that are named, those of folders one by one. */
struct open_list {
	char **dirs;
	unsigned int count, room;
};

static int open_list_add(struct open_list *l, const char *dir, const char *name)
{
	char *path;

	if (!ct_room(l->dirs, l->count, l->room) || asprintf(&path, name ? "%s/%s" : "%s", dir, name) < 0)
		return -ENOMEM;
	l->dirs[l->count++] = path;
	return 0;
}

static int open_list_skips_hidden(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* A folder with traces or summaries, and none itself, stands for them. */
static int open_list_folder(struct open_list *l, const char *dir)
{
	unsigned int before = l->count;
	struct dirent **entry = NULL;
	int rc = 0, count;

	count = ct_is_trace(dir) ? 0 : scandir(dir, &entry, open_list_skips_hidden, versionsort);
	for (int i = 0; i < count; i++) {
		char path[4096];

		if (!rc && !ct_path(path, sizeof(path), dir, entry[i]->d_name) && (ct_is_trace(path) || ct_summary_is(path)))
			rc = open_list_add(l, dir, entry[i]->d_name);
		free(entry[i]);
	}
	free(entry);
	return rc || l->count > before ? rc : open_list_add(l, dir, NULL);
}

/* The one that is there twice; NULL: none. */
static const char *open_list_twice(const struct open_list *l)
{
	for (unsigned int i = 0; i < l->count; i++) {
		struct stat a, b;

		for (unsigned int k = 0; k < i && !stat(l->dirs[i], &a); k++)
			if (!stat(l->dirs[k], &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino)
				return l->dirs[i];
	}
	return NULL;
}

#define CLOCKS_TOLD	4u	/* hosts */

/* How exactly the clocks of hosts can be compared, once each host. */
static void open_tell_clocks(const struct ct_trace *t)
{
	unsigned int told = 0, others = 0;
	char text[320];

	for (unsigned int i = 0; i < t->sources_count; i++)
		if (!t->sources[i].clock.same && told++ < CLOCKS_TOLD)
			fprintf(stderr, "cudatrace: %s\n", ct_clocks_text(&t->sources[i], text, sizeof(text)));
		else
			others += !t->sources[i].clock.same;
	if (others)
		fprintf(stderr, "cudatrace: and %u more hosts: report ranks lists their clocks\n", others);
}

static int open_several(struct ct_trace *t, const struct open_list *l, const char *name)
{
	struct ct_trace *of = calloc(l->count, sizeof(*of));
	struct ct_error err = { 0 };
	int status = of ? 0 : ct_complain("no memory");

	for (unsigned int i = 0; i < l->count && !status; i++)
		status = open_trace(&of[i], l->dirs[i]);
	if (!status && ct_trace_several(t, of, l->count, name, &err))
		status = ct_complain("%s", err.text);
	for (unsigned int i = 0; of && i < l->count; i++)
		ct_trace_close(&of[i]);
	free(of);
	if (!status && ct_clocks_fit(t))
		status = ct_complain("%s: no memory", t->dir);
	if (!status)
		open_tell_clocks(t);
	return status;
}

static int open_summaries(struct ct_trace *t, const struct open_list *l, const char *name)
{
	struct ct_error err = { 0 };

	for (unsigned int i = 0; i < l->count; i++)
		if (!ct_summary_is(l->dirs[i]))
			return ct_complain_usage("%s: no summary, as others are: make one of it (cudatrace summarize)", l->dirs[i]);
	if (ct_summaries_open(t, (const char *const *)l->dirs, l->count, name, &err))
		return ct_complain("%s", err.text);
	open_tell_clocks(t);
	return 0;
}

/* Those that are named, and those of folders; @summaries: they may be summaries. */
static int open_all(struct ct_trace *t, const char *const *dirs, unsigned int count, bool summaries)
{
	struct open_list l = { 0 };
	const char *summary = NULL;
	char name[4200];
	int status = 0;

	*t = (struct ct_trace){ 0 };
	for (unsigned int i = 0; i < count && !status; i++)
		status = open_list_folder(&l, dirs[i]) ? ct_complain("no memory") : 0;
	snprintf(name, sizeof(name), count > 1 ? "%.4096s and %u more" : "%.4096s", dirs[0], count - 1);
	for (unsigned int i = 0; i < l.count && !summary; i++)
		summary = ct_summary_is(l.dirs[i]) ? l.dirs[i] : NULL;
	if (!status && open_list_twice(&l))
		status = ct_complain_usage("%s: the same trace is named twice", open_list_twice(&l));
	if (!status && summary && !summaries)
		status = ct_complain_usage("%s: a summary, which report ranks, collectives_sum and collectives, explain, diff and "
					   "export --format html take; this needs the trace", summary);
	if (!status)
		status = summary ? open_summaries(t, &l, name) : l.count == 1 ? open_trace(t, l.dirs[0]) : open_several(t, &l, name);
	for (unsigned int i = 0; i < l.count; i++)
		free(l.dirs[i]);
	free(l.dirs);
	return status;
}

int ct_open_traces(struct ct_trace *t, const char *const *dirs, unsigned int count)
{
	return open_all(t, dirs, count, false);
}

int ct_open_job(struct ct_trace *t, const char *const *dirs, unsigned int count)
{
	return open_all(t, dirs, count, true);
}
