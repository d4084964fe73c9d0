// SPDX-License-Identifier: GPL-2.0
/*
 * Thread buffers: a thread writes packets by plain stores into memory that it shares with
 * the module, and the recorder reads them by CT_IOC_THREADBUF_READ.  The protocol is in
 * section 6 of cudatrace.h.
 *
 * This file makes thread buffers, keeps a session's list of them, and reads one after the
 * other.  packet.c checks their content.
 *
 * A thread buffer is in its session's list until all of it was read or the session is
 * freed.  The list has one reference to it, its mapping a second one.
 *
 * The mapping may live longer than the process: a child made by clone(CLONE_VM) has the same
 * memory.  So a thread buffer is closed when its process ends, which the kernel tells in the
 * queue that also wakes those who wait for a pidfd.
 */
#include <linux/anon_inodes.h>
#include <linux/cred.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/kref.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include "threadbuf/threadbuf.h"
#include "threadbuf/packet.h"
#include "core/limit.h"
#include "core/session.h"
#include "base/clock.h"
#include "base/pages.h"

static void threadbuf_free(struct kref *ref)
{
	struct ct_threadbuf_state *tb = container_of(ref, struct ct_threadbuf_state, ref);

	vfree(tb->memory);
	put_pid(tb->process);
	kfree(tb);
}

static void threadbuf_put(struct ct_threadbuf_state *tb)
{
	kref_put(&tb->ref, threadbuf_free);
}

/* ----------------------------------------------------- making and mapping --- */
static int threadbuf_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct ct_threadbuf_state *tb = file->private_data;

	if (tb->mapped || vma->vm_pgoff || vma->vm_end - vma->vm_start != tb->size)
		return -EINVAL;
	tb->mapped = true;
	/* Not inherited by fork(): a child needs thread buffers of its own. */
	return ct_pages_map(vma, tb->memory, tb->size, true);
}

/* It is not mapped any more, or could not be mapped.  Drops the mapping's reference. */
static void threadbuf_unmapped(struct ct_threadbuf_state *tb)
{
	remove_wait_queue(&tb->process->wait_pidfd, &tb->exit);
	/* The thread's stores before dead: pairs with the reader's acquire. */
	smp_store_release(&tb->dead, true);
	threadbuf_put(tb);
}

static int threadbuf_release(struct inode *inode, struct file *file)
{
	threadbuf_unmapped(file->private_data);
	return 0;
}

/*
 * A thread of the process has ended; is it the last one?  With locks of the kernel held and
 * interrupts disabled.  A process whose memory ends with it has no entry in the queue any more.
 */
static int threadbuf_on_exit(struct wait_queue_entry *entry, unsigned int mode, int flags,
			     void *key)
{
	struct ct_threadbuf_state *tb = container_of(entry, struct ct_threadbuf_state, exit);
	struct task_struct *leader;
	bool ended;

	rcu_read_lock();
	leader = pid_task(tb->process, PIDTYPE_TGID);
	ended = !leader || !atomic_read(&leader->signal->live);
	rcu_read_unlock();
	if (ended)
		ct_threadbuf_close_last(tb, ct_clock_ns());
	return 0;
}

static const struct file_operations threadbuf_fops = {
	.owner = THIS_MODULE,
	.mmap = threadbuf_mmap,
	.release = threadbuf_release,
};

/* A new thread buffer without its memory.  The caller has the only reference. */
static struct ct_threadbuf_state *threadbuf_alloc(const struct ct_threadbuf_new *arg)
{
	struct ct_threadbuf_state *tb =
		kzalloc(struct_size(tb, content, arg->subbufs), GFP_KERNEL_ACCOUNT);
	u32 i;

