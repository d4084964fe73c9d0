// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * See open_trace.h.  Must never fail because a trace can't be finished: it is then read
 * as it stands.
 */
#include "cmd/open_trace.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/finish.h"
#include "pack/files.h"
#include "pack/pack.h"

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

int ct_open_trace(struct ct_trace *t, const char *dir)
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
