// SPDX-License-Identifier: GPL-2.0
/*
 * A reader: waits for records, for read() and poll(), and copies the lines that merge.c makes of
 * them to user space.
 *
 * A reader that waits looks at the rings every 10 ms, so writers know nothing of it.
 */
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include "read/merge.h"
#include "read/reader.h"
#include "control/control.h"
#include "core/session.h"

struct ct_reader {
	bool extra;			/* counted by ct_control_extra_reader() */
	u64 since;			/* ns: unread records wait since then; 0: there are none */
	struct ct_merge m; /* last: it ends with a flexible array */
};

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

/*
 * Is it time to make lines, or for the owner to read?  Without a watermark lines are made at each
 * look, because there may also be losses to report.  CT_IOC_WATERMARK may change it at any time.
 */
static bool reader_reached(struct ct_reader *rd, const struct ct_watermark *wm, bool mapped)
{
	const u64 want_bytes = READ_ONCE(wm->bytes), want_records = READ_ONCE(wm->records),
		  want_ns = READ_ONCE(wm->ns);
	u64 bytes = 0, records = 0, now = ktime_get_mono_fast_ns();
	const bool any = want_bytes || want_records || want_ns;
	struct ct_ring *r;
	u32 cpu;

	if (!any && !mapped)
		return true;
	for (cpu = 0; cpu < rd->m.s->cpus; cpu++) {
		r = ct_merge_ring_of(&rd->m, cpu);
		if (r)
			reader_count(&rd->m.cursor[cpu], r, mapped, &bytes, &records);
	}
	if (!bytes)
		rd->since = 0;
	else if (!rd->since)
		rd->since = now;
	return bytes && (!any || (want_bytes && bytes >= want_bytes) ||
			 (want_records && records >= want_records) ||
			 (want_ns && now - rd->since >= want_ns));
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

/* Makes lines.  0: there are some, or the session has ended and all of it was read. */
static int reader_fill(struct ct_reader *rd, bool nonblock, const struct ct_watermark *wm)
{
	bool ended;

	for (;;) {
		/* ended before the records: then the last ones are visible. */
		ended = smp_load_acquire(&rd->m.s->ended);
		if (nonblock || ended || reader_reached(rd, wm, false))
			ct_merge_fill(&rd->m, ended);
		if (rd->m.len || ended)
			return 0;
		if (nonblock)
			return -EAGAIN;
		schedule_timeout_interruptible(CT_READER_PERIOD);
		if (signal_pending(current))
			return -ERESTARTSYS;
	}
}

ssize_t ct_reader_read(struct ct_reader *rd, const struct file *file, char __user *to,
		       size_t room, const struct ct_watermark *wm)
{
	size_t n;
	int err;

	err = reader_watch(rd, file);
	if (!err && rd->m.sent == rd->m.len)
		err = reader_fill(rd, file->f_flags & O_NONBLOCK, wm);
	if (err)
		return err;
	n = min(room, rd->m.len - rd->m.sent);
	if (copy_to_user(to, rd->m.buf + rd->m.sent, n))
		return -EFAULT;
	rd->m.sent += n;
	rd->since = 0;
	return n;
}

__poll_t ct_reader_poll(struct ct_reader *rd, const struct file *file,
			const struct ct_watermark *wm, bool mapped)
{
	const __poll_t readable = EPOLLIN | EPOLLRDNORM;
	bool owner;

	if (reader_watch(rd, file))
		return EPOLLERR;
	owner = mapped && READ_ONCE(rd->m.s->owner) == file;
	if (!owner && rd->m.sent < rd->m.len)
		return readable;
	if (READ_ONCE(rd->m.s->ended))
		return readable | (mapped ? EPOLLHUP : 0);
	if (!reader_reached(rd, wm, owner))
		return 0;
	/* They may be too young to be merged, and then there is no line yet. */
	if (!owner)
		ct_merge_fill(&rd->m, false);
	return owner || rd->m.len ? readable : 0;
}

struct ct_reader *ct_reader_open(struct ct_session_state *s, const struct ct_viewer *viewer)
{
	struct ct_reader *rd = kvzalloc(struct_size(rd, m.cursor, s->cpus), GFP_KERNEL_ACCOUNT);

	if (rd)
		rd->m.buf = kvmalloc(CT_MERGE_BUFFER, GFP_KERNEL_ACCOUNT);
	if (!rd || !rd->m.buf) {
		kvfree(rd);
		ct_session_put(s);
		return ERR_PTR(-ENOMEM);
	}
	rd->m.s = s;
	rd->m.viewer = viewer;
	ct_merge_begin(&rd->m);
	return rd;
}

void ct_reader_close(struct ct_reader *rd)
{
	if (!rd)
		return;
	if (rd->extra)
		ct_control_extra_reader_gone(rd->m.s);
	ct_session_put(rd->m.s);
	kvfree(rd->m.buf);
	kvfree(rd);
}
