// SPDX-License-Identifier: GPL-2.0
/*
 * The merging reader.  Each CPU's records are in the order of time; the next line
 * is the earliest of what the CPUs offer, as soon as no CPU can still come with
 * an earlier one:
 *
 *   - a CPU on which nobody is writing will stamp its next record later than now;
 *     1 ms is kept in hand for the clocks and for a stamp that was taken but whose
 *     reservation is not visible here yet;
 *   - one on which somebody is writing may still publish a record that is not
 *     younger than the last one seen of it.
 *
 * A reader only copies: a writer never waits for it, and it may be overtaken.  So
 * whatever it copies counts only if the packet was not given up meanwhile.
 */
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/timer.h>
#include <linux/uaccess.h>
#include "read/json.h"
#include "read/reader.h"
#include "control/control.h"
#include "core/registry.h"
#include "core/session.h"
#include "base/compat.h"

#define CT_SLACK_NS	1000000ull
#define CT_BUFFER	(128u << 10)

/* How often unread records are compared with a watermark. */
#define CT_LOOK		max_t(long, HZ / 100, 1)

/* Where a reader is in one CPU's ring. */
struct place {
	u64 pos;		/* next position to read */
	u64 stamp;		/* time of the record there, if have */
	u64 last;		/* time of the last record seen */
	u64 idle_at;		/* committed when nothing more was found */
	u64 lost[CT_LOST_REASONS];	/* losses already told */
	u64 records;		/* written before it: read or told as lost */
	u64 seen;		/* for mmap(): position, and records before it */
	u64 seen_records;
	bool have;
	bool gap;		/* overtaken: the next packet is not the one after the last */
	bool owing;		/* was overtaken once: some losses may not be told yet */
};

struct ct_reader {
	struct ct_session_state *s;
	const struct ct_viewer *viewer;
	struct timer_list nudge;	/* wakes poll() when young records are old */
	bool watches; /* counted by ct_control_extra_readers() */
	bool polled;			/* somebody uses poll() or epoll on it */
	bool armed;			/* counted in ct_session_waiters for them */
	u64 since;			/* ns: waits with something unread since; 0: not */
	u64 event_id;
	size_t len, sent;		/* of buf */
	u64 record[CT_RECORD_MAX / sizeof(u64)];
	char *buf;
	struct place at[];
};

static struct ct_ring *reader_ring_of(struct ct_reader *rd, u32 cpu)
{
	return rd->s->cpu[cpu] ? &rd->s->cpu[cpu]->ring : NULL;
}

static u64 reader_committed(struct ct_ring *r)
{
	/* Before the records: pairs with the release in ring.c. */
	return smp_load_acquire(&r->status->committed);
}

/* Was the packet at begin given up while we looked at it? */
static bool reader_overtaken(struct ct_ring *r, u64 begin)
{
	smp_rmb();	/* the copy before oldest: see ring.c, give_up_oldest() */
	return READ_ONCE(r->status->oldest) > begin;
}

static void reader_tell_lost(struct ct_reader *rd, u32 cpu, u64 count, const char *reason)
{
	struct place *at = &rd->at[cpu];

	rd->len += ct_json_lost(rd->buf + rd->len, rd->s, cpu, count, reason,
				max(at->last, rd->s->start), ++rd->event_id);
}

/* Records that were not taken since we last told. */
static void reader_tell_losses(struct ct_reader *rd, u32 cpu, struct ct_ring *r)
{
	static const char * const words[] = {
#define CT_ROW(id, word)	[CT_LOST_##id] = word,
		CT_LOSSES(CT_ROW)
#undef CT_ROW
	};
	struct place *at = &rd->at[cpu];
	u64 lost;
	int i;

	for (i = 0; i < CT_LOST_REASONS; i++) {
		lost = READ_ONCE(r->status->lost[i]);
		if (lost != at->lost[i])
			reader_tell_lost(rd, cpu, lost - at->lost[i], words[i]);
		at->lost[i] = lost;
	}
}

/*
 * The packet at begin is the next to read.  It says how many records were written
 * before it, but for those that somebody was just writing (an interrupt may open a
 * packet in the middle of a record).  So only a gap is a loss; what it left out is
 * told with one of the next packets, or at the session's end.
 */
