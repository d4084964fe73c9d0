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
#include <linux/sched/signal.h>
#include <linux/string.h>
#include "read/json.h"
#include "read/merge.h"
#include "core/registry.h"
#include "core/session.h"

#define CT_SLACK_NS 1000000ull

/* Was the packet at begin overwritten while the caller copied from it? */
static bool merge_overtaken(struct ct_ring *r, u64 begin)
{
	/* The copy before oldest: pairs with the smp_wmb() in ring_overwrite_oldest(). */
	smp_rmb();
	return READ_ONCE(r->status->oldest) > begin;
}

static void merge_emit_lost(struct ct_merge *m, u32 cpu, u64 count, const char *reason)
{
	struct ring_cursor *at = &m->cursor[cpu];

	m->len += ct_json_lost(m->buf + m->len, m->s, cpu, count, reason,
			       max(at->last, m->s->start), ++m->event_id);
}

/* A line for each reason for which records of this CPU were lost since the last report. */
static void merge_emit_losses(struct ct_merge *m, u32 cpu, struct ct_ring *r)
{
	static const char *const words[] = {
#define CT_ROW(id, word) [CT_LOST_##id] = word,
		CT_LOSSES(CT_ROW)
#undef CT_ROW
	};
	struct ring_cursor *at = &m->cursor[cpu];
	u64 lost;
	int i;

	for (i = 0; i < CT_LOST_REASONS; i++) {
		lost = READ_ONCE(r->status->lost[i]);
		if (lost != at->lost[i])
			merge_emit_lost(m, cpu, lost - at->lost[i], words[i]);
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
static bool merge_enter_packet(struct ct_merge *m, u32 cpu, struct ct_ring *r, u64 begin)
{
	const struct ct_packet *p = (const void *)(r->data + (begin & r->mask));
	struct ring_cursor *at = &m->cursor[cpu];
	u64 records = READ_ONCE(p->op_base);

	if (merge_overtaken(r, begin))
		return false;
	at->unreported |= at->gap;
	at->gap = false;
	if (records > at->records) {
		if (at->unreported)
			merge_emit_lost(m, cpu, records - at->records, "overwritten");
		at->records = records;
	}
	at->pos = begin + CT_PACKET_HEAD;
	return true;
}

/* The session has ended and all records were read: report the losses that are missing. */
void ct_merge_last_losses(struct ct_merge *m)
{
	struct ct_ring *r;
	u64 records;
	u32 cpu;

	for (cpu = 0; cpu < m->s->cpus && m->len + CT_LINE_MAX <= CT_MERGE_BUFFER; cpu++) {
		r = ct_merge_ring_of(m, cpu);
		if (!r || !m->cursor[cpu].unreported)
			continue;
		records = READ_ONCE(r->status->records);
		if (records > m->cursor[cpu].records)
			merge_emit_lost(m, cpu, records - m->cursor[cpu].records, "overwritten");
		m->cursor[cpu].unreported = false;
	}
}

/* Find the next record of this CPU; sets have and stamp of its cursor. */
static void merge_find_next(struct ct_merge *m, u32 cpu, struct ct_ring *r)
{
	struct ring_cursor *at = &m->cursor[cpu];
	u64 limit, oldest, begin, end, base, stamp;
	const struct ct_packet *p;

	for (;;) {
		limit = ct_merge_committed(r);
		oldest = READ_ONCE(r->status->oldest);
		begin = at->pos & ~(u64)(r->subbuf_size - 1);
		if (begin < oldest) {
			begin = oldest;
			at->pos = oldest;
			at->gap = true;
		}
		if (at->pos >= limit) {
			at->idle_at = limit;
			return;
		}
		if (at->pos == begin && !merge_enter_packet(m, cpu, r, begin))
			continue;
		p = (const void *)(r->data + (begin & r->mask));
		end = limit;
		if (limit >= begin + r->subbuf_size)
			end = begin + READ_ONCE(p->content_size) / 8;
		base = READ_ONCE(p->ts_begin);
		if (at->pos < end)
			stamp = *(const u64 *)(r->data + (at->pos & r->mask));
		if (merge_overtaken(r, begin))
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
static u32 merge_copy_record(struct ct_merge *m, u32 cpu, struct ct_ring *r)
{
	struct ring_cursor *at = &m->cursor[cpu];
	u64 begin = at->pos & ~(u64)(r->subbuf_size - 1);
	u32 room = min_t(u64, begin + r->subbuf_size - at->pos, CT_RECORD_MAX);
	struct ct_cpu_record *rec = (void *)m->record;
	const struct ct_class *c;
	const u8 *from;
	u32 payload, size;

	at->have = false;
	if (room < sizeof(*rec))
		return 0;
	from = r->data + (at->pos & r->mask);
	memcpy(rec, from, sizeof(*rec));
	if (merge_overtaken(r, begin))
		return 0;
	c = ct_class_find(CT_RECORD_CLASS(rec->stamp));
	/* Copy only as much as the class may have: most records have 50 bytes, few 2 KiB. */
	size = c ? sizeof(*rec) + (c->has_text ? CT_RECORD_MAX : c->fixed) : 0;
	size = min(size, room);
	if (size > sizeof(*rec))
		memcpy(rec + 1, from + sizeof(*rec), size - sizeof(*rec));
	if (merge_overtaken(r, begin))
		return 0;
	payload = c ? ct_payload_size(c, rec + 1, room - sizeof(*rec)) : 0;
	if (WARN_ONCE(!c || (!payload && c->fixed), "cudatrace: record of class %u\n",
		      CT_RECORD_CLASS(rec->stamp))) {
		/* A broken ring, which should never happen: continue behind it. */
		at->pos = ct_merge_committed(r);
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
static u64 merge_earliest(struct ct_merge *m, u32 cpu, struct ct_ring *r, u64 now)
{
	if (m->s->ended)
		return U64_MAX;
	if (READ_ONCE(r->nest) || local64_read(&r->head) != m->cursor[cpu].idle_at)
		return m->cursor[cpu].last;
	return now - CT_SLACK_NS;
}

/*
 * Fill the buffer with lines.  Returns true if records remain: they are too young to be
 * merged yet, or the buffer is full.
 */
bool ct_merge_fill(struct ct_merge *m)
{
	u64 now, limit = 0;
	struct ct_ring *r;
	u32 cpu, best, size;
	bool fresh = false;

	m->len = 0;
	m->sent = 0;
	while (m->len + 2 * CT_LINE_MAX <= CT_MERGE_BUFFER) {
		if (!fresh) {
			now = ct_clock_ns();
			limit = U64_MAX;
			for (cpu = 0; cpu < m->s->cpus; cpu++) {
				r = ct_merge_ring_of(m, cpu);
				if (!r || m->cursor[cpu].have)
					continue;
				if (m->len + 2 * CT_LINE_MAX > CT_MERGE_BUFFER)
					return true;
				merge_emit_losses(m, cpu, r);
				merge_find_next(m, cpu, r);
				if (!m->cursor[cpu].have)
					limit = min(limit, merge_earliest(m, cpu, r, now));
			}
		}
		best = m->s->cpus;
		for (cpu = 0; cpu < m->s->cpus; cpu++)
			if (m->cursor[cpu].have &&
			    (best == m->s->cpus || m->cursor[cpu].stamp < m->cursor[best].stamp))
				best = cpu;
		if (best == m->s->cpus)
			return false;
		if (m->cursor[best].stamp > limit) {
			/* limit may be out of date: compute it again. */
			if (!fresh)
				return true;
			fresh = false;
			continue;
		}
		r = ct_merge_ring_of(m, best);
		size = merge_copy_record(m, best, r);
		if (size)
			m->len += ct_json_record(m->buf + m->len, m->s, m->viewer,
						 (void *)m->record, m->cursor[best].last, best,
						 ++m->event_id);
		merge_find_next(m, best, r);
		/* If this CPU has no further record, limit must take it into account. */
		fresh = m->cursor[best].have;
		if (signal_pending(current) && m->len)
			break;
		cond_resched();
	}
	return true;
}
