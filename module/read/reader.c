// SPDX-License-Identifier: GPL-2.0
/*
 * Merges the rings of all CPUs into lines of text.
 *
 * The records of one CPU are in the order of time.  The next line is the earliest record
 * of all CPUs, but only once no CPU can still publish an earlier one:
 *
 *   - A CPU on which no writer is inside the ring will stamp its next record later than
 *     now.  The reader subtracts 1 ms (CT_SLACK_NS) for differences of the clocks, and
 *     for a stamp that was taken but whose reservation is not yet visible here.
 *   - A CPU on which a writer is inside the ring may still publish a record that is as
 *     old as the last record read from it, but not older.
 *
 * A reader only copies; a writer never waits for it and may overwrite a packet while it is
 * copied.  So a copy is used only if its packet was not overwritten meanwhile: see the
 * readers' contract in ring.c.
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

/* Jiffies between two comparisons of the unread records with a watermark. */
#define CT_WATERMARK_PERIOD	max_t(long, HZ / 100, 1)

/* Where a reader is in one CPU's ring.  Times are in ns. */
struct ring_cursor {
	u64 pos;		/* next position to read */
	u64 stamp;		/* time of the record at pos; valid if have is true */
	u64 last;		/* time of the last record read */
	u64 idle_at;		/* committed when the reader had read everything */
	u64 lost[CT_LOST_REASONS];	/* losses reported so far */
	u64 records;		/* records before pos: read, or reported as lost */
	u64 done;		/* for mmap(): committed at the last CT_IOC_READ_DONE */
	u64 done_records;	/* for mmap(): records written before that */
	bool have;
	bool gap;		/* packets between the last one and pos were overwritten */
	bool unreported;	/* after a gap: losses that may not be reported yet */
};

struct ct_reader {
	struct ct_session_state *s;
	const struct ct_viewer *viewer;
	struct timer_list nudge;	/* wakes poll() when records are old enough to emit */
	bool extra;			/* counted by ct_control_extra_readers() */
	bool polled;			/* the file is used with poll() or epoll */
	bool armed;			/* counted in ct_session_waiters for poll() */
	u64 since;			/* ns: unread records wait since then; 0: there are none */
	u64 event_id;			/* number of the last line */
	size_t len, sent;		/* bytes of buf: filled, and read by the program */
	u64 record[CT_RECORD_MAX / sizeof(u64)];
	char *buf;
	struct ring_cursor cursor[];
};

static struct ct_ring *reader_ring_of(struct ct_reader *rd, u32 cpu)
{
	return rd->s->cpu[cpu] ? &rd->s->cpu[cpu]->ring : NULL;
}

static u64 reader_committed(struct ct_ring *r)
{
	/* committed before the records: pairs with the release in ct_ring_leave(). */
	return smp_load_acquire(&r->status->committed);
}

/* Was the packet at begin overwritten while the caller copied from it? */
static bool reader_overtaken(struct ct_ring *r, u64 begin)
{
	/* The copy before oldest: pairs with the smp_wmb() in ring_overwrite_oldest(). */
	smp_rmb();
	return READ_ONCE(r->status->oldest) > begin;
}

static void reader_emit_lost(struct ct_reader *rd, u32 cpu, u64 count, const char *reason)
{
	struct ring_cursor *at = &rd->cursor[cpu];

	rd->len += ct_json_lost(rd->buf + rd->len, rd->s, cpu, count, reason,
				max(at->last, rd->s->start), ++rd->event_id);
}

/* A line for each reason for which records of this CPU were lost since the last report. */
static void reader_emit_losses(struct ct_reader *rd, u32 cpu, struct ct_ring *r)
{
	static const char * const words[] = {
#define CT_ROW(id, word)	[CT_LOST_##id] = word,
		CT_LOSSES(CT_ROW)
#undef CT_ROW
	};
	struct ring_cursor *at = &rd->cursor[cpu];
	u64 lost;
	int i;

	for (i = 0; i < CT_LOST_REASONS; i++) {
		lost = READ_ONCE(r->status->lost[i]);
		if (lost != at->lost[i])
			reader_emit_lost(rd, cpu, lost - at->lost[i], words[i]);
		at->lost[i] = lost;
	}
}

/*
 * The packet at begin is the next to read.  Its header says how many records were written
 * before it, except those that an outer writer was writing at that moment (an interrupt
 * may open a packet in the middle of a record).  So a difference counts as a loss only
 * after a gap; records that the header left out are reported with one of the next packets,
 * or at the session's end.  Returns false if the packet was overwritten meanwhile.
 */