static bool reader_enter_packet(struct ct_reader *rd, u32 cpu, struct ct_ring *r, u64 begin)
{
	const struct ct_packet *p = (const void *)(r->data + (begin & r->mask));
	struct place *at = &rd->at[cpu];
	u64 records = READ_ONCE(p->op_base);

	if (reader_overtaken(r, begin))
		return false;
	at->owing |= at->gap;
	at->gap = false;
	if (records > at->records) {
		if (at->owing)
			reader_tell_lost(rd, cpu, records - at->records, "overwritten");
		at->records = records;
	}
	at->pos = begin + CT_PACKET_HEAD;
	return true;
}

/* The session is over and all of it was read: what is still owed? */
static void reader_tell_rest(struct ct_reader *rd)
{
	struct ct_ring *r;
	u64 records;
	u32 cpu;

	for (cpu = 0; cpu < rd->s->cpus && rd->len + CT_LINE_MAX <= CT_BUFFER; cpu++) {
		r = reader_ring_of(rd, cpu);
		if (!r || !rd->at[cpu].owing)
			continue;
		records = READ_ONCE(r->status->records);
		if (records > rd->at[cpu].records)
			reader_tell_lost(rd, cpu, records - rd->at[cpu].records, "overwritten");
		rd->at[cpu].owing = false;
	}
}

/* Find the next record of this CPU: at->have, at->stamp. */
static void reader_look(struct ct_reader *rd, u32 cpu, struct ct_ring *r)
{
	struct place *at = &rd->at[cpu];
	u64 limit, oldest, begin, end, base, stamp;
	const struct ct_packet *p;

	for (;;) {
		limit = reader_committed(r);
		oldest = READ_ONCE(r->status->oldest);
		begin = at->pos & ~(u64)(r->subbuf_size - 1);
		if (begin < oldest) {
			at->pos = begin = oldest;
			at->gap = true;
		}
		if (at->pos >= limit) {
			at->idle_at = limit;
			return;
		}
		if (at->pos == begin && !reader_enter_packet(rd, cpu, r, begin))
			continue;
		p = (const void *)(r->data + (begin & r->mask));
		end = limit;
		if (limit >= begin + r->subbuf_size)
			end = begin + READ_ONCE(p->content_size) / 8;
		base = READ_ONCE(p->ts_begin);
		if (at->pos < end)
			stamp = *(const u64 *)(r->data + (at->pos & r->mask));
		if (reader_overtaken(r, begin))
			continue;
		if (at->pos >= end) {
			if (limit < begin + r->subbuf_size) {
				at->idle_at = limit;
				return;
			}
			at->pos = begin + r->subbuf_size;
			continue;
		}
		at->stamp = CT_UNSTAMP(base, stamp);
		at->have = true;
		return;
	}
}

/* Copy the record at the place.  Returns its size, 0 if it was overtaken. */
static u32 reader_take(struct ct_reader *rd, u32 cpu, struct ct_ring *r)
{
	struct place *at = &rd->at[cpu];
	u64 begin = at->pos & ~(u64)(r->subbuf_size - 1);
	u32 room = min_t(u64, begin + r->subbuf_size - at->pos, CT_RECORD_MAX);
	struct ct_cpu_record *rec = (void *)rd->record;
	const struct ct_class *c;
	const u8 *from;
	u32 payload, size;

	at->have = false;
	if (room < sizeof(*rec))
		return 0;
	from = r->data + (at->pos & r->mask);
	memcpy(rec, from, sizeof(*rec));
	if (reader_overtaken(r, begin))
		return 0;
	c = ct_class_find(CT_RECORD_CLASS(rec->stamp));
	/* No more than it has: the largest record is 2 KiB, most have 50 bytes. */
	size = c ? sizeof(*rec) + (c->has_text ? CT_RECORD_MAX : c->fixed) : 0;
	size = min(size, room);
	if (size > sizeof(*rec))
		memcpy(rec + 1, from + sizeof(*rec), size - sizeof(*rec));
	if (reader_overtaken(r, begin))
		return 0;
	payload = c ? ct_payload_size(c, rec + 1, room - sizeof(*rec)) : 0;
	if (WARN_ONCE(!c || (!payload && c->fixed), "cudatrace: record of class %u\n",
		      CT_RECORD_CLASS(rec->stamp))) {
		at->pos = reader_committed(r); /* never to be seen; go on behind it */
		return 0;
	}
	at->pos += sizeof(*rec) + payload;
	at->last = at->stamp;
	at->records++;
	return sizeof(*rec) + payload;
}

