// SPDX-License-Identifier: LGPL-2.1-or-later
/* The producer's side of both backends; see producer.h. */
#include "backend/producer.h"

#include "base/process.h"
#include "tracedir/lost.h"

#define PAGE	4096

/*
 * Streams that no thread has.  The process's lock guards the list.  Each lies in its private
 * page, behind the in-flight calls that are not there while there is memory.
 */
static struct ct_producer *unused;
#define UNUSED_AT	2048u
_Static_assert(sizeof(struct ct_inflight_page) <= UNUSED_AT, "they share a page");

/* Packets of the memory that are not drained. */
static u64 producer_waiting(struct ct_producer *s)
{
	u64 begun = s->seq - s->m.first, theirs = ct_load(s->m.drained);

	/* Theirs is a number in memory that others write. */
	if (theirs > s->drained && theirs <= begun)
		s->drained = theirs;
	return begun - s->drained;
}

/* From its page of in-flight calls to another, which may be the same one. */
static void producer_move_inflight(struct ct_producer *s, struct ct_inflight_page *to)
{
	struct ct_inflight_page *from = s->inflight;
	u32 depth = from->depth, n = depth < CT_INFLIGHT_MAX ? depth : CT_INFLIGHT_MAX;

	for (u32 i = 0; i < n; i++)
		to->entry[i] = from->entry[i];
	barrier();
	*(volatile u32 *)&from->depth = 0;
	*(volatile u32 *)&to->depth = depth;
	s->inflight = to;
}

/*
 * The thread may be in a signal handler, and the call that it interrupted hold the old page
 * of in-flight calls: so memory stays there that takes what it still writes.
 */
static void producer_retire(const struct ct_producer_memory *m)
{
	u64 keep = (u64)((u8 *)m->inflight + PAGE - m->map);

	ct_map_over(m->map, m->length, MAP_FIXED);
	ct_unmap(m->map + keep, m->length - keep);
}

bool ct_producer_map(struct ct_producer *s, u32 step)
{
	struct ct_producer_memory m = { .map = NULL }, old = s->m;

	if (!s->backend->map(s, &s->backend->sizes[step], &m))
		return false;
	producer_move_inflight(s, m.inflight);
	s->m = m;
	s->step = step;
	s->packet = NULL;
	s->drained = s->seq - m.first;
	s->grows = s->begins = false;
	if (old.map)
		producer_retire(&old);
	return true;
}

void ct_producer_unmap(struct ct_producer *s)
{
	struct ct_producer_memory old = s->m;

	if (!old.map)
		return;
	producer_move_inflight(s, s->own);
	s->m.map = NULL;
	s->packet = NULL;
	producer_retire(&old);
}

static void producer_publish(struct ct_producer *s)
{
	struct ct_packet *p = s->packet;

	s->packet = NULL;
	if (p && s->backend->publish)
		s->backend->publish(s, s->seq - 1 - s->m.first, p->content_size / 8);
}

/* Until no more than so many packets wait. */
static bool producer_drain(struct ct_producer *s, u64 rest)
{
	while (producer_waiting(s) > rest) {
		if (!s->backend->drain || !s->backend->drain(s, s->drained))
			return false;
		s->drained++;
	}
	return true;
}

/*
 * Goes on in a stream of another number, in memory of its own.  First all packets are drained: who
 * finds the new stream finds the old one whole.  If there is no room for both, it stays as it is.
 */
static void producer_go_on(struct ct_producer *s)
{
	const struct ct_producer_ops *b = s->backend;
	struct ct_producer_memory m = { .map = NULL };
	struct ct_producer other = *s, old = *s;

	if (!producer_drain(s, 0))
		return;
	other.m.map = NULL;
	other.seq = other.lost = other.drained = other.file_size = 0;
	if (!b->map(&other, &b->sizes[s->step], &m)) {
		if (other.number != s->number)
			b->end(&other, true);
		return;
	}
	producer_move_inflight(&other, m.inflight);
	other.m = m;
	/* Ops are counted on: those in flight are of the stream before. */
	other.first_op = 0;
	*s = other;
	b->end(&old, false);
	producer_retire(&old.m);
}