	if (!tb)
		return NULL;
	kref_init(&tb->ref);
	spin_lock_init(&tb->closing);
	for (i = 0; i < arg->subbufs; i++)
		tb->content[i] = arg->subbuf_size;
	tb->process = get_pid(task_tgid(current));
	init_waitqueue_func_entry(&tb->exit, threadbuf_on_exit);
	tb->subbufs = arg->subbufs;
	tb->subbuf_size = arg->subbuf_size;
	tb->size = CT_THREADBUF_DATA + (u64)arg->subbufs * arg->subbuf_size;
	tb->offset = CT_PACKET_HEAD;
	tb->pid = current->tgid;
	tb->tid = current->pid;
	tb->uid = from_kuid(&init_user_ns, current_uid());
	ct_limit_producer(&tb->producer);
	rcu_read_lock();
	tb->ppid = rcu_dereference(current->real_parent)->tgid;
	rcu_read_unlock();
	preempt_disable();
	tb->start = ct_clock_ns();
	preempt_enable();
	tb->last = tb->start;
	return tb;
}

/* Add a user's thread buffers in this list to *bytes and *count. */
static void threadbuf_add_up(const struct list_head *list, u32 uid, u64 *bytes, u32 *count)
{
	struct ct_threadbuf_state *tb;

	list_for_each_entry(tb, list, node) {
		if (tb->uid == uid) {
			*bytes += tb->size;
			++*count;
		}
	}
}

/*
 * Allocate the memory if the user's quota allows it.  The quota is charged before the
 * allocation (list "making"), because many threads may allocate at the same time.
 * Returns 0, -EDQUOT or -ENOMEM.
 */
static int threadbuf_alloc_memory(struct ct_threadbufs *threadbufs, struct ct_threadbuf_state *tb)
{
	u64 bytes = tb->size;
	u32 count = 1;

	mutex_lock(&threadbufs->lock);
	threadbuf_add_up(&threadbufs->list, tb->uid, &bytes, &count);
	threadbuf_add_up(&threadbufs->making, tb->uid, &bytes, &count);
	if (bytes > CT_THREADBUF_QUOTA || count > CT_THREADBUF_QUOTA_COUNT) {
		mutex_unlock(&threadbufs->lock);
		return -EDQUOT;
	}
	list_add(&tb->node, &threadbufs->making);
	mutex_unlock(&threadbufs->lock);
	/* Zeroed, so that the thread does not see old data of the kernel. */
	tb->memory = __vmalloc(tb->size, CT_GFP_USER_SIZED);
	if (tb->memory)
		return 0;
	mutex_lock(&threadbufs->lock);
	list_del(&tb->node);
	mutex_unlock(&threadbufs->lock);
	return -ENOMEM;
}

static void threadbuf_fill_head(struct ct_threadbuf_state *tb, struct ct_session_state *s)
{
	*ct_threadbuf_head_of(tb) = (struct ct_threadbuf_head){
		.magic = CT_MAGIC,
		.abi = CT_ABI_VERSION,
		.stream = tb->stream,
		.session = s->threadbufs->session,
		.subbufs = tb->subbufs,
		.subbuf_size = tb->subbuf_size,
		.pid = tb->pid,
		.tid = tb->tid,
	};
	memcpy(ct_threadbuf_head_of(tb)->uuid, s->facts->uuid, sizeof(s->facts->uuid));
}

/* Does the clock page say that thread buffers of this session are read? */
static bool threadbuf_accepts(const struct ct_session_state *s)
{
	u32 session = ct_threadbufs_session(s->threadbufs);

	return session && READ_ONCE(ct_clock_page->session) == session;
}

/* The thread buffer of this thread that the new one, tb, replaces; or NULL. */
static struct ct_threadbuf_state *threadbuf_find_previous(struct ct_threadbufs *threadbufs,
							  const struct ct_threadbuf_state *tb,
							  u32 stream)
{
	struct ct_threadbuf_state *old;

	if (stream == CT_THREADBUF_NONE)
		return NULL;
	list_for_each_entry(old, &threadbufs->list, node)
		if (old->stream == stream && !old->next && old->process == tb->process &&
		    old->tid == tb->tid && old->uid == tb->uid)
			return old;
	return NULL;
}

/*
 * Move a new thread buffer from the list "making" to the list that is read.  Returns 0, or
 * -ENODATA if thread buffers are not accepted any more.  A pause or a filter first says so
 * in the clock page, then closes the thread buffers in the list: so no open one is added
 * after that.
 */
