// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Opening a stream: the index of its packets.  The file may be damaged, foreign, hostile,
 * or still being written by a thread that never waits for a reader: must never believe a
 * size before it is checked.
 */
#include "trace/stream.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "trace/directory.h"
#include "trace/stream_tail.h"

/*
 * Records that began before their packet, of a stream.  There are a few a packet, but anyone
 * may have written the trace: further ones count as begun with their packet.
 */
#define EARLY_MAX	(1u << 18)

/* Grows an array, by doubling, for one more element. */
static int stream_grow(void *array, uint32_t count, size_t size)
{
	void **p = array, *more;

	if (count & (count - 1) || (count && count < 16))
		return 0;
	more = realloc(*p, (count ? 2 * (size_t)count : 16) * size);
	if (!more)
		return -ENOMEM;
	*p = more;
	return 0;
}

static int stream_add_early(struct ct_stream_file *s, uint32_t packet, uint32_t offset,
			    const struct ct_record *r)
{
	struct ct_early_record *early;

	if (stream_grow(&s->early, s->early_count, sizeof(*s->early)))
		return -ENOMEM;
	early = &s->early[s->early_count++];
	memset(early, 0, sizeof(*early));
	early->packet = packet;
	early->offset = offset;
	if (r->class->id == CT_CLASS_call_open) {
		early->open = true;
		early->begin = ct_record_known(r, CT_KNOWN_BEGIN);
		early->end = ~0ull;
		early->level = ct_record_known(r, CT_KNOWN_LEVEL);
		/* A begin in the future is a lie, but it must not stop the merge. */
		if (early->begin > r->end)
			early->begin = r->end;
	} else {
		early->begin = ct_record_begin(r);
		early->end = r->end;
		early->level = r->depth;
	}
	return 0;
}

static void stream_note_time(struct ct_stream_file *s, const struct ct_record *r)
{
	uint64_t begin = r->flags & (CT_F_INSTANT | CT_F_BEGIN) ? r->end : ct_record_begin(r);

	if (!s->records || begin < s->first)
		s->first = begin;
	s->last = r->end;
}

/* Checks the records of packet @i and finds those that began before it. */
static int stream_index_records(struct ct_stream_file *s, uint32_t i, const struct ct_registry *reg,
				struct ct_error *err)
{
	uint32_t offset = CT_PACKET_HEAD, size;
	struct ct_packet_view p;
	struct ct_record r;
	const char *why;
	uint64_t last;

	ct_stream_packet(s, i, &p);
	last = p.ts_begin;
	s->packets[i].first_early = s->early_count;
	while (offset < p.content) {
		size = ct_record_parse(&p, offset, reg, &r, &why);
		if (size && r.end < last) {
			why = "a record that is older than the one before it";
			size = 0;
		}
		if (!size) {
			uint64_t stamp;

			memcpy(&stamp, p.data + offset, p.content - offset < 8 ?
			       p.content - offset : 8);
			return ct_fail(err, EBADMSG, "%s (class %u) at byte %u", why,
				       p.content - offset < 8 ? 0 : CT_RECORD_CLASS(stamp), offset);
		}
		last = r.end;
		stream_note_time(s, &r);
		if (s->early_count < EARLY_MAX &&
		    (r.class->id == CT_CLASS_call_open ||
		     (!(r.flags & (CT_F_INSTANT | CT_F_BEGIN | CT_F_HAS_BEGIN)) &&
		      ct_record_begin(&r) < p.ts_begin)))
			if (stream_add_early(s, i, offset, &r))
				return ct_fail(err, ENOMEM, "no memory");
		s->records++;
		s->gpu += r.class->layer == CT_LAYER_GPU && r.class->call;
		offset += size;
	}
	return 0;
}

/* How the head of each packet of the trace begins. */
struct stream_magic {
	uint32_t magic;
	uint8_t uuid[16];
};

/* Where something that may be another packet's head follows that at @at, or the file's end. */
static uint64_t stream_find_head(const struct ct_stream_file *s, uint64_t at,
				 const struct ct_registry *reg)
{
	struct stream_magic begin = { .magic = CT_MAGIC };
	const uint8_t *found = NULL;

	memcpy(begin.uuid, reg->uuid, sizeof(begin.uuid));
	if (s->map_size - at > 4)
		found = memmem(s->map + at + 4, s->map_size - at - 4, &begin, sizeof(begin));
	return found ? (uint64_t)(found - s->map) : s->map_size;
}

