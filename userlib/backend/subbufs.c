// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A busy thread makes its packets in memory that stays in the caches, behind its open
 * calls: to touch new pages of a file costs more than to write the records.  What is
 * full is stored by the recorder, on another CPU, or by the thread itself, if there is
 * none or it is late; see struct ct_subbufs in cudatrace.h.
 *
 * Must never wait for the recorder, nor depend on its life.
 */
#include "backend/subbufs.h"

#include "record/packet.h"
#include "tracedir/preallocate.h"

/* Without a recorder each packet is stored at once, and one slot is enough. */
#define ALONE_SLOTS	1u
#define ALONE_SIZE	(256u << 10)
#define SHARED_SLOTS	4u
#define SHARED_SIZE	(128u << 10)
_Static_assert(SHARED_SLOTS <= CT_SUBBUFS_MAX, "what its struct holds");

static struct ct_recorder_page *recorder;	/* NULL: none */

static struct ct_subbufs *handover(const struct ct_thread *t)
{
	return (struct ct_subbufs *)((u8 *)t->open + CT_INFLIGHT_SUBBUFS);
}

static struct ct_packet *slot(const struct ct_thread *t, u64 n)
{
	return (struct ct_packet *)(t->slots + n % t->slot_count * t->slot_size);
}

static bool find_recorder(void)
{
	struct ct_recorder_page *page;
	char name[2112];
	struct ct_text path = { name, sizeof(name), 0 };
	int fd;

	if (ct_load(&recorder))
		return true;
	ct_files_path_of(&path, "/.recorder");
	fd = ct_open(name, O_RDWR | O_NOFOLLOW, 0);
	if (fd < 0)
		return false;
	/* Where it is shorter, a look at it would be SIGBUS. */
	page = ct_sys3(SYS_lseek, fd, 0, 2 /* SEEK_END */) == 4096 ?
	       ct_map(4096, MAP_SHARED, fd, 0) : NULL;
	ct_close(fd);
	if (!page)
		return false;
	if (page->magic != CT_MAGIC || page->abi != CT_ABI_VERSION ||
	    !ct_cas(&recorder, NULL, page))
		ct_unmap(page, 4096);
	return ct_load(&recorder) != NULL;
}

bool ct_subbufs_begin(struct ct_thread *t)
{
	struct ct_subbufs *h = handover(t);
	char name[2112];
	struct ct_text path = { name, sizeof(name), 0 };
	bool shared = find_recorder();
	u32 slots = shared ? SHARED_SLOTS : ALONE_SLOTS;
	u32 size = shared ? SHARED_SIZE : ALONE_SIZE;
	int fd;

	ct_files_path(&path, "/.open-", t->stream);
	fd = ct_open(name, O_RDWR, 0);
	if (fd < 0)
		return false;
	t->slots = ct_preallocate_map(fd, CT_INFLIGHT_PACKET, slots * size);
	ct_close(fd);
	if (!t->slots)
		return false;
	t->slot_count = slots;
	t->slot_size = size;
	t->stored = 0;
	t->told = t->lost;
	h->published = 0;
	h->drained = 0;
	h->subbuf_size = size;
	barrier();
	h->subbufs = slots;
	if (shared)
		__atomic_fetch_add(&recorder->threads, 1, __ATOMIC_RELEASE);
	return true;
}

bool ct_subbufs_holds(const struct ct_thread *t, const struct ct_packet *p)
{
	return t->slots && (const u8 *)p >= t->slots &&
	       (const u8 *)p < t->slots + t->slot_count * t->slot_size;
}

static bool write_at(int fd, const void *from, u64 size, u64 offset)
{
	const u8 *p = from;

	while (size) {
		long n = ct_sys4(SYS_pwrite64, fd, p, size, offset);

		if (n <= 0)
			return false;
		p += n;
		offset += (u64)n;
		size -= (u64)n;
	}
	return true;
}

/*
 * Packet n goes to its place in the stream, its head last: a process that is killed in
 * here leaves it in its slot, and perhaps a tail without a magic.
 */