static bool reader_enter_packet(struct ct_reader *rd, u32 cpu, struct ct_ring *r, u64 begin)
{
	const struct ct_packet *p = (const void *)(r->data + (begin & r->mask));
	struct ring_cursor *at = &rd->cursor[cpu];
	u64 records = READ_ONCE(p->op_base);

	if (reader_overtaken(r, begin))
		return false;
	at->unreported |= at->gap;
	at->gap = false;
	if (records > at->records) {
		if (at->unreported)
			reader_emit_lost(rd, cpu, records - at->records, "overwritten");
		at->records = records;
	}
	at->pos = begin + CT_PACKET_HEAD;
	return true;
}

/* The session has ended and all records were read: report the losses that are missing. */
static void reader_emit_last_losses(struct ct_reader *rd)
{
	struct ct_ring *r;
	u64 records;
	u32 cpu;

	for (cpu = 0; cpu < rd->s->cpus && rd->len + CT_LINE_MAX <= CT_BUFFER; cpu++) {
		r = reader_ring_of(rd, cpu);
		if (!r || !rd->cursor[cpu].unreported)
			continue;
		records = READ_ONCE(r->status->records);
		if (records > rd->cursor[cpu].records)
			reader_emit_lost(rd, cpu, records - rd->cursor[cpu].records, "overwritten");
		rd->cursor[cpu].unreported = false;
	}
}

/* Find the next record of this CPU; sets have and stamp of its cursor. */
static void reader_find_next(struct ct_reader *rd, u32 cpu, struct ct_ring *r)
{
	struct ring_cursor *at = &rd->cursor[cpu];
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

/* Copy the record at the cursor.  Returns its size; 0 if it was overwritten meanwhile. */
static u32 reader_copy_record(struct ct_reader *rd, u32 cpu, struct ct_ring *r)
{
	struct ring_cursor *at = &rd->cursor[cpu];
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
	/* Copy only as much as the class may have: most records have 50 bytes, few 2 KiB. */
	size = c ? sizeof(*rec) + (c->has_text ? CT_RECORD_MAX : c->fixed) : 0;
	size = min(size, room);
	if (size > sizeof(*rec))
		memcpy(rec + 1, from + sizeof(*rec), size - sizeof(*rec));
	if (reader_overtaken(r, begin))
		return 0;
	payload = c ? ct_payload_size(c, rec + 1, room - sizeof(*rec)) : 0;
	if (WARN_ONCE(!c || (!payload && c->fixed), "cudatrace: record of class %u\n",
		      CT_RECORD_CLASS(rec->stamp))) {
		/* A broken ring, which should never happen: continue behind it. */
		at->pos = reader_committed(r);
		return 0;
	}
	at->pos += sizeof(*rec) + payload;
	at->last = at->stamp;
	at->records++;
	return sizeof(*rec) + payload;
}

/*
 * For a CPU of which all records were read: a time (ns) before which it cannot publish
 * a record any more.
 */
static u64 reader_earliest(struct ct_reader *rd, u32 cpu, struct ct_ring *r, u64 now)
{
	if (rd->s->ended)
		return U64_MAX;
	if (READ_ONCE(r->nest) || local64_read(&r->head) != rd->cursor[cpu].idle_at)
		return rd->cursor[cpu].last;
	return now - CT_SLACK_NS;
}

/*
 * Fill the buffer with lines.  Returns true if records remain: they are too young to be
 * merged yet, or the buffer is full.
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
				if (!r || rd->cursor[cpu].have)
					continue;
				if (rd->len + 2 * CT_LINE_MAX > CT_BUFFER)
					return true;
				reader_emit_losses(rd, cpu, r);
				reader_find_next(rd, cpu, r);
				if (!rd->cursor[cpu].have)
					limit = min(limit, reader_earliest(rd, cpu, r, now));
			}
		}
		best = rd->s->cpus;
		for (cpu = 0; cpu < rd->s->cpus; cpu++)
			if (rd->cursor[cpu].have && (best == rd->s->cpus ||
			    rd->cursor[cpu].stamp < rd->cursor[best].stamp))
				best = cpu;
		if (best == rd->s->cpus)
			return false;
		if (rd->cursor[best].stamp > limit) {
			/* limit may be out of date: compute it again. */
			if (!fresh)
				return true;
			fresh = false;
			continue;
		}
		r = reader_ring_of(rd, best);
		size = reader_copy_record(rd, best, r);
		if (size)
			rd->len += ct_json_record(rd->buf + rd->len, rd->s, rd->viewer,
						  (void *)rd->record, size, rd->cursor[best].last,
						  best, ++rd->event_id);
		reader_find_next(rd, best, r);
		/* If this CPU has no further record, limit must take it into account. */
		fresh = rd->cursor[best].have;
		if (signal_pending(current) && rd->len)
			break;
		cond_resched();
	}
	return true;
}