/* Is the head at @at one of this trace and this kind of stream, whatever else it says? */
static bool stream_is_head(const struct ct_stream_file *s, uint64_t at,
			   const struct ct_registry *reg)
{
	struct ct_packet head = { 0 };
	uint64_t left = s->map_size - at;

	memcpy(&head, s->map + at, left < sizeof(head) ? left : sizeof(head));
	return ct_packet_is_of(&head, s->kind, reg->uuid);
}

/*
 * Where the packet after a bad one begins.  A head whose size is possible is believed: else what its
 * records hold could be taken for a packet.
 */
static uint64_t stream_after_bad(const struct ct_stream_file *s, uint64_t at,
				 const struct ct_registry *reg)
{
	struct ct_packet head;

	if (s->map_size - at >= sizeof(head) && stream_is_head(s, at, reg)) {
		memcpy(&head, s->map + at, sizeof(head));
		if (ct_packet_size_valid(&head) && head.packet_size / 8 <= s->map_size - at)
			return at + head.packet_size / 8;
	}
	return stream_find_head(s, at, reg);
}

/* The packet at @at is not read.  Its number is not another gap. */
static void stream_leave_out(struct ct_stream_file *s, uint64_t at, const struct ct_error *why)
{
	if (!s->packets_bad++) {
		s->bad_offset = at;
		snprintf(s->bad_why, sizeof(s->bad_why), "%.111s", why->text);
	}
	s->next_seq++;
}

/*
 * Adds a packet with its records to the index.  -EBADMSG: it is damaged, and none of its records was
 * added; @err says why.
 */
static int stream_add_packet(struct ct_stream_file *s, uint64_t at, const struct ct_packet_view *p,
			     const struct ct_registry *reg, struct ct_error *err)
{
	const struct ct_stream_file before = *s;
	struct ct_packet_index *index;
	int rc;

	/* Also of a packet with a damaged record: what is lost is to be told. */
	if (p->lost > s->lost)
		s->lost = p->lost;
	if (s->packets_count && p->ts_begin < s->packets[s->packets_count - 1].ts_end)
		return ct_fail(err, EBADMSG, "a packet that begins before the last one ended");
	if (stream_grow(&s->packets, s->packets_count, sizeof(*s->packets)))
		return ct_fail(err, ENOMEM, "no memory");
	index = &s->packets[s->packets_count++];
	index->offset = at;
	index->ts_begin = p->ts_begin;
	index->ts_end = p->ts_end;
	index->size = p->size;
	index->content = p->content;
	rc = stream_index_records(s, s->packets_count - 1, reg, err);
	if (rc) {
		s->packets_count = before.packets_count;
		s->early_count = before.early_count;
		s->first = before.first;
		s->last = before.last;
		s->records = before.records;
		s->gpu = before.gpu;
		return rc;
	}
	if (s->packets_count == 1) {
		s->pid = p->pid;
		s->tid = p->tid;
		s->cpu = p->cpu;
	}
	if (p->tid != s->tid)
		s->tid = 0;
	if (p->seq > s->next_seq && !s->dropped)
		s->packets_lost += p->seq - s->next_seq;
	s->dropped = false;
	s->next_seq = p->seq + 1;
	return 0;
}

/* As it is now: a recorder may drop the packet meanwhile. */
static uint32_t stream_magic(const struct ct_stream_file *s, uint64_t at)
{
	return s->map_size - at < sizeof(uint32_t) ? 0 : *(const volatile uint32_t *)(s->map + at);
}

/* The packets from s->tail on. */
static int stream_index_packets(struct ct_stream_file *s, const struct ct_registry *reg,
				bool finished, struct ct_error *err)
{
	bool keeps = ct_registry_info(reg, CT_KEEP_INFO);
	uint64_t at = s->tail, first = 0, given;
	struct ct_packet_view p;
	struct ct_error inner;
	int rc;

	/* What was dropped of a trace that is being recorded. */
	if (!at && keeps)
		at = first = s->tail = s->hole + ct_zeros(s->map + s->hole, s->map_size - s->hole);
	s->dropped = keeps && !s->packets_count;
	given = at;
	while (at < s->map_size) {
		rc = ct_packet_check(s->map + at, s->map_size - at, s->map_size - at, s->kind,
				     reg->uuid, &p, &inner);
		if (rc == -ENODATA && !finished && s->kind != CT_STREAM_STATE &&
		    stream_find_head(s, at, reg) == s->map_size) {
			s->torn = s->map_size - at;
			s->packets_lost++;
			s->unfinished = true;
			break;
		}
		if (rc < 0 && at == first && !stream_is_head(s, at, reg))
			return ct_fail(err, EBADMSG, "offset %llu: %s; " CT_AGAIN, (unsigned long long)at, inner.text);
		if (!rc) {
			/* Where this was dropped a moment ago, others follow. */
			uint64_t next = keeps ? stream_find_head(s, at, reg) : s->map_size;

			if (next < s->map_size) {
				at = next;
				s->dropped = true;
				continue;
			}
			s->unfinished = true;
			break;
		}
		if (rc > 0)
			rc = stream_add_packet(s, at, &p, reg, &inner);
		if (rc == -ENOMEM)
			return ct_fail(err, ENOMEM, "%s", inner.text);
		if (rc < 0 && keeps && !stream_magic(s, at))
			continue;	/* dropped while it was read */
		if (rc < 0) {
			stream_leave_out(s, at, &inner);
			at = stream_after_bad(s, at, reg);
		} else {
			at += p.size;
		}
		ct_stream_give_back(s, &given, at, CT_WINDOW / 16);
	}
	ct_stream_give_back(s, &given, at, 0);
	s->tail = at;
	return 0;
}

