/* SPDX-License-Identifier: GPL-2.0 */
/* Merging the rings of all CPUs into lines of text, in the order of time. */
#ifndef CT_MERGE_H
#define CT_MERGE_H

#include <linux/types.h>
#include "read/json.h"
#include "core/session.h"

/* Bytes of ct_merge.buf. */
#define CT_MERGE_BUFFER (128u << 10)

/* Where a reader is in one CPU's ring.  Times are in ns. */
struct ring_cursor {
	u64 pos; /* next position to read */
	u64 stamp; /* time of the record at pos, and its class; valid if have is true */
	u16 class;
	bool have;
	bool gap; /* packets between the last one and pos were overwritten */
	bool unreported; /* after a gap: losses that may not be reported yet */
	u64 last; /* time of the last record read */
	u64 idle_at; /* committed when the reader had read everything */
	u64 lost[CT_LOST_REASONS]; /* losses reported so far */
	u64 records; /* records before pos: read, or reported as lost */
};

struct ct_merge {
	struct ct_session_state *s;
	const struct ct_viewer *viewer;
	u64 event_id; /* number of the last line */
	size_t len, sent; /* bytes of buf: filled, and read by the program */
	u64 record[CT_RECORD_MAX / sizeof(u64)];
	char *buf;
	struct ring_cursor cursor[];
};

/* ct_merge_ring_of - the ring of this CPU, or NULL. */
static inline struct ct_ring *ct_merge_ring_of(const struct ct_merge *m, u32 cpu)
{
	return m->s->cpu[cpu] ? &m->s->cpu[cpu]->ring : NULL;
}

/* ct_merge_committed - where the records end that may be read. */
static inline u64 ct_merge_committed(struct ct_ring *r)
{
	/* committed before the records: pairs with the release in ct_ring_leave(). */
	return smp_load_acquire(&r->status->committed);
}

/*
 * ct_merge_begin - the first record is the next one that is written.  The caller has set s, viewer
 * and buf; all else is 0.
 *
 * ct_merge_fill - fill m->buf with lines, from its begin: none if there are no records, or if they
 * are too young to be merged.
 * @ended:	the session had ended before the call: then records are never too young
 * May sleep.
 */
void ct_merge_begin(struct ct_merge *m);
void ct_merge_fill(struct ct_merge *m, bool ended);

#endif