static int threadbuf_add(struct ct_session_state *s, struct ct_threadbuf_state *tb, u32 stream)
{
	struct ct_threadbufs *threadbufs = s->threadbufs;
	struct ct_threadbuf_state *previous;

	mutex_lock(&threadbufs->lock);
	if (!threadbuf_accepts(s)) {
		list_del(&tb->node);
		mutex_unlock(&threadbufs->lock);
		return -ENODATA;
	}
	previous = threadbuf_find_previous(threadbufs, tb, stream);
	if (previous) {
		previous->next = tb;
		tb->previous = previous;
		tb->stream = previous->stream;
		tb->start = previous->start;
	} else {
		tb->stream = threadbufs->streams++;
	}
	threadbuf_fill_head(tb, s);
	kref_get(&tb->ref);
	add_wait_queue(&tb->process->wait_pidfd, &tb->exit);
	list_move_tail(&tb->node, &threadbufs->list);
	threadbufs->count++;
	mutex_unlock(&threadbufs->lock);
	return 0;
}

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
		next->lost = tb->lost + tb->lost_claimed;
	}
	list_del(&tb->node);
	threadbufs->count--;
	threadbuf_put(tb);
}

/*
 * Map the thread buffer into the current process.  Consumes the caller's reference, also on
 * failure.  Returns the address or a negative errno.
 */
static unsigned long threadbuf_map(struct ct_threadbuf_state *tb)
{
	struct file *file =
		anon_inode_getfile("[cudatrace-threadbuf]", &threadbuf_fops, tb, O_RDWR);
	unsigned long address;

	if (IS_ERR(file)) {
		threadbuf_unmapped(tb);
		return PTR_ERR(file);
	}
	address = vm_mmap(file, 0, tb->size, PROT_READ | PROT_WRITE, MAP_SHARED, 0);
	fput(file);
	return address;
}

int ct_threadbuf_make(struct ct_threadbuf_new *arg)
{
	struct ct_session_state *s;
	struct ct_threadbuf_state *tb;
	unsigned long address;
	u64 size;
	int err;

	if (!is_power_of_2(arg->subbuf_size) || !is_power_of_2(arg->subbufs) ||
	    arg->subbuf_size < CT_THREADBUF_SUBBUF_MIN ||
	    arg->subbuf_size > CT_THREADBUF_SUBBUF_MAX || arg->subbufs < 2 ||
	    arg->subbufs > CT_THREADBUF_SUBBUFS_MAX || arg->subbuf_size % PAGE_SIZE)
		return -EINVAL;
	s = ct_session_get();
	if (!s || !threadbuf_accepts(s)) {
		err = -ENODATA;
		goto out;
	}
	err = -ENOMEM;
	tb = threadbuf_alloc(arg);
	if (!tb)
		goto out;
	err = threadbuf_alloc_memory(s->threadbufs, tb);
	if (!err)
		err = threadbuf_add(s, tb, arg->previous);
	if (err) {
		threadbuf_put(tb);
		goto out;
	}
	/* If mapping fails, the reader removes it like one that was unmapped before its use. */
	size = tb->size;
	address = threadbuf_map(tb);
	if (IS_ERR_VALUE(address)) {
		err = address;
		goto out;
	}
	arg->address = address;
	arg->length = size;
out:
	ct_session_put(s);
	return err;
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
	/* dead before the content: pairs with the release in threadbuf_release(). */
	bool closed = smp_load_acquire(&tb->dead) || READ_ONCE(s->ended);

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
		threadbuf_put(tb);
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
	preempt_disable();
	now = ct_clock_ns();
	preempt_enable();
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
	threadbufs->buf = __vmalloc(CT_THREADBUF_SUBBUF_MAX, CT_GFP_USER_SIZED);
	if (!threadbufs->buf) {
		kfree(threadbufs);
		return NULL;
	}
	mutex_init(&threadbufs->lock);
	mutex_init(&threadbufs->read);
	INIT_LIST_HEAD(&threadbufs->list);
	INIT_LIST_HEAD(&threadbufs->making);
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
		threadbuf_put(tb);
	}
	vfree(threadbufs->buf);
	kfree(threadbufs);
}