static int stream_compare_begin(const void *a, const void *b, void *arg)
{
	const struct ct_early_record *all = arg;
	const struct ct_early_record *x = &all[*(const uint32_t *)a];
	const struct ct_early_record *y = &all[*(const uint32_t *)b];

	/* At one ns the outer call first: it ends later, or says so itself. */
	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	if (x->end != y->end)
		return x->end > y->end ? -1 : 1;
	if (x->level != y->level)
		return x->level < y->level ? -1 : 1;
	return x > y ? -1 : x < y;
}

/* Return: 1: the thread went on meanwhile: the stream has more by now. */
static int stream_index_tail(struct ct_stream_file *s, const char *dir,
			     const struct ct_registry *reg, struct ct_error *err)
{
	bool unfinished = s->unfinished;
	int rc = ct_stream_tail_add(s, dir, reg->uuid);

	if (!rc || rc == -EAGAIN)
		return rc ? 1 : 0;
	if (rc < 0)
		return ct_fail(err, -rc, "no memory");
	rc = stream_index_packets(s, reg, true, err);
	s->unfinished = unfinished;
	return rc;
}

/* Indexes what was added since it was mapped, from the last whole packet on. */
static int stream_index_more(struct ct_stream_file *s, const char *dir,
			     const struct ct_registry *reg, bool finished, struct ct_error *err)
{
	int rc;

	ct_stream_unmap(s);
	rc = ct_stream_map(s, dir, err);
	if (rc)
		return rc;
	if (s->torn)
		s->packets_lost--;
	s->torn = 0;
	s->unfinished = false;
	return stream_index_packets(s, reg, finished, err);
}

#define TRIES 8 /* while its thread goes on; then it reads without the newest packets */

int ct_stream_open(struct ct_stream_file *s, const char *dir, const char *name,
		   const struct ct_registry *reg, bool finished, struct ct_error *err)
{
	struct ct_error inner = { 0 };
	int rc, kind = ct_stream_kind(name);

	memset(s, 0, sizeof(*s));
	s->name = strdup(name);
	if (!s->name)
		return ct_fail(err, ENOMEM, "no memory");
	if (kind < 0)
		return ct_fail(
			err, EBADMSG,
			"%s/%s: not a file of a cudatrace trace; move it out of the directory", dir,
			name);
	s->kind = kind;
	rc = ct_stream_map(s, dir, &inner);
	if (!rc)
		rc = stream_index_packets(s, reg, finished, &inner);
	for (int i = 0; !rc; i++) {
		rc = stream_index_tail(s, dir, reg, &inner);
		if (rc != 1)
			break;
		rc = i < TRIES ? stream_index_more(s, dir, reg, finished, &inner) : 0;
		if (i == TRIES)
			break;
	}
	if (rc)
		return ct_fail(err, -rc, "%s/%s: %s", dir, name, inner.text);

	if (s->early_count) {
		s->by_begin = malloc(s->early_count * sizeof(*s->by_begin));
		if (!s->by_begin)
			return ct_fail(err, ENOMEM, "no memory");
		for (uint32_t i = 0; i < s->early_count; i++)
			s->by_begin[i] = i;
		qsort_r(s->by_begin, s->early_count, sizeof(*s->by_begin),
			stream_compare_begin, s->early);
	}
	return 0;
}

void ct_stream_close(struct ct_stream_file *s)
{
	ct_stream_unmap(s);
	free(s->packets);
	free(s->early);
	free(s->by_begin);
	free(s->name);
	memset(s, 0, sizeof(*s));
}
