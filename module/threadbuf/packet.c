// SPDX-License-Identifier: GPL-2.0
/*
 * Turns the content of a thread buffer into packets for the reader.
 *
 * A thread buffer may hold any bytes, and its thread may change them at any time.  So they
 * are copied once, and only the copy is checked and passed on.  The module's own
 * knowledge of a thread buffer (its owner, its address, how much was read) is in struct
 * ct_threadbuf_state alone, which no program can map.  So a hostile thread can spoil
 * nothing but its own records.
 */
#include <linux/cpumask.h>
#include <linux/minmax.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/vmalloc.h>
#include "threadbuf/packet.h"
#include "core/limit.h"
#include "core/quota.h"
#include "core/registry.h"
#include "core/session.h"

static void packet_free(struct kref *ref)
{
	struct ct_threadbuf_state *tb = container_of(ref, struct ct_threadbuf_state, ref);

	vfree(tb->memory);
	/* Not before the memory is free: else others could have more of it at the same time. */
	if (tb->charged)
		ct_quota_uncharge(CT_QUOTA_OF_THREADBUFS, tb->producer.user, tb->size);
	put_pid(tb->process);
	mmdrop(tb->mm);
	kfree(tb);
}

void ct_threadbuf_put(struct ct_threadbuf_state *tb)
{
	kref_put(&tb->ref, packet_free);
}

/* The class of a record, or NULL if a program may not write this class. */
static const struct ct_class *packet_class_of(const struct ct_thread_record *r)
{
	u32 id = CT_RECORD_CLASS(r->stamp);
	const struct ct_class *c;

	if (id < CT_CLASS_DYNAMIC && id != CT_CLASS_mark && id != CT_CLASS_process &&
	    id != CT_CLASS_range_push && id != CT_CLASS_range_pop && id != CT_CLASS_exit)
		return NULL;
	c = ct_class_find(id);
	return c && c->def.layer == CT_LAYER_USER ? c : NULL;
}

/* The record's time as its thread claims, but not before the last record and not after now. */
static u64 packet_time_of(const struct ct_threadbuf_state *tb, u64 base, u64 stamp, u64 now)
{
	u64 passed = (stamp - base) & CT_TS_MASK;

	if (passed > CT_TS_MASK / 2)
		return tb->last;
	return clamp(base + passed, tb->last, now);
}

static void packet_check_head(struct ct_threadbuf_state *tb, struct ct_thread_record *r, u64 ts)
{
	u64 duration = r->duration & CT_DURATION_MAX;
	u64 cpu = r->duration >> CT_TS_BITS;

	r->stamp = CT_STAMP(ts, CT_RECORD_CLASS(r->stamp));
	r->flags &= CT_F_INSTANT | CT_F_NO_RESULT | CT_F_ABANDONED | CT_F_TRUNCATED;
	if (r->flags & CT_F_INSTANT)
		duration = 0;
	if (cpu >= nr_cpu_ids)
		cpu = 0xffff;
	r->duration = min(duration, ts - tb->start) | cpu << CT_TS_BITS;
}

/* Records that the limits throttled count as lost. */
static void packet_count_limited(struct ct_threadbuf_state *tb, struct ct_session_state *s,
				 u32 records)
{
	tb->lost += records;
	WRITE_ONCE(s->facts->threadbufs_limited, s->facts->threadbufs_limited + records);
}

/*
 * Check the records of the copy in s->threadbufs->buf, correct what their thread may not
 * claim, and drop those that the limits throttle.  Returns where the last good record
 * ends; *begin is the time of the first one, tb->last that of the last one.
 */
