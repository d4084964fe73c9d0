// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Opening a trace directory.  Must never write into it, and never wait for the
 * processes that may still be writing there.
 */
#include "trace/reader.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/keyed.h"
#include "base/sum.h"
#include "trace/directory.h"
#include "trace/pages.h"

static int trace_keep(const struct dirent *entry)
{
	return entry->d_name[0] != '.' || ct_is_inflight_page(entry->d_name) ||
	       ct_is_lost_page(entry->d_name);
}

/*
 * Has this in-flight call a record?  Then it is not in flight: its thread died between
 * writing the record and removing the entry, or the trace was finished and the page was
 * not removed.
 */
static bool trace_has_record(const struct ct_trace *t, int stream,
			     const struct ct_inflight_call *call)
{
	const struct ct_stream_file *s;
	struct ct_packet_view p;
	struct ct_record r;
	const char *why;
	uint32_t first;

	if (stream < 0)
		return false;
	s = &t->streams[stream];
	first = s->packets_count > 2 ? s->packets_count - 2 : 0;
	for (uint32_t i = first; i < s->packets_count; i++) {
		uint32_t offset = CT_PACKET_HEAD, size;

		ct_stream_packet(s, i, &p);
		for (; offset < p.content; offset += size) {
			size = ct_record_parse(&p, offset, &t->reg, &r, &why);
			if (!size)
				break;
			if (r.class->id == CT_CLASS_call_open) {
				if (ct_record_known(&r, CT_KNOWN_OP) == call->op)
					return true;
			} else if (r.op == call->op && r.class->id == call->class &&
				   !(r.flags & CT_F_BEGIN)) {
				return true;
			}
		}
	}
	return false;
}

