// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * CUPTI's buffers: it asks for one where a call of the program needs it, fills it, and gives
 * it back, in any thread.  Then it waits in a queue for the thread that writes.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "plugins/gpu/buffers.h"
#include "plugins/gpu/activity.h"
#include "plugins/gpu/clock.h"

#define SIZE	(1u << 20)
#define MOST	128u		/* beyond, CUPTI drops records and counts them */

static struct buffer {
	u8 *data;		/* stays once it is mapped */
	size_t valid;
	void *context;
	u32 stream;
	u32 next;		/* in the list where it is; index + 1, 0: none */
} buffers[MOST];

static u32 lock, used, idle, first, last;

/*
 * Held for a few instructions, in a call of the program, too.  It is the pid of who holds it: a
 * child that was forked meanwhile has its parent's, and no thread that would give it back.
 */
static bool buffers_try_lock(u64 tries)
{
	u32 own = (u32)getpid(), held = 0;

	while (!__atomic_compare_exchange_n(&lock, &held, own, false, __ATOMIC_ACQUIRE,
					    __ATOMIC_RELAXED)) {
		if (held == own) {
			if (!tries--)
				return false;
			held = 0;
			__builtin_ia32_pause();
		}
	}
	return true;
}

static void buffers_lock(void)
{
	buffers_try_lock(~0ull);
}

static void buffers_unlock(void)
{
	store(&lock, 0u);
}

void buffers_requested(u8 **data, size_t *size, size_t *most_records)
{
	struct buffer *b = NULL;
	int saved = errno;

	*data = NULL;
	*size = *most_records = 0;
	buffers_lock();
	if (idle) {
		b = &buffers[idle - 1];
		idle = b->next;
	} else if (used < MOST) {
		b = &buffers[used++];
	}
	buffers_unlock();
	if (b && !b->data) {
		void *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (memory != MAP_FAILED)
			store(&b->data, memory);
	}
	if (b && b->data) {
		*data = b->data;
		*size = SIZE;
	}
	errno = saved;
}

static struct buffer *buffers_find(const u8 *data)
{
	for (u32 i = 0; i < load(&used); i++)
		if (load(&buffers[i].data) == data)
			return &buffers[i];
	return NULL;
}

bool buffers_is_ours(const u8 *data)
{
	return buffers_find(data);
}

void buffers_completed(void *context, u32 stream, u8 *data, size_t size, size_t valid)
{
	struct buffer *b = buffers_find(data);

	(void)size;
	if (!b)
		return;
	b->valid = valid;
	b->context = context;
	b->stream = stream;
	b->next = 0;
	buffers_lock();
	if (last)
		buffers[last - 1].next = (u32)(b - buffers) + 1;
	else
		first = (u32)(b - buffers) + 1;
	last = (u32)(b - buffers) + 1;
	buffers_unlock();
	__atomic_fetch_add(&progress, 1u, __ATOMIC_RELAXED);
}

/* ------------------------------------------------------------- writing ----- */
static struct entry *entries;
static const struct entry **sorted;	/* twice as many: a sort needs room */
static size_t count, capacity;

