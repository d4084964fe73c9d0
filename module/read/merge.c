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

/* ----------------------------------------------------------- losses ------ */

static void merge_emit_lost(struct ct_merge *m, u32 cpu, u64 count, const char *reason)
{
	m->len += ct_json_lost(m->buf + m->len, m->s, cpu, count, reason, m->cursor[cpu].last,
			       ++m->event_id);
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
 * So many records were written before pos.  A packet's header says how many before it, except
 * those that an outer writer was writing at that moment (an interrupt may open a packet in the
 * middle of a record).  So a difference counts as a loss only after a gap; records that the header
 * left out are reported with one of the next packets, or at the session's end.
 */
static void merge_count_overwritten(struct ct_merge *m, u32 cpu, u64 records)
{
	struct ring_cursor *at = &m->cursor[cpu];

	if (records <= at->records)
		return;
	if (at->unreported)
		merge_emit_lost(m, cpu, records - at->records, "overwritten");
	at->records = records;
}

/* ---------------------------------------------------------- records ------ */

/* Find the next record of this CPU; sets have, stamp and class of its cursor. */
static void merge_find_next(struct ct_merge *m, u32 cpu, struct ct_ring *r)
{
	struct ring_cursor *at = &m->cursor[cpu];
	u64 limit, oldest, begin, pos, end, before, base, stamp;
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
		if (at->pos >= limit)
			break;
		p = (const void *)(r->data + (begin & r->mask));
		pos = at->pos == begin ? begin + CT_PACKET_HEAD : at->pos;
		before = READ_ONCE(p->op_base);
		base = READ_ONCE(p->ts_begin);
		end = limit;
		if (limit >= begin + r->subbuf_size)
			end = begin + READ_ONCE(p->content_size) / 8;
		stamp = *(const u64 *)(r->data + (pos & r->mask));
		if (merge_overtaken(r, begin))
			continue;
		if (at->pos == begin) {
			at->unreported |= at->gap;
			at->gap = false;
			merge_count_overwritten(m, cpu, before);
			at->pos = pos;
		}
		if (pos < end) {
			at->stamp = CT_UNSTAMP(base, stamp);
			at->class = CT_RECORD_CLASS(stamp);
			at->have = true;
			return;
		}
		if (limit < begin + r->subbuf_size)
			break;
		at->pos = begin + r->subbuf_size;
	}
	at->idle_at = limit;
}

/* Copy the record at the cursor.  Returns false if it was overwritten meanwhile. */
static bool merge_copy_record(struct ct_merge *m, u32 cpu, struct ct_ring *r)
{
	struct ring_cursor *at = &m->cursor[cpu];
	u64 begin = at->pos & ~(u64)(r->subbuf_size - 1);
	const u32 head = sizeof(struct ct_cpu_record);
	const struct ct_class *c = ct_class_find(at->class);
	u32 size = min_t(u64, begin + r->subbuf_size - at->pos, CT_RECORD_MAX), payload = 0;

	at->have = false;
	/* Only as much as the class may have: most records have 50 bytes, few 2 KiB. */
	if (c && !c->has_text)
		size = min_t(u32, size, head + c->fixed);
	memcpy(m->record, r->data + (at->pos & r->mask), size);
	if (merge_overtaken(r, begin))
		return false;
	if (c && size >= head)
		payload = ct_payload_size(c, (u8 *)m->record + head, size - head);
	if (WARN_ONCE(!c || size < head || (!payload && c->fixed),
		      "cudatrace: record of class %u\n", at->class)) {
		/* A broken ring, which should never happen: continue behind it. */
		at->pos = ct_merge_committed(r);
		return false;
	}
	at->pos += head + payload;
	at->last = at->stamp;
	at->records++;
	return true;
}

/*
 * For a CPU of which all records were read: a time (ns) before which it cannot publish
 * a record any more.
 */
static u64 merge_earliest(const struct ring_cursor *at, const struct ct_ring *r, u64 now)
{
	if (READ_ONCE(r->nest) || local64_read(&r->head) != at->idle_at)
		return at->last;
	return now - CT_SLACK_NS;
}

/*
 * Look again at each CPU without a record.  Returns a time before which none of those that have
 * none can publish one.
 */
static u64 merge_look(struct ct_merge *m, bool ended)
{
	u64 now = ct_clock_ns(), limit = U64_MAX;
	struct ring_cursor *at = m->cursor;
	struct ct_ring *r;
	u32 cpu;

	for (cpu = 0; cpu < m->s->cpus; cpu++, at++) {
		r = ct_merge_ring_of(m, cpu);
		if (!r || at->have)
			continue;
		/* No space for the lines about its losses: what it has may be the earliest. */
		if (m->len + CT_LINE_MAX > CT_MERGE_BUFFER)
			return 0;
		merge_emit_losses(m, cpu, r);
		merge_find_next(m, cpu, r);
		if (at->have)
			continue;
		if (ended)
			merge_count_overwritten(m, cpu, READ_ONCE(r->status->records));
		else
			limit = min(limit, merge_earliest(at, r, now));
	}
	return limit;
}

static u32 merge_first(const struct ct_merge *m)
{
	u32 cpu, best = m->s->cpus;

	for (cpu = 0; cpu < m->s->cpus; cpu++)
		if (m->cursor[cpu].have &&
		    (best == m->s->cpus || m->cursor[cpu].stamp < m->cursor[best].stamp))
			best = cpu;
	return best;
}

void ct_merge_fill(struct ct_merge *m, bool ended)
{
	bool looked = false;
	struct ct_ring *r;
	u64 limit = 0;
	u32 cpu;

	m->len = 0;
	m->sent = 0;
	while (m->len + 2 * CT_LINE_MAX <= CT_MERGE_BUFFER) {
		cpu = merge_first(m);
		/* If limit is out of date, it is computed again. */
		if (cpu == m->s->cpus || m->cursor[cpu].stamp > limit) {
			if (looked)
				break;
			limit = merge_look(m, ended);
			looked = true;
			continue;
		}
		r = ct_merge_ring_of(m, cpu);
		if (merge_copy_record(m, cpu, r))
			m->len += ct_json_record(m->buf + m->len, m->s, m->viewer,
						 (void *)m->record, m->cursor[cpu].last, cpu,
						 ++m->event_id);
		merge_find_next(m, cpu, r);
		looked = false;
		/* A CPU without a further record: limit must take it into account. */
		if (!m->cursor[cpu].have)
			limit = 0;
		if (signal_pending(current) && m->len)
			break;
		cond_resched();
	}
}

void ct_merge_begin(struct ct_merge *m)
{
	struct ring_cursor *at;
	struct ct_ring *r;
	u32 cpu;
	int i;

	for (cpu = 0; cpu < m->s->cpus; cpu++) {
		r = ct_merge_ring_of(m, cpu);
		if (!r)
			continue;
		at = &m->cursor[cpu];
		/*
		 * records before committed: a number that is too low is corrected by the
		 * header of the next packet.
		 */
		at->records = READ_ONCE(r->status->records);
		at->pos = ct_merge_committed(r);
		at->idle_at = at->pos;
		at->last = m->s->start;
		for (i = 0; i < CT_LOST_REASONS; i++)
			at->lost[i] = READ_ONCE(r->status->lost[i]);
	}
}