static int trace_add_pending(struct ct_trace *t, const char *name)
{
	char stream_name[280];
	struct ct_inflight_page page;
	struct ct_inflight *more;
	int count, stream = -1;

	count = ct_inflight_page_read(t->dir, name, &page);
	t->unfinished = true;
	if (count <= 0)
		return 0;
	if (!ct_stream_of_page(stream_name, sizeof(stream_name), name))
		for (unsigned int i = 0; i < t->streams_count; i++)
			if (!strcmp(t->streams[i].name, stream_name))
				stream = i;
	more = realloc(t->inflight, (t->inflight_count + count) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	t->inflight = more;
	for (int i = 0; i < count; i++) {
		const struct ct_inflight_call *call = &page.entry[i];

		if (!call->begin || call->class > CT_CLASS_MAX ||
		    !ct_registry_class(&t->reg, call->class) || trace_has_record(t, stream, call))
			continue;
		t->inflight[t->inflight_count++] = (struct ct_inflight){
			.begin = call->begin, .op = call->op, .pid = page.pid, .tid = page.tid,
			.class = call->class, .level = i, .stream = stream,
		};
	}
	return 0;
}

/*
 * Losses: a packet's head counts those of its stream; the recorder's stream_stat
 * records say the same of a CPU by reason, also of what came after the last packet.  The
 * pages of lost records count what has no packet; a finished trace says it in a stream.
 */
static int trace_count_losses(struct ct_trace *t)
{
	struct lost { uint64_t key, lost, overwritten; } *one;
	CT_KEYED(struct lost) by_reason = { 0 };
	CT_KEYED(struct lost) by_cpu = { 0 };
	uint64_t overwritten = 0;
	int rc = 0;

	for (unsigned int i = 0; i < t->streams_count && !rc; i++) {
		struct ct_cursor c;
		struct ct_record r;

		if (t->streams[i].kind != CT_STREAM_STATE)
			continue;
		ct_cursor_init(&c, t, i);
		while (ct_cursor_next(&c, &r)) {
			if (r.class->id != CT_CLASS_stream_stat)
				continue;
			one = ct_keyed_put(&by_reason, ct_record_known(&r, CT_KNOWN_CPU) << 32 |
					   ct_record_known(&r, CT_KNOWN_REASON));
			if (!one) {
				rc = -ENOMEM;
				break;
			}
			one->lost = ct_record_known(&r, CT_KNOWN_LOST);
			one->overwritten = ct_record_known(&r, CT_KNOWN_OVERWRITTEN);
		}
	}
	for (size_t i = 0; i < by_reason.count && !rc; i++) {
		one = ct_keyed_put(&by_cpu, by_reason.list[i].key >> 32);
		if (!one) {
			rc = -ENOMEM;
			break;
		}
		one->lost = ct_sum(one->lost, by_reason.list[i].lost);
		if (by_reason.list[i].overwritten > one->overwritten)
			one->overwritten = by_reason.list[i].overwritten;
	}
	for (unsigned int i = 0; i < t->streams_count && !rc; i++) {
		const struct ct_stream_file *s = &t->streams[i];

		t->packets_lost = ct_sum(t->packets_lost, s->packets_lost);
		t->packets_bad += s->packets_bad;
		if (!strcmp(s->name, CT_LOST_STREAM))
			t->lost_reported = s->lost;
		one = s->kind == CT_STREAM_CPU ? ct_keyed_get(&by_cpu, s->cpu) : NULL;
		if (one && one->lost < s->lost)
			one->lost = s->lost;
		else if (!one)
			t->lost = ct_sum(t->lost, s->lost);
	}
	for (size_t i = 0; i < by_cpu.count; i++) {
		t->lost = ct_sum(t->lost, by_cpu.list[i].lost);
		overwritten = ct_sum(overwritten, by_cpu.list[i].overwritten);
	}
	if (t->lost_here > t->lost_reported) {
		t->lost = ct_sum(t->lost, t->lost_here - t->lost_reported);
		t->unfinished = true;
	}
	if (overwritten > t->packets_lost)
		t->packets_lost = overwritten;
	t->packets_lost = ct_sum(t->packets_lost, t->packets_bad);
	ct_keyed_free(&by_reason);
	ct_keyed_free(&by_cpu);
	return rc;
}

/* How long "DIR/NAME: " is where @text begins with it. */
static size_t trace_file_len(const char *dir, const char *name, const char *text)
{
	size_t n = strlen(dir), m = strlen(name);

	return strncmp(text, dir, n) || text[n] != '/' || strncmp(text + n + 1, name, m) ||
	       strncmp(text + n + 1 + m, ": ", 2) ? 0 : n + m + 3;
}

static int trace_add_unread(struct ct_trace *t, const char *name, bool lost, const char *why)
{
	struct ct_unread *more = realloc(t->unread, (t->unread_count + 1ul) * sizeof(*more));

	if (!more)
		return -ENOMEM;
	t->unread = more;
	more += t->unread_count++;
	more->lost = lost;
	snprintf(more->name, sizeof(more->name), "%s", name);
	snprintf(more->why, sizeof(more->why), "%.170s", why);
	return 0;
}

#define MISSING_MAX	64u	/* streams that one process is said to lack */

/*
 * Streams of threads whose records are lost.  Without the module those of a process are numbered
 * one by one from 0, so that one that is not there shows.  With it a thread that recorded nothing
 * has no file.  (Who writes a trace by hand may begin elsewhere.)
 */
static int trace_find_lost(struct ct_trace *t)
{
	const char *way = ct_registry_info(&t->reg, "way");
	bool recorded = ct_registry_info(&t->reg, "tracer"), module = way && strcmp(way, "files");
	unsigned int number, pid, next = 0, last = 0;
	char name[64], kind, before = 0;
	int rc = 0;

	/* In the order of their kinds, pids and numbers. */
	for (unsigned int i = 0; i < t->streams_count && !rc; i++) {
		const struct ct_stream_file *s = &t->streams[i];

		if (sscanf(s->name, "%c-%u-%u", &kind, &pid, &number) != 3 || !pid)
			continue;
		if (kind != before || pid != last)
			next = recorded ? 0 : number;
		before = kind;
		last = pid;
		if (module)
			next = number;
		if (next + MISSING_MAX < number)
			next = number - MISSING_MAX;
		for (; next < number && !rc; next++) {
			snprintf(name, sizeof(name), "%c-%u-%u", kind, pid, next);
			rc = trace_add_unread(t, name, true, "is missing");
		}
		next = number + 1;
		if (!rc && !s->map_size)
			rc = trace_add_unread(t, s->name, true, "is empty");
	}
	return rc;
}

static int trace_open_entries(struct ct_trace *t, struct dirent **entry, int count,
			      struct ct_error *err)
{
	struct ct_error why;
	int rc;

	t->streams = calloc(count + 1, sizeof(*t->streams));
	if (!t->streams)
		return ct_fail(err, ENOMEM, "no memory");
	for (int i = 0; i < count; i++)
		t->has_metadata |= !strcmp(entry[i]->d_name, CT_METADATA_FILE);
	for (int i = 0; i < count; i++) {
		struct ct_stream_file *s = &t->streams[t->streams_count];

		if (entry[i]->d_name[0] == '.' || !strcmp(entry[i]->d_name, CT_METADATA_FILE))
			continue;
		rc = ct_stream_open(s, t->dir, entry[i]->d_name, &t->reg, t->has_metadata, &why);
		if (rc) {
			ct_stream_close(s);
			if (rc == -ENOMEM || trace_add_unread(t, entry[i]->d_name, false, why.text +
							      trace_file_len(t->dir, entry[i]->d_name, why.text)))
				return ct_fail(err, ENOMEM, "no memory");
			continue;
		}
		s->index = t->streams_count++;
		t->records += s->records;
		t->unfinished |= s->unfinished;
		t->has_kernel |= s->kind == CT_STREAM_CPU;
		t->has_gpu |= s->gpu > 0;
		if (s->packets_count && s->packets[s->packets_count - 1].ts_end > t->end)
			t->end = s->packets[s->packets_count - 1].ts_end;
	}
	for (int i = 0; i < count; i++)
		if (ct_is_lost_page(entry[i]->d_name))
			t->lost_here = ct_sum(t->lost_here, ct_lost_read(t->dir, entry[i]->d_name));
		else if (entry[i]->d_name[0] == '.' && trace_add_pending(t, entry[i]->d_name))
			return ct_fail(err, ENOMEM, "no memory");
	return 0;
}

/*
 * A trace of which the oldest records were dropped begins with the oldest that it has.  What the
 * recorder wrote itself, and states of the GPU, stay and are older.
 */
static void trace_begin_later(struct ct_trace *t)
{
	uint64_t begin = ~0ull;

	for (unsigned int i = 0; i < t->streams_count; i++) {
		const struct ct_stream_file *s = &t->streams[i];
		bool state = s->kind == CT_STREAM_STATE || ct_stream_is_gpu_states(s->name);

		if (!state && s->records && s->packets[0].ts_begin < begin)
			begin = s->packets[0].ts_begin;
	}
	if (begin == ~0ull || begin <= t->reg.start)
		return;
	t->reg.realtime += begin - t->reg.start;
	t->reg.start = begin;
}

int ct_trace_open(struct ct_trace *t, const char *dir, struct ct_error *err)
{
	struct dirent **entry = NULL;
	const char *gpu;
	int rc, count;

	memset(t, 0, sizeof(*t));
	rc = ct_registry_read(&t->reg, dir, err);
	if (rc)
		return rc;
	t->dir = strdup(dir);
	if (!t->dir)
		return ct_fail(err, ENOMEM, "no memory");
	t->end = t->reg.start;
	count = scandir(dir, &entry, trace_keep, versionsort);
	if (count < 0)
		return ct_fail(err, errno, "%s: %s", dir, strerror(errno));
	rc = trace_open_entries(t, entry, count, err);
	for (int i = 0; i < count; i++)
		free(entry[i]);
	free(entry);
	if (!rc && ct_registry_info(&t->reg, CT_KEEP_INFO))
		trace_begin_later(t);
	if (!rc && trace_count_losses(t))
		rc = ct_fail(err, ENOMEM, "no memory");
	t->unfinished |= !t->has_metadata;
	if (!rc && !t->unfinished && !ct_registry_info(&t->reg, CT_KEEP_INFO) && trace_find_lost(t))
		rc = ct_fail(err, ENOMEM, "no memory");
	gpu = ct_registry_info(&t->reg, "gpu");
	t->simulated = gpu && !strcmp(gpu, "simulated");
	return rc;
}

void ct_trace_close(struct ct_trace *t)
{
	if (t->summaries)
		t->summaries_free(t);
	for (unsigned int i = 0; i < t->streams_count; i++)
		ct_stream_close(&t->streams[i]);
	for (unsigned int i = 0; i < t->sources_count; i++) {
		free(t->sources[i].dir);
		free(t->sources[i].label);
		free(t->sources[i].classes);
	}
	free(t->sources);
	free(t->streams);
	free(t->inflight);
	free(t->unread);
	free(t->dir);
	ct_registry_free(&t->reg);
	memset(t, 0, sizeof(*t));
}

int ct_trace_share(struct ct_trace *view, const struct ct_trace *t)
{
	*view = *t;
	view->progress = NULL; /* one pass alone says how far it is */
	view->streams = calloc(t->streams_count + 1, sizeof(*view->streams));
	view->streams_count = 0;
	for (unsigned int i = 0; view->streams && i < t->streams_count; i++) {
		struct ct_stream_file *s = &view->streams[i];
		size_t size = t->streams[i].early_count * sizeof(*s->early);

		*s = t->streams[i];
		s->early = malloc(size + 1);
		if (!s->early)
			return -ENOMEM;
		if (size)
			memcpy(s->early, t->streams[i].early, size);
		view->streams_count++;
	}
	return view->streams ? 0 : -ENOMEM;
}

void ct_trace_unshare(struct ct_trace *view)
{
	for (unsigned int i = 0; i < view->streams_count; i++)
		free(view->streams[i].early);
	free(view->streams);
	memset(view, 0, sizeof(*view));
}

void ct_cursor_init(struct ct_cursor *c, const struct ct_trace *t, unsigned int stream)
{
	*c = (struct ct_cursor){ .trace = t, .stream = &t->streams[stream] };
}

int ct_cursor_next(struct ct_cursor *c, struct ct_record *r)
{
	const char *why;
	uint32_t size;

	while (!c->packet || c->offset >= c->view.content) {
		if (c->packet == c->stream->packets_count) {
			ct_stream_give_back(c->stream, &c->given, c->stream->tail, 0);
			return 0;
		}
		ct_stream_give_back(c->stream, &c->given, c->stream->packets[c->packet].offset,
				    CT_WINDOW / 16);
		ct_stream_packet(c->stream, c->packet++, &c->view);
		c->offset = CT_PACKET_HEAD;
	}
	size = ct_record_parse(&c->view, c->offset, &c->trace->reg, r, &why);
	if (!size) {
		/* It was whole when it was indexed: the file changed under us. */
		c->offset = c->view.content;
		return ct_cursor_next(c, r);
	}
	c->offset += size;
	return 1;
}