bool ct_producer_next(struct ct_producer *s, struct ct_producer_room *room)
{
	const struct ct_producer_ops *b = s->backend;
	struct ct_producer_memory *m = &s->m;
	u64 waiting;

	room->late = false;
	producer_publish(s);
	room->closed = b->dated && !ct_producer_valid(s);
	if (room->closed || (!ct_producer_valid(s) && !ct_producer_map(s, 0)))
		return false;
	if (unlikely(b->is_long && b->is_long(s)))
		producer_go_on(s);
	waiting = producer_waiting(s);
	if (waiting >= m->size.count / 2 && b->sizes[s->step + 1].bytes) {
		/*
		 * A record that ended before the memory was there is dated later, away from the
		 * ioctls in its call: so a larger one comes with the next call.
		 */
		s->grows = s->begins = b->dated;
		if (waiting >= m->size.count && ct_producer_map(s, s->step + 1))
			room->late = b->dated;
	}
	if (!producer_drain(s, m->size.count - 1))
		return false;
	s->lost += ct_lost_take();
	if (m->lost)
		*m->lost = s->lost;
	room->at = m->subbufs + (s->seq - m->first) % m->size.count * m->size.bytes;
	room->size = m->size.bytes;
	return true;
}

void ct_producer_begun(struct ct_producer *s, struct ct_packet *p)
{
	s->packet = p;
	s->seq++;
	if (s->m.begun)
		ct_store(s->m.begun, s->seq - s->m.first);
}

bool ct_producer_flush(struct ct_producer *s)
{
	producer_publish(s);
	return !s->m.map || producer_drain(s, 0);
}

static bool producer_new(struct ct_producer *s)
{
	struct ct_inflight_page *own = s->own;

	if (!own)
		own = ct_map_private(PAGE);
	if (!own)
		return false;
	own->magic = CT_MAGIC;
	own->abi = CT_ABI_VERSION;
	own->pid = ct_process->pid;
	own->tid = s->tid;
	own->depth = 0;
	*s = (struct ct_producer){ .tid = s->tid, .own = own, .inflight = own,
				 .number = CT_NO_STREAM, .left = s->left };
	return true;
}

/* Its packets go on behind those of the thread that had it, each with its own tid. */
static bool producer_take_unused(struct ct_producer *s)
{
	__typeof__(s->left) left = s->left;
	u32 tid = s->tid;

	if (!unused)
		return false;
	*s = *unused;
	ct_store(&unused, s->next);
	s->left = left;
	s->tid = tid;
	s->first_op = s->op;
	s->inflight->tid = tid;
	s->backend->adopt(s);
	return true;
}

bool ct_producer_attach(struct ct_producer *s, const struct ct_producer_ops *backend)
{
	if (producer_take_unused(s))
		return true;
	if (!producer_new(s))
		return false;
	s->backend = backend;
	s->begins = backend->dated;
	/* There may be no space now, and some later. */
	if (!backend->dated)
		ct_producer_map(s, 0);
	return true;
}

static void producer_unmap_left(struct ct_producer *s)
{
	if (s->left.map)
		ct_unmap(s->left.map, s->left.length);
	s->left.map = NULL;
}

void ct_producer_detach(struct ct_producer *s)
{
	ct_producer_flush(s);
	producer_unmap_left(s);
	/* What is in flight will never end: so it stays there. */
	if (s->m.map && s->backend->adopt && !s->inflight->depth) {
		struct ct_producer *kept = (struct ct_producer *)((u8 *)s->own + UNUSED_AT);

		*kept = *s;
		kept->next = unused;
		ct_store(&unused, kept);
	} else {
		if (s->m.map)
			ct_unmap(s->m.map, s->m.length);
		ct_unmap(s->own, PAGE);
	}
	s->m.map = NULL;
	s->inflight = s->own = NULL;
}

void ct_producer_forget(struct ct_producer *s)
{
	if (s->m.map)
		ct_map_over(s->m.map, s->m.length,
			    s->backend->inherited ? MAP_FIXED : MAP_FIXED_NOREPLACE);
	s->m.map = NULL;
	s->packet = NULL;
	s->inflight = s->own;
	s->session = 0;
}

void ct_producer_leave(struct ct_producer *s, bool own)
{
	if (s->m.map && (own || s->backend->inherited))
		ct_map_over(s->m.map, s->m.length, MAP_FIXED);
}

void ct_producer_drop(struct ct_producer *s)
{
	producer_unmap_left(s);
	if (s->m.map)
		ct_unmap(s->m.map, s->m.length);
	if (s->own)
		ct_unmap(s->own, PAGE);
	s->m.map = NULL;
	s->own = NULL;
}

void ct_producer_return(struct ct_producer *s)
{
	producer_unmap_left(s);
	s->left.map = s->m.map;
	s->left.length = s->m.length;
	ct_producer_forget(s);
}

void ct_producers_forget(void)
{
	struct ct_producer *s, *next;

	/* Another thread may have been changing the list: it is whole at every moment. */
	for (s = unused; s; s = next) {
		next = s->next;
		ct_unmap(s->m.map, s->m.length);
		ct_unmap(s->own, PAGE);
	}
	unused = NULL;
}
