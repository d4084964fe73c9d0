// SPDX-License-Identifier: GPL-2.0
/*
 * Thread buffers: a thread writes packets by plain stores into memory that it shares with
 * the module, and the recorder reads them by CT_IOC_THREADBUF_READ.  The protocol is in
 * section 6 of cudatrace.h.
 *
 * This file keeps a session's list of thread buffers, and reads one after the other.  make.c
 * makes them, packet.c checks their content.
 *
 * A thread buffer is in its session's list until all of it was read or the session is
 * freed.  The list has one reference to it, its mapping a second one.
 */
#include <linux/kref.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include "threadbuf/threadbuf.h"
#include "threadbuf/packet.h"
#include "core/limit.h"
#include "core/session.h"
#include "base/clock.h"
#include "base/pages.h"

/*
 * Remove a thread buffer, the first of its stream, from the list.  Its successor continues
 * the stream.  The caller holds lock and read.
 */
static void threadbuf_remove(struct ct_threadbufs *threadbufs, struct ct_threadbuf_state *tb)
{
	struct ct_threadbuf_state *next = tb->next;

	if (next) {
		next->previous = NULL;
		next->last = max(next->last, tb->last);
		next->seq = tb->seq;
		next->lost = min_t(u64, tb->lost + tb->lost_claimed, CT_THREADBUF_LOST_MAX);
	}
	list_del(&tb->node);
	threadbufs->count--;
	ct_threadbuf_put(tb);
}

/* -------------------------------------------------------------- reading ---- */
/*
 * Emit the next packet, or the in-flight calls, of this thread buffer into threadbufs->buf.
 * Returns 1 and fills arg if there is one, else 0.  *finished: all of it was read.
 */
static int threadbuf_emit(struct ct_threadbuf_state *tb, struct ct_session_state *s,
			  struct ct_threadbuf_read *arg, bool *finished)
{
	bool all = arg->flags & CT_THREADBUF_READ_ALL;
	/* dead before the content: pairs with the release in make_unmapped(). */
	bool closed = smp_load_acquire(&tb->dead) || READ_ONCE(s->ended);

	if (!closed && ct_threadbuf_left(tb))
		ct_threadbuf_close(tb, ct_clock_now());
	*finished = false;
	arg->pid = tb->pid;
	arg->stream = tb->stream;
	arg->what = CT_THREADBUF_PACKET;
	arg->bytes = 0;
	/*
	 * After the session's end one round of all sub-buffers is enough: a thread that
	 * goes on writing must not keep the reader busy for ever.
	 */
	if (!READ_ONCE(s->ended) || tb->late++ <= tb->subbufs)
		arg->bytes = ct_threadbuf_next_packet(tb, s, all);
	if (arg->bytes)
		return 1;
	/* In-flight calls of a thread that is alive are emitted at the very end alone. */
	if (!closed || (!smp_load_acquire(&tb->dead) && !all))
		return 0;
	ct_threadbuf_count_cut(tb);
	if (!tb->next)
		ct_threadbuf_count_inflight(tb, s);
	if (!tb->next && tb->lost + tb->lost_claimed != tb->lost_reported) {
		/*
		 * Throttled: the thread buffer stays, and counts for its user's quota, until
		 * the rate allows this packet.
		 */
		if (!READ_ONCE(s->ended) &&
		    !ct_limit_charge_late(s, &tb->producer, ktime_get_mono_fast_ns(),
					  CT_PACKET_HEAD, 1))
			return 0;
		/* Losses that no later packet reports. */
		arg->bytes = ct_threadbuf_loss_packet(tb, s);
		return 1;
	}
	*finished = true;
	if (tb->next)
		return 0;
	arg->what = CT_THREADBUF_INFLIGHT;
	arg->bytes = ct_threadbuf_inflight_calls(tb, s);
	return arg->bytes != 0;
}

/*
 * The next thread buffer that may be read, with a reference; NULL if none of the next *tries
 * in the list may.  *tries is lowered for each one that was looked at.
 */
static struct ct_threadbuf_state *threadbuf_next(struct ct_threadbufs *threadbufs, u32 *tries)
{
	struct ct_threadbuf_state *next = NULL;

