/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The packet that a thread writes into: memory that a reader, or the kernel, may look
 * at after any instruction.  The rules stand at the top of packet.c.
 */
#ifndef CT_PACKET_H
#define CT_PACKET_H

#include "backend/ops.h"
#include "record/append.h"
#include "record/thread.h"

/* What a thread without a packet has: it is full. */
extern struct ct_packet ct_no_packet;

/* Called when a thread has asked for a packet, and got one or none, signals blocked: a moment to look at what changed. */
extern void (*ct_packet_asked)(void);

void ct_packet_none(struct ct_thread *t);

/*
 * Begins a packet of size bytes at memory.  end: of the record that it is for, 0 if
 * that is not stamped yet.  Signals are blocked.
 */
void ct_packet_begin(struct ct_thread *t, void *memory, u32 size, u64 op, u64 end);

/*
 * Writes the record, or counts it as lost.  False, and neither, if nobody reads the thread's
 * memory any more.
 */
bool ct_packet_record(struct ct_thread *t, const struct ct_record *e);

/* Is there a record of this call in the thread's packet? */
bool ct_packet_holds(const struct ct_thread *t, u16 class, u64 op);

/*
 * The packet goes: notes which of the calls in flight have their record in it.  ending: the
 * op of the one that has none yet, 0 for none.  Signals are blocked.
 */
void ct_packet_leave(struct ct_thread *t, u64 ending);

/*
 * Around what changes the thread's memory.  Another thread may end the recording meanwhile
 * (ct_threads_leave): it sees that we are here, or we see that it was.  Between them t->life says
 * whether it was before.
 */
void ct_thread_changes(struct ct_thread *t);
void ct_thread_changed(struct ct_thread *t);

/* One more record of the thread is lost. */
void ct_packet_lose(struct ct_thread *t);

/* The upper half of a record's second word; the lower one is its op. */
#define CT_RECORD_WORD(depth, flags, result)				\
	((u32)(u8)(depth) | (u32)(u8)(flags) << 8 | (u32)(u16)(result) << 16)

#endif
