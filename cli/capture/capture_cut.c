// SPDX-License-Identifier: LGPL-2.1-or-later
/* See capture_cut.h.  Nobody records into the trace any more. */
#include "capture/capture_cut.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/grow.h"
#include "base/keyed.h"
#include "trace/directory.h"
#include "trace/gpu/gpu_causes.h"
#include "trace/merge.h"
#include "trace/packet.h"
#include "trace/reader.h"

/* ------------------------------------------------------ threads ------------- */

static void cut_thread(int dirfd, const char *name, uint64_t until)
{
	int fd = openat(dirfd, name, O_RDWR | CT_O_FOREIGN);
	struct ct_packet head;
	off_t at = 0;

	if (fd < 0)
		return;
	while (pread(fd, &head, sizeof(head), at) == (ssize_t)sizeof(head) && head.magic == CT_MAGIC &&
	       ct_packet_size_valid(&head) && head.ts_begin <= until)
		at += (off_t)(head.packet_size / 8);
	/* An empty stream would be taken for a loss. */
	if (!at)
		unlinkat(dirfd, name, 0);
	else if (ftruncate(fd, at))
		ct_complain("%s: %s", name, strerror(errno));
	close(fd);
}

static void cut_threads(const char *dir, uint64_t until)
{
	DIR *d = opendir(dir);
	struct dirent *entry;

	while (d && (entry = readdir(d)))
		if (ct_stream_kind(entry->d_name) == CT_STREAM_THREAD)
			cut_thread(dirfd(d), entry->d_name, until);
	if (d)
		closedir(d);
}

/* ------------------------------------------------------ the GPU ------------- */

struct cut_process {
	uint64_t pid;
	uint64_t first, last;	/* ns: the begin of its first call, the end of its last one */
};

/* What the GPU did, and what becomes of it. */
struct cut_work {
	uint64_t pid, op;	/* the op is the process's */
	uint64_t begin, end;
	bool     caused;
};

struct cut {
	CT_KEYED(struct cut_process) processes;
	struct cut_work *works;
	size_t count, capacity;
};

static int cut_add_work(struct cut *c, const struct ct_point *p)
{
	if (!ct_room(c->works, c->count, c->capacity))
		return -ENOMEM;
	c->works[c->count++] = (struct cut_work){
		.pid = p->record.pid, .op = p->record.op, .begin = ct_record_begin(&p->record), .end = p->record.end,
		.caused = p->cause != NULL,
	};
	return 0;
}

static int cut_add_call(struct cut *c, const struct ct_point *p)
{
	struct cut_process *of = ct_keyed_get(&c->processes, p->record.pid);

	if (!of) {
		of = ct_keyed_put(&c->processes, p->record.pid);
		if (!of)
			return -ENOMEM;
		of->first = p->ts;
	}
	of->last = p->ts;
	return 0;
}

static int cut_compare(const void *a, const void *b)
{
	const struct cut_work *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->op < y->op ? -1 : x->op > y->op;
}

static int cut_read(struct cut *c, const struct ct_trace *t)
{
	struct ct_merge *m = ct_merge_new(t);
	struct ct_point p;
	int rc = m ? 1 : -ENOMEM;

	while (rc > 0 && (rc = ct_merge_next(m, &p)) > 0) {
		const struct ct_class *class = p.record.class;
		int failed = 0;

		if (class->layer == CT_LAYER_GPU && class->call && p.phase == 'E')
			failed = cut_add_work(c, &p);
		else if (class->layer == CT_LAYER_USER && class->call)
			failed = cut_add_call(c, &p);
		rc = failed ? failed : rc;
	}
	ct_merge_free(m);
	if (c->count)
		qsort(c->works, c->count, sizeof(*c->works), cut_compare);
	return rc;
}

static bool cut_stays(const struct cut *c, const struct ct_record *r)
{
	struct cut_work key = { .pid = r->pid, .op = r->op };
	const struct cut_work *w = c->count ? bsearch(&key, c->works, c->count, sizeof(*w), cut_compare) : NULL;
	const struct cut_process *of;

	/* States and clocks are no work. */
	if (!w || w->caused)
		return true;
	of = ct_keyed_get(&c->processes, r->pid);
	return of && w->begin >= of->first && w->begin <= of->last;
}

/* The records of a packet that stay, in @to, which has room for all of it.  Return: its bytes; 0: none stays. */
static uint32_t cut_packet(const struct cut *c, const struct ct_trace *t, const struct ct_packet_view *p, uint8_t *to)
{
	uint32_t used = CT_PACKET_HEAD, size;
	struct ct_packet head;
	struct ct_record r;
	const char *why;

	memcpy(&head, p->data, sizeof(head));
	for (uint32_t at = CT_PACKET_HEAD; at < p->content; at += size) {
		size = ct_record_parse(p, at, &t->reg, &r, &why);
		if (!size)
			break;
		if (!cut_stays(c, &r))
			continue;
		memcpy(to + used, p->data + at, size);
		if (used == CT_PACKET_HEAD)
			head.ts_begin = r.end;
		head.ts_end = r.end;
		used += size;
	}
	head.packet_size = head.content_size = 8ull * used;
	memcpy(to, &head, sizeof(head));
	return used > CT_PACKET_HEAD ? used : 0;
}

/* Packets are numbered anew: none is missing. */
static int cut_stream(const struct cut *c, const struct ct_trace *t, const struct ct_stream_file *s)
{
	uint8_t *all = malloc(s->tail), *to = all;
	uint64_t seq = 0;
	char path[4096];
	int fd, rc = 0;

	if (!all)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->packets_count; i++) {
		struct ct_packet_view p;
		uint32_t size;

		ct_stream_packet(s, i, &p);
		size = cut_packet(c, t, &p, to);
		if (!size)
			continue;
		((struct ct_packet *)to)->seq = seq++;
		to += size;
	}
	fd = ct_stream_reopen(s, t->dir, O_RDWR);
	rc = fd < 0 ? fd : ct_pwrite_all(fd, all, (size_t)(to - all), 0);
	if (!rc && ftruncate(fd, to - all))
		rc = -errno;
	if (fd >= 0)
		close(fd);
	/* An empty stream would be taken for a loss. */
	if (!rc && to == all && (ct_path(path, sizeof(path), t->dir, s->name) || unlink(path)))
		rc = -EIO;
	free(all);
	return rc;
}

static int cut_gpu(const char *dir, struct ct_error *err)
{
	struct cut c = { .works = NULL };
	struct ct_trace t = { 0 };
	int rc = ct_trace_open(&t, dir, err);

	if (!rc && t.has_gpu) {
		rc = cut_read(&c, &t);
		for (unsigned int i = 0; !rc && i < t.streams_count; i++)
			if (t.streams[i].kind == CT_STREAM_GPU)
				rc = cut_stream(&c, &t, &t.streams[i]);
		if (rc)
			ct_fail(err, -rc, "%s: %s", dir, strerror(-rc));
	}
	ct_trace_close(&t);
	ct_keyed_free(&c.processes);
	free(c.works);
	return rc;
}

int ct_cut(const char *dir, uint64_t until, struct ct_error *err)
{
	if (until)
		cut_threads(dir, until);
	return cut_gpu(dir, err);
}