static u32 packet_check_records(struct ct_threadbuf_state *tb, struct ct_session_state *s, u32 end,
				u64 base, u64 now, u64 *begin)
{
	u32 at = CT_PACKET_HEAD, to = CT_PACKET_HEAD, payload, size;
	u8 *buf = s->threadbufs->buf;
	struct ct_thread_record *r;
	const struct ct_class *c;
	struct ct_process *p;

	while (end - at >= sizeof(*r)) {
		r = (void *)(buf + at);
		c = packet_class_of(r);
		if (!c)
			break;
		payload = ct_payload_size(c, r + 1, end - at - sizeof(*r));
		if ((!payload && c->fixed) || payload > end - at - sizeof(*r) || payload % 8)
			break;
		size = sizeof(*r) + payload;
		at += size;
		tb->last = packet_time_of(tb, base, r->stamp, now);
		if (!ct_limit_charge_late(s, &tb->producer, tb->last, size, 1)) {
			packet_count_limited(tb, s, 1);
			continue;
		}
		if (to == CT_PACKET_HEAD)
			*begin = tb->last;
		packet_check_head(tb, r, tb->last);
		if (c->mark_word == CT_MARK_UID)
			*(u32 *)(r + 1) = tb->uid;
		if (c->d.id == CT_CLASS_process) {
			p = (void *)(r + 1);
			p->ppid = tb->ppid;
			p->uid = tb->uid;
		}
		/* Close the gap of the records that were dropped. */
		if (to != at - size)
			memmove(buf + to, r, size);
		to += size;
	}
	if (at != end)
		tb->lost++;	/* at least one; the number is unknown */
	return to;
}

/*
 * Make a packet of the records between from and to of this sub-buffer.  Returns its
 * bytes; 0 if all records were dropped, in which case the next packet reports the loss.
 */
static u32 packet_make(struct ct_threadbuf_state *tb, const u8 *subbuf, u32 from, u32 to,
		       struct ct_session_state *s)
{
	const struct ct_packet *claim = (const void *)subbuf;
	struct ct_packet *p = (void *)s->threadbufs->buf;
	u64 now, base, begin = tb->last, op_base = READ_ONCE(claim->op_base);
	u32 end;

	memcpy(s->threadbufs->buf + CT_PACKET_HEAD, subbuf + from, to - from);
	now = ct_clock_now();
	/* Pairs with the release in ct_threadbuf_close(). */
	if (smp_load_acquire(&tb->closed))
		now = min(now, tb->closed);
	now = max(now, tb->last);
	/* A record has the low 48 bits of its time; the packet's begin gives the others. */
	base = clamp(READ_ONCE(claim->ts_begin), tb->last, now);
	end = packet_check_records(tb, s, CT_PACKET_HEAD + to - from, base, now, &begin);
	/* A packet without a record is charged too. */
	if (end == CT_PACKET_HEAD && from != to &&
	    !ct_limit_charge_late(s, &tb->producer, now, CT_PACKET_HEAD, 1))
		return 0;
	*p = (struct ct_packet){
		.magic = CT_MAGIC,
		.stream_class = CT_STREAM_THREAD,
		.ts_begin = begin,
		.ts_end = tb->last,
		.content_size = end * 8ull,
		.packet_size = end * 8ull,
		.seq = tb->seq++,
		.lost = tb->lost + tb->lost_claimed,
		.pid = tb->pid,
		.tid = tb->tid,
		.op_base = op_base,
	};
	memcpy(p->uuid, s->facts->uuid, sizeof(p->uuid));
	tb->lost_reported = p->lost;
	return end;
}

u32 ct_threadbuf_loss_packet(struct ct_threadbuf_state *tb, struct ct_session_state *s)
{
	return packet_make(tb, tb->memory + CT_THREADBUF_DATA, CT_PACKET_HEAD, CT_PACKET_HEAD, s);
}

/*
 * Records that the thread says it lost.  More than any thread can lose is a lie, with which every
 * sum would overflow.
 */
static u64 packet_claim(const struct ct_threadbuf_state *tb)
{
	return min_t(u64, READ_ONCE(ct_threadbuf_head_of(tb)->lost), CT_THREADBUF_LOST_MAX);
}

/* The sub-buffer of packet n. */
static const struct ct_packet *packet_subbuf_of(const struct ct_threadbuf_state *tb, u64 n)
{
	return (const void *)(tb->memory + CT_THREADBUF_DATA +
			      (n & (tb->subbufs - 1)) * tb->subbuf_size);
}

/* How many packets the thread has begun; of a closed thread buffer, before it was closed. */
static u64 packet_begun(const struct ct_threadbuf_state *tb)
{
	/* produced before the packets' headers: pairs with the thread's release. */
	u64 n = smp_load_acquire(&ct_threadbuf_head_of(tb)->produced);

	/*
	 * closed after produced: if the thread buffer is still open here, the value of
	 * produced was stored before it was closed.
	 */
	if (smp_load_acquire(&tb->closed))
		n = max(tb->begun, tb->consumed);
	return n;
}