/* The moment before which this CPU, which offers nothing, can't come any more. */
static u64 reader_bound(struct ct_reader *rd, u32 cpu, struct ct_ring *r, u64 now)
{
	if (rd->s->ended)
		return U64_MAX;
	if (READ_ONCE(r->nest) || local64_read(&r->head) != rd->at[cpu].idle_at)
		return rd->at[cpu].last;
	return now - CT_SLACK_NS;
}

/*
 * Fill the buffer with lines.  Returns true if there are records that are too
 * young to be told yet.
 */
static bool reader_fill(struct ct_reader *rd)
{
	u64 now, limit = 0;
	struct ct_ring *r;
	u32 cpu, best, size;
	bool fresh = false;

	rd->len = rd->sent = 0;
	while (rd->len + 2 * CT_LINE_MAX <= CT_BUFFER) {
		if (!fresh) {
			now = ct_clock_ns();
			limit = U64_MAX;
			for (cpu = 0; cpu < rd->s->cpus; cpu++) {
				r = reader_ring_of(rd, cpu);
				if (!r || rd->at[cpu].have)
					continue;
				if (rd->len + 2 * CT_LINE_MAX > CT_BUFFER)
					return true;
				reader_tell_losses(rd, cpu, r);
				reader_look(rd, cpu, r);
				if (!rd->at[cpu].have)
					limit = min(limit, reader_bound(rd, cpu, r, now));
			}
		}
		best = rd->s->cpus;
		for (cpu = 0; cpu < rd->s->cpus; cpu++)
			if (rd->at[cpu].have && (best == rd->s->cpus ||
			    rd->at[cpu].stamp < rd->at[best].stamp))
				best = cpu;
		if (best == rd->s->cpus)
			return false;
		if (rd->at[best].stamp > limit) {
			/* Perhaps only because we looked long ago. */
			if (!fresh)
				return true;
			fresh = false;
			continue;
		}
		r = reader_ring_of(rd, best);
		size = reader_take(rd, best, r);
		if (size)
			rd->len += ct_json_record(rd->buf + rd->len, rd->s, rd->viewer,
						  (void *)rd->record, size, rd->at[best].last, best,
						  ++rd->event_id);
		reader_look(rd, best, r);
		/* This CPU offers nothing more: its bound is not in limit. */
		fresh = rd->at[best].have;
		if (signal_pending(current) && rd->len)
			break;
		cond_resched();
	}
	return true;
}

/* Has any CPU something that was not there when we last looked? */
static bool reader_news(struct ct_reader *rd)
{
	struct ct_ring *r;
	u32 cpu;

	for (cpu = 0; cpu < rd->s->cpus; cpu++) {
		r = reader_ring_of(rd, cpu);
		if (r && (rd->at[cpu].have || reader_committed(r) != rd->at[cpu].idle_at))
			return true;
	}
	return false;
}

static void reader_waiters(int n)
{
	/* Guarded by the queue's own lock: writers only test it for zero. */
	spin_lock_irq(&ct_session_wait.lock);
	WRITE_ONCE(ct_session_waiters, ct_session_waiters + n);
	spin_unlock_irq(&ct_session_wait.lock);
}

static void reader_arm_poll(struct ct_reader *rd)
{
	if (!rd->armed) {
		reader_waiters(1);
		/* For what was committed at that very moment: see reader_wait_news(). */
		mod_timer(&rd->nudge, jiffies + 2);
	}
	rd->armed = true;
}

static void reader_disarm_poll(struct ct_reader *rd)
{
	if (rd->armed)
		reader_waiters(-1);
	rd->armed = false;
}

/* ---------------------------------------------------- watermarks ------- */

/* It may change while we look. */
static bool reader_any_watermark(const struct ct_watermark *wm)
{
	return READ_ONCE(wm->bytes) || READ_ONCE(wm->records) || READ_ONCE(wm->ns);
}

/*
 * What a reader by mmap() of one CPU has not seen: from the last CT_IOC_READ_DONE, or for
 * the owner from what it consumed, whose records count in whole packets.
 */
