// SPDX-License-Identifier: GPL-2.0
/*
 * A reader: waits for records, for read() and poll(), and copies the lines that merge.c makes of
 * them to user space.
 */
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/timer.h>
#include <linux/uaccess.h>
#include "read/merge.h"
#include "read/reader.h"
#include "control/control.h"
#include "core/session.h"
#include "base/compat.h"

/* Jiffies between two comparisons of the unread records with a watermark. */
#define CT_WATERMARK_PERIOD	max_t(long, HZ / 100, 1)

struct ct_reader {
	struct timer_list nudge;	/* wakes poll() when records are old enough to emit */
	bool extra;			/* counted by ct_control_extra_reader() */
	bool polled;			/* the file is used with poll() or epoll */
	bool armed;			/* counted in ct_session_waiters for poll() */
	u64 since;			/* ns: unread records wait since then; 0: there are none */
	struct ct_merge m; /* last: it ends with a flexible array */
};

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
 * Add the unread bytes and records of one CPU.  By mmap() the consumer page says how far its owner
 * has read; then records are counted in whole packets.
 */
static void reader_count(const struct ring_cursor *at, struct ct_ring *r, bool mapped, u64 *bytes,
			 u64 *records)
{
	u64 limit = ct_merge_committed(r), pos = at->pos, before = at->records;
	const struct ct_packet *p;

	if (mapped) {
		pos = READ_ONCE(r->consumer->consumed);
		p = (void *)(r->data + (pos & ~(u64)(r->subbuf_size - 1) & r->mask));
		before = pos ? READ_ONCE(p->op_base) : 0;
	}
	if (pos >= limit)
		return;
	*bytes += limit - pos;
	*records += READ_ONCE(r->status->records) - before;
}

/* Is anything unread?  Sets its bytes and records. */
static bool reader_unread(struct ct_reader *rd, bool mapped, u64 *bytes, u64 *records)
{
	struct ct_ring *r;
	u32 cpu;

	*bytes = 0;
	*records = 0;
	for (cpu = 0; cpu < rd->m.s->cpus; cpu++) {
		r = ct_merge_ring_of(&rd->m, cpu);
		if (r)
			reader_count(&rd->m.cursor[cpu], r, mapped, bytes, records);
	}
	return *bytes;
}

/* Is the watermark reached?  *unread: there is at least one unread record. */
static bool reader_reached(struct ct_reader *rd, const struct ct_watermark *wm, bool mapped,
			   bool *unread)
{
	const u64 want_bytes = READ_ONCE(wm->bytes), want_records = READ_ONCE(wm->records),
		  want_ns = READ_ONCE(wm->ns);
	u64 bytes, records, now;

	*unread = reader_unread(rd, mapped, &bytes, &records);
	if (!*unread) {
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
	u64 bytes, records;

	return reader_unread(rd, false, &bytes, &records) || READ_ONCE(rd->m.s->ended);
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

	while (reader_any_watermark(wm) && !READ_ONCE(rd->m.s->ended) &&
	       !reader_reached(rd, wm, false, &unread)) {
		err = unread ? reader_sleep(CT_WATERMARK_PERIOD) : reader_wait_new(rd);
		if (err)
			return err;
	}
	return 0;
}

/*
 * The file reads or waits.  Unless it is the session's owner, it becomes an extra reader.  0 or
 * -EINTR: the task is being killed.
 */
static int reader_watch(struct ct_reader *rd, const struct file *file)
{
	int err;

	if (rd->extra || READ_ONCE(rd->m.s->owner) == file)
		return 0;
	err = ct_control_extra_reader(rd->m.s);
	rd->extra = !err;
	return err;
}

ssize_t ct_reader_read(struct ct_reader *rd, const struct file *file, char __user *to,
		       size_t room, const struct ct_watermark *wm)
{
	bool nonblock = file->f_flags & O_NONBLOCK, young, ended;
	size_t n;
	int err;

	err = reader_watch(rd, file);
	if (err)
		return err;
	reader_disarm_poll(rd);
	while (rd->m.sent == rd->m.len) {
		if (!nonblock) {
			err = reader_wait_watermark(rd, wm);
			if (err)
				return err;
		}
		ended = READ_ONCE(rd->m.s->ended);
		young = ct_merge_fill(&rd->m);
		if (!rd->m.len && ended)
			ct_merge_last_losses(&rd->m);
		if (rd->m.len)
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
	n = min(room, rd->m.len - rd->m.sent);
	if (copy_to_user(to, rd->m.buf + rd->m.sent, n))
		return -EFAULT;
	rd->m.sent += n;
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
	bool owner, unread;

	if (reader_watch(rd, file))
		return EPOLLERR;
	owner = mapped && READ_ONCE(rd->m.s->owner) == file;
	poll_wait(file, &ct_session_wait, wait);
	rd->polled = true;
	reader_arm_poll(rd);
	if (!owner && rd->m.sent < rd->m.len)
		return EPOLLIN | EPOLLRDNORM;
	if (READ_ONCE(rd->m.s->ended))
		return EPOLLIN | EPOLLRDNORM | (mapped ? EPOLLHUP : 0);
	if ((owner || reader_any_watermark(wm)) && !reader_reached(rd, wm, owner, &unread)) {
		if (unread) {
			/* The timer compares from now on, so writers need not wake this file. */
			reader_disarm_poll(rd);
			mod_timer(&rd->nudge, jiffies + CT_WATERMARK_PERIOD);
		}
		return 0;
	}
	if (owner)
		return EPOLLIN | EPOLLRDNORM;
	if (ct_merge_fill(&rd->m) && !rd->m.len)
		mod_timer(&rd->nudge, jiffies + 1);
	if (rd->m.len || READ_ONCE(rd->m.s->ended))
		return EPOLLIN | EPOLLRDNORM;
	return 0;
}

struct ct_reader *ct_reader_open(struct ct_session_state *s, const struct ct_viewer *viewer)
{
	struct ct_reader *rd = kvzalloc(struct_size(rd, m.cursor, s->cpus), GFP_KERNEL_ACCOUNT);
	struct ct_ring *r;
	u32 cpu;
	int i;

	if (rd)
		rd->m.buf = kvmalloc(CT_MERGE_BUFFER, GFP_KERNEL_ACCOUNT);
	if (!rd || !rd->m.buf) {
		kvfree(rd);
		ct_session_put(s);
		return ERR_PTR(-ENOMEM);
	}
	rd->m.s = s;
	rd->m.viewer = viewer;
	timer_setup(&rd->nudge, reader_nudge, 0);
	for (cpu = 0; cpu < s->cpus; cpu++) {
		r = ct_merge_ring_of(&rd->m, cpu);
		if (!r)
			continue;
		/*
		 * records before committed: a number that is too low is corrected by the
		 * header of the next packet.
		 */
		rd->m.cursor[cpu].records = READ_ONCE(r->status->records);
		rd->m.cursor[cpu].pos = ct_merge_committed(r);
		rd->m.cursor[cpu].idle_at = rd->m.cursor[cpu].pos;
		rd->m.cursor[cpu].last = s->start;
		for (i = 0; i < CT_LOST_REASONS; i++)
			rd->m.cursor[cpu].lost[i] = READ_ONCE(r->status->lost[i]);
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
		ct_control_extra_reader_gone(rd->m.s);
	ct_session_put(rd->m.s);
	kvfree(rd->m.buf);
	kvfree(rd);
}