/* Where the records of packet n end; of a closed thread buffer, when it was closed. */
static u32 packet_content_of(const struct ct_threadbuf_state *tb, u64 n)
{
	const struct ct_packet *p = packet_subbuf_of(tb, n);
	u32 content = CT_PACKET_HEAD;

	if (READ_ONCE(p->magic) == CT_MAGIC)
		/* content_size before the records: pairs with the thread's release. */
		content = min_t(u64, smp_load_acquire(&p->content_size) / 8, tb->subbuf_size) & ~7u;
	/* closed after content_size: as in packet_begun(). */
	if (smp_load_acquire(&tb->closed))
		content = n < tb->begun ? min(content, tb->content[n & (tb->subbufs - 1)]) :
					  CT_PACKET_HEAD;
	return content;
}

/* Close it, and fix the contents of its newest packets: the number that is given. */
static void packet_close(struct ct_threadbuf_state *tb, u64 now, u32 packets)
{
	unsigned long flags;
	u32 i;

	spin_lock_irqsave(&tb->closing, flags);
	if (!tb->closed) {
		tb->begun = packet_begun(tb);
		for (i = 1; i <= packets; i++)
			tb->content[(tb->begun - i) & (tb->subbufs - 1)] =
				packet_content_of(tb, tb->begun - i);
		/*
		 * begun and content before closed: pairs with the acquire of every reader that
		 * finds the thread buffer closed.
		 */
		smp_store_release(&tb->closed, now);
	}
	spin_unlock_irqrestore(&tb->closing, flags);
}

void ct_threadbuf_close(struct ct_threadbuf_state *tb, u64 now)
{
	packet_close(tb, now, tb->subbufs);
}

void ct_threadbuf_close_last(struct ct_threadbuf_state *tb, u64 now)
{
	packet_close(tb, now, 1);
}

bool ct_threadbuf_left(const struct ct_threadbuf_state *tb)
{
	const struct task_struct *leader;
	const struct mm_struct *mm;

	rcu_read_lock();
	leader = pid_task(tb->process, PIDTYPE_TGID);
	/* A leader that ends before its other threads has none. */
	mm = leader ? READ_ONCE(leader->mm) : NULL;
	rcu_read_unlock();
	return mm && mm != tb->mm;
}

/*
 * Is there a record at from in packet n that the thread stamped before the thread buffer
 * was closed?  Then it was being written at that moment.
 */
static bool packet_cut(const struct ct_threadbuf_state *tb, u64 n, u32 from)
{
	const struct ct_packet *p = packet_subbuf_of(tb, n);
	const struct ct_thread_record *r = (const void *)p + from;

	return READ_ONCE(p->magic) == CT_MAGIC && from + sizeof(*r) <= tb->subbuf_size &&
	       READ_ONCE(p->content_size) / 8 >= from + sizeof(*r) &&
	       CT_UNSTAMP(READ_ONCE(p->ts_begin), READ_ONCE(r->stamp)) <= tb->closed;
}

void ct_threadbuf_count_cut(struct ct_threadbuf_state *tb)
{
	u64 n = tb->begun;

	if (!tb->closed || tb->cut_counted)
		return;
	tb->cut_counted = true;
	/* It lies in the last packet, or in the next one if the last one was full. */
	if (n)
		tb->lost += packet_cut(tb, n - 1, tb->content[(n - 1) & (tb->subbufs - 1)]);
	if (READ_ONCE(ct_threadbuf_head_of(tb)->produced) != n)
		tb->lost += packet_cut(tb, n, CT_PACKET_HEAD);
}

/* The thread adds nothing to a closed thread buffer. */
static bool packet_closed(const struct ct_threadbuf_state *tb, const struct ct_session_state *s)
{
	/*
	 * Before produced and the content are loaded: pairs with the releases where the thread
	 * buffer is closed.
	 */
	return smp_load_acquire(&tb->dead) || smp_load_acquire(&tb->closed) || READ_ONCE(s->ended);
}