	mutex_lock(&threadbufs->lock);
	while (*tries) {
		--*tries;
		next = list_first_entry_or_null(&threadbufs->list, struct ct_threadbuf_state, node);
		if (!next)
			break;
		/* To the list's end, so that a busy thread does not delay the others. */
		list_move_tail(&next->node, &threadbufs->list);
		if (!next->previous) {
			kref_get(&next->ref);
			break;
		}
		next = NULL;
	}
	mutex_unlock(&threadbufs->lock);
	return next;
}

int ct_threadbuf_read(struct ct_session_state *s, struct ct_threadbuf_read *arg)
{
	struct ct_threadbufs *threadbufs = s->threadbufs;
	struct ct_threadbuf_state *tb;
	bool finished;
	int emitted = 0;
	u32 tries;

	if (!threadbufs)
		return -ENOENT;
	if (arg->len < CT_THREADBUF_SUBBUF_MAX)
		return -ENOSPC;
	mutex_lock(&threadbufs->read);
	/* Twice: a successor is read only after the thread buffer before it has finished. */
	tries = 2 * READ_ONCE(threadbufs->count);
	while (!emitted) {
		tb = threadbuf_next(threadbufs, &tries);
		if (!tb)
			break;
		emitted = threadbuf_emit(tb, s, arg, &finished);
		if (finished) {
			mutex_lock(&threadbufs->lock);
			threadbuf_remove(threadbufs, tb);
			mutex_unlock(&threadbufs->lock);
		}
		ct_threadbuf_put(tb);
		cond_resched();
	}
	if (emitted &&
	    copy_to_user((void __user *)(unsigned long)arg->buf, threadbufs->buf, arg->bytes))
		emitted = -EFAULT;
	mutex_unlock(&threadbufs->read);
	return emitted ? min(emitted, 0) : -ENOENT;
}

/* ------------------------------------------------------------ the session -- */
bool ct_threadbufs_unread(struct ct_threadbufs *threadbufs)
{
	struct ct_threadbuf_state *tb;
	bool found = false;

	if (!threadbufs)
		return false;
	mutex_lock(&threadbufs->lock);
	list_for_each_entry(tb, &threadbufs->list, node)
		found |= ct_threadbuf_unread(tb);
	mutex_unlock(&threadbufs->lock);
	return found;
}

/* A new number for the clock page; 0 means that no thread buffers are read. */
static u32 threadbuf_number_new(void)
{
	static atomic_t numbers;
	u32 number;

	do
		number = atomic_inc_return(&numbers);
	while (!number);
	return number;
}

void ct_threadbufs_close(struct ct_threadbufs *threadbufs)
{
	struct ct_threadbuf_state *tb;
	u64 now;

	if (!threadbufs)
		return;
	mutex_lock(&threadbufs->lock);
	now = ct_clock_now();
	list_for_each_entry(tb, &threadbufs->list, node)
		ct_threadbuf_close(tb, now);
	WRITE_ONCE(threadbufs->session, threadbuf_number_new());
	mutex_unlock(&threadbufs->lock);
}

u32 ct_threadbufs_session(const struct ct_threadbufs *threadbufs)
{
	return threadbufs ? READ_ONCE(threadbufs->session) : 0;
}

struct ct_threadbufs *ct_threadbufs_new(void)
{
	struct ct_threadbufs *threadbufs = kzalloc(sizeof(*threadbufs), GFP_KERNEL_ACCOUNT);

	if (!threadbufs)
		return NULL;
	threadbufs->buf = ct_pages_alloc(CT_THREADBUF_SUBBUF_MAX, NUMA_NO_NODE);
	if (!threadbufs->buf) {
		kfree(threadbufs);
		return NULL;
	}
	mutex_init(&threadbufs->lock);
	mutex_init(&threadbufs->read);
	xa_init_flags(&threadbufs->streams_of, XA_FLAGS_ACCOUNT);
	INIT_LIST_HEAD(&threadbufs->list);
	threadbufs->session = threadbuf_number_new();
	return threadbufs;
}

void ct_threadbufs_free(struct ct_threadbufs *threadbufs)
{
	struct ct_threadbuf_state *tb, *next;

	if (!threadbufs)
		return;
	list_for_each_entry_safe(tb, next, &threadbufs->list, node) {
		list_del(&tb->node);
		ct_threadbuf_put(tb);
	}
	xa_destroy(&threadbufs->streams_of);
	vfree(threadbufs->buf);
	kfree(threadbufs);
}
