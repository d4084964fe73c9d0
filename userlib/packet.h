/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The packet that a thread writes into: memory that a reader, or the kernel, may look
 * at after any instruction.  The rules stand at the top of packet.c.
 */
#ifndef CT_PACKET_H
#define CT_PACKET_H

#include "sink.h"
#include "writer.h"

/* What a thread without a packet has: it is full. */
extern struct ct_packet ct_no_packet;

void ct_packet_none(struct ct_thread *t);

/*
 * Begins a packet of size bytes at memory.  end: of the record that it is for, 0 if
 * that is not stamped yet.  Signals are blocked.
 */
void ct_packet_begin(struct ct_thread *t, void *memory, u32 size, u64 op, u64 end);

/* Writes the record, or counts it as lost. */
void ct_packet_record(struct ct_thread *t, const struct ct_record *e);

/* One more record of the thread is lost. */
void ct_packet_lose(struct ct_thread *t);

/* The second word of a record, but for its op. */
#define CT_RECORD_WORD(depth, flags, result)				\
	((u64)(u8)(depth) << 32 | (u64)(u8)(flags) << 40 | (u64)(u16)(result) << 48)

/* Whole words: bytes put together again stall the CPU. */
static inline void ct_packet_fill(struct ct_thread *t, struct ct_packet *p, u64 content,
				  u64 stamp, u64 word, u64 op, u64 duration,
				  const u64 *payload, u32 size)
{
	u64 *r = (u64 *)((u8 *)p + content / 8);

	_Static_assert(sizeof(struct ct_thread_record) == 24, "three words");
	if (unlikely(duration > CT_DURATION_MAX))
		duration = CT_DURATION_MAX;
	r[0] = stamp;
	r[1] = (u32)(op - t->op_base) | (word & ~0xffffffffull);
	r[2] = duration | (u64)*(const volatile u32 *)t->cpu << 48;
	for (u32 i = 0; i < size / 8; i++)
		r[3 + i] = payload[i];
}

/* The last step of a record: false if somebody wrote meanwhile. */
static inline bool ct_packet_commit(struct ct_packet *p, u64 content, u32 size, u64 end,
				    u64 ts)
{
	return ct_local_cmpxchg((u64 *)&p->ts_end, end, ts) &&
	       ct_local_cmpxchg((u64 *)&p->content_size, content,
				content + (sizeof(struct ct_thread_record) + size) * 8);
}

/*
 * The quick way of ct_packet_record() for a record with its time, where nothing is in
 * the way; false if something is.  c: with op set, and begin unless it is CT_F_INSTANT.
 */
static inline bool ct_packet_quick(struct ct_thread *t, struct ct_claim *c, u64 ts,
				   u16 class, u64 word, u64 begin, const u64 *payload,
				   u32 size)
{
	u64 stamp = CT_STAMP(ts, class);
	struct ct_packet *p;
	u64 content, end;
	bool ok = false;

	if (unlikely(t->writer || *(const volatile u32 *)t->accepting != t->session))
		return false;
	c->stamp = stamp;
	c->word = word | size;
	if (size)
		c->payload = payload;
	c->mark = CT_CLAIMED;
	barrier();
	t->writer = (u64)c;
	barrier();
	p = t->packet;
	content = *(volatile u64 *)&p->content_size;
	end = *(volatile u64 *)&p->ts_end;
	barrier();
	if (likely(ts >= end && ts <= t->deadline &&
		   content + (sizeof(struct ct_thread_record) + size) * 8 <= t->limit)) {
		ct_packet_fill(t, p, content, stamp, word, c->op, begin ? ts - begin : 0,
			       payload, size);
		ok = ct_packet_commit(p, content, size, end, ts);
		if (ok)
			t->last = ts;
	}
	barrier();
	t->writer = 0;
	barrier();
	return ok || *(volatile u64 *)&c->mark == CT_CLAIM_DONE;
}

#endif