u32 ct_threadbuf_next_packet(struct ct_threadbuf_state *tb, struct ct_session_state *s, bool all)
{
	struct ct_threadbuf_head *h = ct_threadbuf_head_of(tb);
	/* All records of a closed one are passed on, also from a packet that is not full. */
	bool closed = packet_closed(tb, s);
	u64 produced = packet_begun(tb);
	u32 content, bytes, from;
	bool full;

	tb->lost_claimed = max(tb->lost_claimed, packet_claim(tb));
	if (produced - tb->consumed > tb->subbufs) {
		/* The thread cannot have begun so many packets: ignore all of its values. */
		tb->lost += !tb->broken;
		tb->broken = true;
		produced = tb->consumed;
	}
	while (tb->consumed != produced) {
		full = tb->consumed + 1 != produced;
		content = packet_content_of(tb, tb->consumed);
		from = tb->offset;
		bytes = 0;
		if (content > from && (full || all || closed)) {
			bytes = packet_make(tb, (const u8 *)packet_subbuf_of(tb, tb->consumed),
					    from, content, s);
			tb->offset = content;
		}
		if (full) {
			tb->offset = CT_PACKET_HEAD;
			tb->consumed++;
			/*
			 * The copy before consumed: pairs with the thread's acquire of consumed,
			 * after which it overwrites the sub-buffer.
			 */
			smp_store_release(&h->consumed, tb->consumed);
		}
		if (bytes)
			return bytes;
		if (!full)
			break;
		/* All of its records were dropped: there may be many such packets. */
		cond_resched();
	}
	return 0;
}

/* Is this entry of the thread's in-flight calls page valid? */
static bool packet_inflight_ok(const struct ct_threadbuf_state *tb,
			       const struct ct_inflight_call *c)
{
	u32 class = READ_ONCE(c->class);

	return class >= CT_CLASS_DYNAMIC && ct_class_find(class) &&
	       (!tb->closed || READ_ONCE(c->begin) <= tb->closed);
}

void ct_threadbuf_count_inflight(struct ct_threadbuf_state *tb, struct ct_session_state *s)
{
	const struct ct_inflight_page *page = (const void *)(tb->memory + PAGE_SIZE);
	u32 depth = min_t(u32, READ_ONCE(page->depth), CT_INFLIGHT_MAX), n = 0;

	if (tb->inflight_counted)
		return;
	tb->inflight_counted = true;
	while (n < depth && packet_inflight_ok(tb, &page->entry[n]))
		n++;
	if (!n ||
	    ct_limit_charge_late(s, &tb->producer, tb->last,
				 n * sizeof(struct ct_thread_record), n))
		tb->inflight = n;
	else
		packet_count_limited(tb, s, n);
}

u32 ct_threadbuf_inflight_calls(struct ct_threadbuf_state *tb, struct ct_session_state *s)
{
	struct ct_inflight_page *page = (void *)s->threadbufs->buf;
	struct ct_inflight_call *c;
	u32 i;

	memcpy(page, tb->memory + PAGE_SIZE, sizeof(*page));
	page->magic = CT_MAGIC;
	page->abi = CT_ABI_VERSION;
	page->pid = tb->pid;
	page->tid = tb->tid;
	memset(page->reserved, 0, sizeof(page->reserved));
	for (i = 0; i < page->depth && i < tb->inflight; i++) {
		c = &page->entry[i];
		/* A thread that is alive may have changed the page meanwhile. */
		if (!packet_inflight_ok(tb, c))
			break;
		c->begin = clamp(c->begin, tb->start, max(tb->last, tb->start));
	}
	page->depth = i;
	return i ? sizeof(*page) : 0;
}

bool ct_threadbuf_unread(const struct ct_threadbuf_state *tb)
{
	const struct ct_inflight_page *page = (const void *)(tb->memory + PAGE_SIZE);
	u64 waiting = packet_begun(tb) - tb->consumed;

	if (READ_ONCE(page->depth) ||
	    packet_claim(tb) + tb->lost != tb->lost_reported)
		return true;
	return waiting == 1 ? packet_content_of(tb, tb->consumed) > tb->offset : waiting;
}