static void reader_unseen(struct ct_reader *rd, u32 cpu, struct ct_ring *r, bool owner, u64 *bytes,
			  u64 *records)
{
	const struct place *at = &rd->at[cpu];
	u64 limit = reader_committed(r), pos = at->seen, before = at->seen_records, begin;

	if (owner)
		pos = max(pos, min(READ_ONCE(r->consumer->consumed), limit));
	if (pos >= limit)
		return;
	begin = pos & ~(u64)(r->subbuf_size - 1);
	if (pos != at->seen && limit > begin)
		before = max(before, READ_ONCE(((struct ct_packet *)
				(r->data + (begin & r->mask)))->op_base));
	*bytes += limit - pos;
	*records += READ_ONCE(r->status->records) - before;
}

/* Is so much unread as wm says?  *some: there is something. */
static bool reader_reached(struct ct_reader *rd, const struct ct_watermark *wm, struct file *file,
			   bool mapped, bool *some)
{
	const u64 most_bytes = READ_ONCE(wm->bytes), most_records = READ_ONCE(wm->records),
		  most_ns = READ_ONCE(wm->ns);
	u64 bytes = 0, records = 0, now;
	struct ct_ring *r;
	u32 cpu;

	for (cpu = 0; cpu < rd->s->cpus; cpu++) {
		r = reader_ring_of(rd, cpu);
		if (!r)
			continue;
		if (mapped) {
			reader_unseen(rd, cpu, r, READ_ONCE(rd->s->owner) == file, &bytes,
				      &records);
		} else if (reader_committed(r) > rd->at[cpu].idle_at || rd->at[cpu].have) {
			bytes += reader_committed(r) - rd->at[cpu].pos;
			records += READ_ONCE(r->status->records) - rd->at[cpu].records;
		}
	}
	*some = bytes;
	if (!bytes) {
		rd->since = 0;
		return false;
	}
	if (!(most_bytes || most_records || most_ns) ||
	    (most_bytes && bytes >= most_bytes) ||
	    (most_records && records >= most_records))
		return true;
	now = ktime_get_mono_fast_ns();
	if (!rd->since)
		rd->since = now;
	return most_ns && now - rd->since >= most_ns;
}

static bool reader_news_or_end(struct ct_reader *rd)
{
	return reader_news(rd) || READ_ONCE(rd->s->ended);
}

/* Until something is there that was not, or the session ends.  0, -ERESTARTSYS. */
static int reader_wait_news(struct ct_reader *rd)
{
	int err;

	long left;

	reader_waiters(1);
	/*
	 * A writer looks for waiters without a barrier, which would cost every record: one
	 * that saw none may have committed just before, unseen by us.  Not so any more the
	 * next time.
	 */
	left = wait_event_interruptible_timeout(ct_session_wait, reader_news_or_end(rd), 2);
	err = left < 0 ? left : 0;
	if (!left)
		err = wait_event_interruptible(ct_session_wait, reader_news_or_end(rd));
	reader_waiters(-1);
	return err;
}

/* For so many jiffies.  0, -ERESTARTSYS. */
static int reader_nap(long jiffies)
{
	schedule_timeout_interruptible(jiffies);
	return signal_pending(current) ? -ERESTARTSYS : 0;
}

/* Until the watermark is reached or the session ends.  0, -ERESTARTSYS. */
static int reader_wait_watermark(struct ct_reader *rd, const struct ct_watermark *wm)
{
	bool some;
	int err;

	while (reader_any_watermark(wm) && !READ_ONCE(rd->s->ended) &&
	       !reader_reached(rd, wm, NULL, false, &some)) {
		err = some ? reader_nap(CT_LOOK) : reader_wait_news(rd);
		if (err)
			return err;
	}
	return 0;
}

void ct_reader_done(struct ct_reader *rd)
{
	struct ct_ring *r;
	u32 cpu;

	for (cpu = 0; cpu < rd->s->cpus; cpu++) {
		r = reader_ring_of(rd, cpu);
		if (!r)
			continue;
		/* Records first: one that comes in between is rather told twice. */
		rd->at[cpu].seen_records = READ_ONCE(r->status->records);
		smp_rmb();
		rd->at[cpu].seen = reader_committed(r);
	}
	rd->since = 0;
}

void ct_reader_watch(struct ct_reader *rd, const struct file *file)
{
	if (rd->watches || READ_ONCE(rd->s->owner) == file)
		return;
	rd->watches = true;
	ct_control_extra_readers(rd->s, 1);
}