/* Has any CPU a record that was not there at the last look? */
static bool reader_has_new(struct ct_reader *rd)
{
	struct ct_ring *r;
	u32 cpu;

	for (cpu = 0; cpu < rd->s->cpus; cpu++) {
		r = reader_ring_of(rd, cpu);
		if (r && (rd->cursor[cpu].have || reader_committed(r) != rd->cursor[cpu].idle_at))
			return true;
	}
	return false;
}

static void reader_waiters(int n)
{
	/* The queue's lock guards the counter; writers only test it for zero. */
	spin_lock_irq(&ct_session_wait.lock);
	WRITE_ONCE(ct_session_waiters, ct_session_waiters + n);
	spin_unlock_irq(&ct_session_wait.lock);
}

static void reader_arm_poll(struct ct_reader *rd)
{
	if (!rd->armed) {
		reader_waiters(1);
		/* For a record that is committed at this moment: see reader_wait_new(). */
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

/* Is a watermark set?  CT_IOC_WATERMARK may change it at any time. */
static bool reader_any_watermark(const struct ct_watermark *wm)
{
	return READ_ONCE(wm->bytes) || READ_ONCE(wm->records) || READ_ONCE(wm->ns);
}

/*
 * Add the unread bytes and records of one CPU for a reader by mmap(): from the last
 * CT_IOC_READ_DONE, or for the owner from its consumer page, where records are counted in
 * whole packets.
 */
static void reader_count_mapped(struct ct_reader *rd, u32 cpu, struct ct_ring *r, bool owner,
				u64 *bytes, u64 *records)
{
	const struct ring_cursor *at = &rd->cursor[cpu];
	u64 limit = reader_committed(r), pos = at->done, before = at->done_records, begin;

	if (owner)
		pos = max(pos, min(READ_ONCE(r->consumer->consumed), limit));
	if (pos >= limit)
		return;
	begin = pos & ~(u64)(r->subbuf_size - 1);
	if (pos != at->done && limit > begin)
		before = max(before, READ_ONCE(((struct ct_packet *)
				(r->data + (begin & r->mask)))->op_base));
	*bytes += limit - pos;
	*records += READ_ONCE(r->status->records) - before;
}

/* Is the watermark reached?  *unread: there is at least one unread record. */
static bool reader_reached(struct ct_reader *rd, const struct ct_watermark *wm, struct file *file,
			   bool mapped, bool *unread)
{
	const u64 want_bytes = READ_ONCE(wm->bytes), want_records = READ_ONCE(wm->records),
		  want_ns = READ_ONCE(wm->ns);
	u64 bytes = 0, records = 0, now;
	struct ct_ring *r;
	u32 cpu;

	for (cpu = 0; cpu < rd->s->cpus; cpu++) {
		r = reader_ring_of(rd, cpu);
		if (!r)
			continue;
		if (mapped) {
			reader_count_mapped(rd, cpu, r, READ_ONCE(rd->s->owner) == file, &bytes,
				      &records);
		} else if (reader_committed(r) > rd->cursor[cpu].idle_at || rd->cursor[cpu].have) {
			bytes += reader_committed(r) - rd->cursor[cpu].pos;
			records += READ_ONCE(r->status->records) - rd->cursor[cpu].records;
		}
	}
	*unread = bytes;
	if (!bytes) {
		rd->since = 0;
		return false;
	}
	if (!(want_bytes || want_records || want_ns) ||
	    (want_bytes && bytes >= want_bytes) ||
	    (want_records && records >= want_records))
		return true;
	now = ktime_get_mono_fast_ns();
	if (!rd->since)
		rd->since = now;
	return want_ns && now - rd->since >= want_ns;
}

static bool reader_new_or_ended(struct ct_reader *rd)
{
	return reader_has_new(rd) || READ_ONCE(rd->s->ended);
}

/* Wait for a new record or the session's end.  Returns 0 or -ERESTARTSYS. */
static int reader_wait_new(struct ct_reader *rd)
{
	int err;
	long left;

	reader_waiters(1);
	/*
	 * A writer tests for waiters without a barrier between its commit and the test,
	 * because a barrier would cost every record.  So a writer that saw no waiter may
	 * have committed a record that the first test of the condition here does not see.
	 * It is visible after two jiffies, when the condition is tested again.
	 */
	left = wait_event_interruptible_timeout(ct_session_wait, reader_new_or_ended(rd), 2);
	err = left < 0 ? left : 0;
	if (!left)
		err = wait_event_interruptible(ct_session_wait, reader_new_or_ended(rd));
	reader_waiters(-1);
	return err;
}

/* Sleep for this many jiffies.  Returns 0 or -ERESTARTSYS. */
static int reader_sleep(long jiffies)
{
	schedule_timeout_interruptible(jiffies);
	return signal_pending(current) ? -ERESTARTSYS : 0;
}

/* Wait until the watermark is reached or the session ends.  Returns 0 or -ERESTARTSYS. */
static int reader_wait_watermark(struct ct_reader *rd, const struct ct_watermark *wm)
{
	bool unread;
	int err;

	while (reader_any_watermark(wm) && !READ_ONCE(rd->s->ended) &&
	       !reader_reached(rd, wm, NULL, false, &unread)) {
		err = unread ? reader_sleep(CT_WATERMARK_PERIOD) : reader_wait_new(rd);
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
		rd->cursor[cpu].done_records = READ_ONCE(r->status->records);
		/*
		 * records before committed: a record that is committed in between counts as
		 * unread again, instead of being missed.
		 */
		smp_rmb();
		rd->cursor[cpu].done = reader_committed(r);
	}
	rd->since = 0;
}

void ct_reader_watch(struct ct_reader *rd, const struct file *file)
{
	if (rd->extra || READ_ONCE(rd->s->owner) == file)
		return;
	rd->extra = true;
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
			reader_emit_last_losses(rd);
		if (rd->len)
			break;
		if (ended)
			return 0;
		if (nonblock && rd->polled && !rd->armed) {
			/* An edge-triggered epoll waits for a wake-up before it polls again. */
			reader_arm_poll(rd);
			continue;
		}
		if (nonblock) {
			if (young && rd->armed)
				mod_timer(&rd->nudge, jiffies + 1);
			return -EAGAIN;
		}
		err = young ? reader_sleep(1) : reader_wait_new(rd);
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
	bool unread = false;

	poll_wait(file, &ct_session_wait, wait);
	rd->polled = true;
	reader_arm_poll(rd);
	if (!mapped && rd->sent < rd->len)
		return EPOLLIN | EPOLLRDNORM;
	if (READ_ONCE(rd->s->ended))
		return EPOLLIN | EPOLLRDNORM | (mapped ? EPOLLHUP : 0);
	if ((mapped || reader_any_watermark(wm)) &&
	    !reader_reached(rd, wm, file, mapped, &unread)) {
		if (unread) {
			/* The timer compares from now on, so writers need not wake this file. */
			reader_disarm_poll(rd);
			mod_timer(&rd->nudge, jiffies + CT_WATERMARK_PERIOD);
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
	struct ct_reader *rd = kvzalloc(struct_size(rd, cursor, s->cpus), GFP_KERNEL_ACCOUNT);
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
		/*
		 * records before committed: a number that is too low is corrected by the
		 * header of the next packet.
		 */
		rd->cursor[cpu].records = READ_ONCE(r->status->records);
		rd->cursor[cpu].pos = reader_committed(r);
		rd->cursor[cpu].idle_at = rd->cursor[cpu].pos;
		rd->cursor[cpu].last = s->start;
		for (i = 0; i < CT_LOST_REASONS; i++)
			rd->cursor[cpu].lost[i] = READ_ONCE(r->status->lost[i]);
	}
	return rd;
}

void ct_reader_close(struct ct_reader *rd)
{
	if (!rd)
		return;
	reader_disarm_poll(rd);
	ct_timer_shutdown(&rd->nudge);
	if (rd->extra)
		ct_control_extra_readers(rd->s, -1);
	ct_session_put(rd->s);
	kvfree(rd->buf);
	kvfree(rd);
}