static bool store(struct ct_thread *t, u64 n)
{
	const struct ct_subbufs *h = handover(t);
	const struct ct_packet *p = slot(t, n);
	u64 offset = h->at[n % t->slot_count].offset, size = h->at[n % t->slot_count].size;
	struct ct_packet head = *p;
	char name[2112];
	struct ct_text path = { name, sizeof(name), 0 };
	bool ok;
	int fd;

	ct_files_path(&path, "/u-", t->stream);
	if (ct_preallocate_beyond(offset + size))
		return false;
	fd = ct_open(name, O_RDWR, 0);
	if (fd < 0)
		return false;
	head.packet_size = size * 8;
	ok = write_at(fd, (const u8 *)p + sizeof(head), size - sizeof(head),
		      offset + sizeof(head)) &&
	     write_at(fd, &head, sizeof(head), offset);
	/* Nothing follows, unless the recorder has stored this one after all. */
	if (!ok && t->slot_count == ALONE_SLOTS)
		ct_sys2(SYS_ftruncate, fd, offset);
	ct_close(fd);
	return ok;
}

/* Packets that are stored, by whomever. */
static u64 stored(const struct ct_thread *t)
{
	const struct ct_subbufs *h = handover(t);
	u64 theirs = ct_load(&h->drained);

	/* Theirs is a number in a file. */
	return theirs > t->stored && theirs <= h->published ? theirs : t->stored;
}

/* Until no more than so many are not. */
static bool store_all_but(struct ct_thread *t, u64 rest)
{
	const struct ct_subbufs *h = handover(t);
	u64 n;

	while ((n = stored(t)) + rest < h->published) {
		if (!store(t, n))
			return false;
		t->stored = n + 1;
	}
	return true;
}

static void notify(void)
{
	struct ct_recorder_page *page = ct_load(&recorder);

	if (!page)
		return;
	__atomic_fetch_add(&page->published, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&page->waiting, __ATOMIC_SEQ_CST))
		ct_sys3(SYS_futex, &page->published, 1 /* FUTEX_WAKE */, 1);
}

/* Its packet is here, and not given away yet. */
static bool in_hand(const struct ct_thread *t)
{
	return t->limit && ct_subbufs_holds(t, t->packet);
}

/* From here on nothing is written into the packet in hand. */
static void give_away(struct ct_thread *t)
{
	struct ct_subbufs *h = handover(t);
	u64 n = h->published;

	t->limit = 0;
	barrier();
	h->at[n % t->slot_count].offset = t->file_size;
	h->at[n % t->slot_count].size = t->packet->content_size / 8;
	t->file_size += t->packet->content_size / 8;
	t->told = t->packet->lost;
	ct_store(&h->published, n + 1);
}

bool ct_subbufs_next(struct ct_thread *t, u64 op, u64 end)
{
	struct ct_subbufs *h = handover(t);

	if (in_hand(t)) {
		give_away(t);
		if (t->slot_count > ALONE_SLOTS)
			notify();
	}
	if (!store_all_but(t, t->slot_count - 1))
		return false;
	ct_packet_begin(t, slot(t, h->published), t->slot_size, op, end);
	return true;
}

bool ct_subbufs_flush(struct ct_thread *t)
{
	struct ct_packet *last;

	if (in_hand(t))
		give_away(t);
	if (!store_all_but(t, 0))
		return false;
	/* The recorder may have taken its copy before these: they have an empty packet. */
	if (t->lost != t->told) {
		ct_packet_begin(t, slot(t, handover(t)->published), t->slot_size, t->ops, 0);
		give_away(t);
		if (!store_all_but(t, 0))
			return false;
	}
	last = t->packet;
	if (ct_subbufs_holds(t, last)) {
		ct_packet_none(t);
		last->magic = 0;
	}
	return true;
}

void ct_subbufs_forget(struct ct_thread *t)
{
	if (t->slots)
		ct_unmap(t->slots, t->slot_count * t->slot_size);
	t->slots = NULL;
}