/* Their memory comes from the kernel: the program's malloc() may be anything. */
static bool entries_grow(void)
{
	size_t more = capacity ? capacity * 2 : 16384;
	struct entry *e = mmap(NULL, more * sizeof(*e), PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const struct entry **s = mmap(NULL, 2 * more * sizeof(*s), PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (e == MAP_FAILED || s == MAP_FAILED) {
		if (e != MAP_FAILED)
			munmap(e, more * sizeof(*e));
		if (s != MAP_FAILED)
			munmap(s, 2 * more * sizeof(*s));
		return false;
	}
	for (size_t i = 0; i < count; i++)
		e[i] = entries[i];
	if (capacity) {
		munmap(entries, capacity * sizeof(*e));
		munmap(sorted, 2 * capacity * sizeof(*s));
	}
	entries = e;
	sorted = s;
	capacity = more;
	return true;
}

/* The record behind record, the first if that is NULL; NULL: there is none. */
static void *buffers_next(const struct buffer *b, void *record)
{
	const u8 *least = record ? (const u8 *)record + 1 : b->data;

	if (!b->valid || cupti.ActivityGetNextRecord(b->data, b->valid, &record) != CUPTI_OK)
		return NULL;
	/* What does not go on in the buffer would never end. */
	return (u8 *)record < least || (u8 *)record >= b->data + b->valid ? NULL : record;
}

static u64 buffers_dropped(const struct buffer *b)
{
	size_t dropped = 0;

	return cupti.ActivityGetNumDroppedRecords(b->context, b->stream, &dropped) == CUPTI_OK ? dropped : 0;
}

static u64 buffers_count(const struct buffer *b)
{
	u64 n = 0;

	for (void *r = buffers_next(b, NULL); r; r = buffers_next(b, r))
		n++;
	return n;
}

static void entries_add(const struct buffer *b)
{
	u64 dropped = buffers_dropped(b);

	for (void *r = buffers_next(b, NULL); r; r = buffers_next(b, r)) {
		if (count == capacity && !entries_grow())
			host->lose(1);
		else if (activity_entry(&entries[count], r)) {
			count++;
			continue;
		}
		streams_done(1);
	}
	if (dropped)
		host->lose(dropped);
}

/* Merges two sorted runs that lie one behind the other. */
static void entries_merge(const struct entry **to, const struct entry *const *from, size_t middle,
			  size_t end)
{
	size_t a = 0, b = middle;

	for (size_t i = 0; i < end; i++) {
		if (b >= end || (a < middle && from[a]->end <= from[b]->end))
			to[i] = from[a++];
		else
			to[i] = from[b++];
	}
}

/* Nearly in order as they come.  (qsort() may call the program's malloc().) */
static const struct entry **entries_sort(void)
{
	const struct entry **from = sorted, **to = sorted + capacity;

	for (size_t i = 0; i < count; i++)
		from[i] = &entries[i];
	for (size_t width = 1; width < count; width *= 2) {
		const struct entry **swap = from;

		for (size_t at = 0; at < count; at += 2 * width) {
			size_t left = count - at;

			entries_merge(to + at, from + at, left < width ? left : width,
				      left < 2 * width ? left : 2 * width);
		}
		from = to;
		to = swap;
	}
	return from;
}

/* The queue, its first buffer; 0: it is empty, or nobody gives the lock back. */
static u32 buffers_take(u64 tries)
{
	u32 at;

	if (!buffers_try_lock(tries))
		return 0;
	at = first;
	first = last = 0;
	buffers_unlock();
	return at;
}

void buffers_write(void)
{
	u32 at = buffers_take(~0ull), from = at;

	if (!at)
		return;
	for (u32 i = at; i; i = buffers[i - 1].next)
		__atomic_fetch_add(&streams_unwritten, buffers_count(&buffers[i - 1]), __ATOMIC_RELAXED);
	clock_update();
	count = 0;
	for (;; at = buffers[at - 1].next) {
		entries_add(&buffers[at - 1]);
		if (!buffers[at - 1].next)
			break;
	}
	buffers_lock();
	buffers[at - 1].next = idle;
	idle = from;
	buffers_unlock();
	streams_write(entries_sort(), count);
}

void buffers_lose(void)
{
	u64 lost = load(&streams_unwritten);

	for (u32 i = buffers_take(1u << 20); i; i = buffers[i - 1].next)
		lost += buffers_count(&buffers[i - 1]) + buffers_dropped(&buffers[i - 1]);
	host->lose(lost);
}

void buffers_forget(void)
{
	u32 at = buffers_take(~0ull), from = at;

	if (!at)
		return;
	while (buffers[at - 1].next)
		at = buffers[at - 1].next;
	buffers_lock();
	buffers[at - 1].next = idle;
	idle = from;
	buffers_unlock();
}
