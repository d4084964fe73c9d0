// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Lanes; see lane.h.  A thread begins with a small one.  When the recorder does not
 * keep up with it, it gets the next size, up to one that holds a third of a second of
 * the busiest program.
 *
 * Must never touch a lane in a child, where it is not mapped.
 */
#include "backend/threadbuf.h"

#include "backend/device.h"
#include "base/options.h"
#include "record/packet.h"
#include "base/process.h"

static const struct size {
	u32 slot_size, slots;
} sizes[] = {
	{ 16u << 10, 4 }, { 64u << 10, 16 }, { 256u << 10, 32 },
};

#define SIZES	(sizeof(sizes) / sizeof(*sizes))

/* Where the module has no page: every record by ioctl. */
static const struct ct_clock_page no_page = { .recording = 1 };

const struct ct_clock_page *ct_threadbuf_page = &no_page;

void ct_threadbuf_open(void)
{
	struct ct_clock_map map = { .size = sizeof(map) };
	const struct ct_clock_page *p;

	if (ct_threadbuf_page != &no_page || ct_device_try(CT_IOC_CLOCK, &map) < 0)
		return;
	p = (const struct ct_clock_page *)map.address;
	ct_clock_use(p);
	if (ct_options.lanes)
		ct_store(&ct_threadbuf_page, p);
}

static struct ct_inflight_page *open_of(struct ct_threadbuf_head *lane)
{
	return (struct ct_inflight_page *)((u8 *)lane + 4096);
}

static struct ct_packet *slot(struct ct_threadbuf_head *h, u64 n)
{
	return (struct ct_packet *)((u8 *)h + CT_THREADBUF_DATA + (n & (h->subbufs - 1)) * h->subbuf_size);
}

#define E_BADF	9
#define E_NOTTY	25

/*
 * The module is asked for a lane; NULL if it gives none.  later: somebody has closed
 * the device, which is opened again with the next record.
 */
static struct ct_threadbuf_head *get(const struct size *size, u32 previous, u64 *length,
				bool *later)
{
	struct ct_threadbuf_new arg = {
		.size = sizeof(arg), .subbuf_size = size->slot_size, .subbufs = size->slots,
		.previous = previous,
	};

	/* The first one is got with the process's lock held. */
	long err = previous == CT_THREADBUF_NONE ? ct_device_try(CT_IOC_THREADBUF, &arg) :
		   ct_device_ask(CT_IOC_THREADBUF, &arg);

	*later = err == -E_BADF || err == -E_NOTTY;
	if (err < 0)
		return NULL;
	*length = arg.length;
	return (struct ct_threadbuf_head *)arg.address;
}

/* From its page of open calls to another. */
static void move_open(struct ct_thread *t, struct ct_inflight_page *to)
{
	const struct ct_inflight_page *from = t->open;
	u32 n = from->depth < CT_INFLIGHT_MAX ? from->depth : CT_INFLIGHT_MAX;

	for (u32 i = 0; i < n; i++)
		to->entry[i] = from->entry[i];
	barrier();
	to->depth = from->depth;
	t->open = to;
}

/*
 * Its thread may be a signal handler, and the call that it interrupted hold the old page
 * of open calls: so memory stays there that takes what it still writes.
 */
static void retire(void *lane, u64 size)
{
	u64 keep = 2 * 4096;

	ct_map_over(lane, size, MAP_FIXED);
	ct_unmap((u8 *)lane + keep, size - keep);
}

static void leave(struct ct_thread *t)
{
	struct ct_threadbuf_head *old = t->lane;

	if (!old)
		return;
	ct_packet_none(t);
	move_open(t, t->own_open);
	t->lane = NULL;
	/* Its calls go on, but not in this lane. */
	open_of(old)->depth = 0;
	retire(old, t->lane_size);
}

/* Signals are blocked, and no writer is inside but the caller. */
static bool enter(struct ct_thread *t, u32 size, u32 previous)
{
	u64 length;
	bool later;
	struct ct_threadbuf_head *h = get(&sizes[size], previous, &length, &later);
	struct ct_threadbuf_head *old = t->lane;
	u64 old_size = t->lane_size;

	if (!h) {
		if (later && !old)
			t->session = 0;
		return false;
	}
	ct_packet_none(t);
	move_open(t, open_of(h));
	if (old) {
		open_of(old)->depth = 0;
		retire(old, old_size);
	} else {
		/* Apart from those that the module gives, which have 12 bits of CPU. */
		t->ops = (1ull << 52 | (u64)(h->stream & 0xffff) << 36) + 1;
	}
	t->lane = h;
	t->lane_size = length;
	t->lane_step = size;
	t->stream = h->stream;
	t->session = h->session;
	t->accepting = &ct_threadbuf_page->session;
	t->lost = 0;
	t->retry = 0;
	t->begins = 0;
	t->lane_grows = false;
	return true;
}

void ct_threadbuf_grow(struct ct_thread *t)
{
	u64 mask;

	if (!t->lane_grows || t->writer || !ct_threadbuf_valid(t))
		return;
	mask = ct_signals_block();
	if (!enter(t, t->lane_step + 1, t->stream)) {
		t->begins = 0;
		t->lane_grows = false;
	}
	ct_signals_restore(mask);
}

static cold bool renew(struct ct_thread *t)
{
	u32 now = *(const volatile u32 *)&ct_threadbuf_page->session;
	u64 mask;

	if (t->lane && t->session == now)
		return true;
	/* Left by longjmp?  Else only ct_packet_record() finds out, and that needs a lane. */
	if (t->writer && !ct_writer_lives(t->writer, (u64)__builtin_frame_address(0)))
		t->writer = 0;
	/* Not under a writer's feet; nor again where none was to be had. */
	if (t->writer || (!t->lane && t->session == now))
		return false;
	mask = ct_signals_block();
	leave(t);
	t->begins = 1;
	t->session = now;
	if (now)
		enter(t, 0, CT_THREADBUF_NONE);
	ct_signals_restore(mask);
	return t->lane != NULL;
}

bool ct_threadbuf_renew(struct ct_thread *t)
{
	return ct_threadbuf_valid(t) || renew(t);
}

bool ct_threadbuf_next(struct ct_thread *t, u64 op, u64 end)
{
	struct ct_threadbuf_head *h = t->lane;
	u64 waiting;

	if (!h || !ct_threadbuf_valid(t))
		return false;
	waiting = h->produced - ct_load(&h->consumed);
	if (waiting >= h->subbufs / 2 && t->lane_step + 1 < SIZES) {
		/* A record that ended before a lane began is moved by the module, away from
		 * the ioctls in its call: so a larger one comes with the next call. */
		t->lane_grows = true;
		t->begins = 1;
		if (waiting >= h->subbufs && enter(t, t->lane_step + 1, t->stream)) {
			h = t->lane;
			waiting = 0;
			end = 0;	/* this one is late, but encloses its ioctls */
		}
	}
	if (waiting >= h->subbufs)
		return false;
	ct_packet_begin(t, slot(h, h->produced), h->subbuf_size, op, end);
	ct_store(&h->produced, h->produced + 1);
	return true;
}

void ct_threadbuf_leave(struct ct_thread *t)
{
	leave(t);
	t->session = 0;
}

void ct_threadbuf_forget(struct ct_thread *t)
{
	/* What this thread was doing when a handler forked may still be written there. */
	if (t->lane)
		ct_map_over(t->lane, t->lane_size, MAP_FIXED_NOREPLACE);
	t->packet = &ct_no_packet;
	t->limit = 0;
	t->lane = NULL;
	t->open = t->own_open;
	t->session = 0;
}