ssize_t ct_reader_read(struct ct_reader *rd, char __user *to, size_t room,
		       const struct ct_watermark *wm, bool nonblock)
{
	bool young, ended;
	size_t n;
	int err;

	reader_disarm_poll(rd);
	while (rd->sent == rd->len) {
		if (!nonblock) {
			err = reader_wait_watermark(rd, wm);
			if (err)
				return err;
		}
		ended = READ_ONCE(rd->s->ended);
		young = reader_fill(rd);
		if (!rd->len && ended)
			reader_tell_rest(rd);
		if (rd->len)
			break;
		if (ended)
			return 0;
		if (nonblock && rd->polled && !rd->armed) {
			/* Who waits for edges does not poll again before one comes. */
			reader_arm_poll(rd);
			continue;
		}
		if (nonblock) {
			if (young && rd->armed)
				mod_timer(&rd->nudge, jiffies + 1);
			return -EAGAIN;
		}
		err = young ? reader_nap(1) : reader_wait_news(rd);
		if (err)
			return err;
	}
	n = min(room, rd->len - rd->sent);
	if (copy_to_user(to, rd->buf + rd->sent, n))
		return -EFAULT;
	rd->sent += n;
	rd->since = 0;
	return n;
}

static void reader_nudge(struct timer_list *t)
{
	wake_up_interruptible_all(&ct_session_wait);
}

__poll_t ct_reader_poll(struct ct_reader *rd, struct file *file, poll_table *wait,
			const struct ct_watermark *wm, bool mapped)
{
	bool some = false;

	poll_wait(file, &ct_session_wait, wait);
	rd->polled = true;
	reader_arm_poll(rd);
	if (!mapped && rd->sent < rd->len)
		return EPOLLIN | EPOLLRDNORM;
	if (READ_ONCE(rd->s->ended))
		return EPOLLIN | EPOLLRDNORM | (mapped ? EPOLLHUP : 0);
	if ((mapped || reader_any_watermark(wm)) && !reader_reached(rd, wm, file, mapped, &some)) {
		if (some) {
			/* Looked at from time to time: writers need not wake us. */
			reader_disarm_poll(rd);
			mod_timer(&rd->nudge, jiffies + CT_LOOK);
		}
		return 0;
	}
	if (mapped)
		return EPOLLIN | EPOLLRDNORM;
	if (reader_fill(rd) && !rd->len)
		mod_timer(&rd->nudge, jiffies + 1);
	if (rd->len || READ_ONCE(rd->s->ended))
		return EPOLLIN | EPOLLRDNORM;
	return 0;
}

struct ct_reader *ct_reader_open(struct ct_session_state *s, const struct ct_viewer *viewer)
{
	struct ct_reader *rd = kvzalloc(struct_size(rd, at, s->cpus), GFP_KERNEL_ACCOUNT);
	struct ct_ring *r;
	u32 cpu;
	int i;

	if (rd)
		rd->buf = kvmalloc(CT_BUFFER, GFP_KERNEL_ACCOUNT);
	if (!rd || !rd->buf) {
		kvfree(rd);
		ct_session_put(s);
		return ERR_PTR(-ENOMEM);
	}
	rd->s = s;
	rd->viewer = viewer;
	timer_setup(&rd->nudge, reader_nudge, 0);
	for (cpu = 0; cpu < s->cpus; cpu++) {
		r = reader_ring_of(rd, cpu);
		if (!r)
			continue;
		/* Rather one too few than one too many: the next packet tells. */
		rd->at[cpu].records = READ_ONCE(r->status->records);
		rd->at[cpu].pos = reader_committed(r);
		rd->at[cpu].idle_at = rd->at[cpu].pos;
		rd->at[cpu].last = s->start;
		for (i = 0; i < CT_LOST_REASONS; i++)
			rd->at[cpu].lost[i] = READ_ONCE(r->status->lost[i]);
	}
	return rd;
}

void ct_reader_close(struct ct_reader *rd)
{
	if (!rd)
		return;
	reader_disarm_poll(rd);
	ct_timer_shutdown(&rd->nudge);
	if (rd->watches)
		ct_control_extra_readers(rd->s, -1);
	ct_session_put(rd->s);
	kvfree(rd->buf);
	kvfree(rd);
}
