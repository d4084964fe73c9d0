// SPDX-License-Identifier: GPL-2.0
/*
 * Thread buffers: a thread writes packets into memory that it shares with us, by plain stores;
 * the recorder asks for them.  The protocol stands in section 6 of cudatrace.h.
 *
 * Here is what makes thread buffers, lists them and asks one after the other; what a thread buffer's
 * memory holds is packet.c's.
 *
 * A thread buffer is in its session's list from its making until all of it was read or the
 * session is freed, and has a second reference while it is mapped.
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

static void threadbuf_free(struct kref *ref)
{
	struct ct_threadbuf_state *tb = container_of(ref, struct ct_threadbuf_state, ref);

	vfree(tb->memory);
	kfree(tb);
}

static void threadbuf_put(struct ct_threadbuf_state *tb)
{
	kref_put(&tb->ref, threadbuf_free);
}

/* ------------------------------------------------------------ its making --- */
static int threadbuf_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct ct_threadbuf_state *tb = file->private_data;

	if (tb->mapped || vma->vm_pgoff || vma->vm_end - vma->vm_start != tb->size)
		return -EINVAL;
	tb->mapped = true;
	/* A child is another process: it gets a thread buffer of its own. */
	return ct_pages_map(vma, tb->memory, tb->size, true);
}

static int threadbuf_release(struct inode *inode, struct file *file)
{
	struct ct_threadbuf_state *tb = file->private_data;

	/* All its stores before this: pairs with the reader's acquire. */
	smp_store_release(&tb->dead, true);
	threadbuf_put(tb);
	return 0;
}

static const struct file_operations threadbuf_fops = {
	.owner = THIS_MODULE,
	.mmap = threadbuf_mmap,
	.release = threadbuf_release,
};

/* Without its memory; the caller's is the only reference. */
static struct ct_threadbuf_state *threadbuf_alloc(const struct ct_threadbuf_new *arg)
{
	struct ct_threadbuf_state *tb =
		kzalloc(struct_size(tb, content, arg->subbufs), GFP_KERNEL_ACCOUNT);

	if (!tb)
		return NULL;
	kref_init(&tb->ref);
	tb->subbufs = arg->subbufs;
	tb->subbuf_size = arg->subbuf_size;
	tb->size = CT_THREADBUF_DATA + (u64)arg->subbufs * arg->subbuf_size;
	tb->offset = CT_PACKET_HEAD;
	tb->pid = current->tgid;
	tb->tid = current->pid;
	tb->uid = from_kuid(&init_user_ns, current_uid());
	ct_limit_who(&tb->who);
	rcu_read_lock();
	tb->ppid = rcu_dereference(current->real_parent)->tgid;
	rcu_read_unlock();
	preempt_disable();
	tb->start = ct_clock_ns();
	preempt_enable();
	tb->last = tb->start;
	return tb;
}

/* What a user's thread buffers in this list take of his quota. */
static void threadbuf_add_up(const struct list_head *list, u32 uid, u64 *bytes, u32 *count)
{
	struct ct_threadbuf_state *l;

	list_for_each_entry(l, list, node) {
		if (l->uid == uid) {
			*bytes += l->size;
			++*count;
		}
	}
}

/*
 * Its memory, if its user may have that much: asked before there is any, for many
 * threads may want some at once.  -EDQUOT, -ENOMEM.
 */
static int threadbuf_memory(struct ct_threadbufs *threadbufs, struct ct_threadbuf_state *tb)
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
	/* Zeroed, so nothing old leaks. */
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

static bool threadbuf_accepts(const struct ct_session_state *s)
{
	u32 session = ct_threadbufs_session(s->threadbufs);

	return session && READ_ONCE(ct_clock_page->session) == session;
}

/* The thread buffer of this thread that the new one takes the place of, or NULL. */
static struct ct_threadbuf_state *threadbuf_find_previous(struct ct_threadbufs *threadbufs,
							  const struct ct_threadbuf_state *tb,
							  u32 stream)
{
	struct ct_threadbuf_state *l;

	if (stream == CT_THREADBUF_NONE)
		return NULL;
	list_for_each_entry(l, &threadbufs->list, node)
		if (l->stream == stream && !l->next && l->pid == tb->pid && l->tid == tb->tid &&
		    l->uid == tb->uid)
			return l;
	return NULL;
}

/*
 * From those being made to those that are read.  -ENODATA if none is taken any more: who
 * closes thread buffers has said so before, and closes what is in the list.
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
	list_move_tail(&tb->node, &threadbufs->list);
	threadbufs->count++;
	mutex_unlock(&threadbufs->lock);
	return 0;
}

/*
 * Out of the list; it is the first of its stream.  Who comes after it goes on where it was.
 * The caller holds lock and read.
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

/* Its one mapping.  The thread buffer's reference goes to the file, whatever happens. */
static unsigned long threadbuf_map(struct ct_threadbuf_state *tb)
{
	struct file *file =
		anon_inode_getfile("[cudatrace-thread buffer]", &threadbuf_fops, tb, O_RDWR);
	unsigned long address;

	if (IS_ERR(file)) {
		tb->dead = true;
		threadbuf_put(tb);
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
	err = threadbuf_memory(s->threadbufs, tb);
	if (!err)
		err = threadbuf_add(s, tb, arg->previous);
	if (err) {
		threadbuf_put(tb);
		goto out;
	}
	/* From here on it ends by itself: as one that was unmapped before it was used. */
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
/* What this thread buffer has to tell: 1 if something, and arg says what. */
static int threadbuf_tell(struct ct_threadbuf_state *tb, struct ct_session_state *s,
			  struct ct_threadbuf_read *arg, bool *finished)
{
	bool all = arg->flags & CT_THREADBUF_READ_ALL;
	bool closed = smp_load_acquire(&tb->dead) || READ_ONCE(s->ended);

	*finished = false;
	arg->pid = tb->pid;
	arg->stream = tb->stream;
	arg->what = CT_THREADBUF_PACKET;
	arg->bytes = 0;
	/* A thread that goes on writing after the end has told enough. */
	if (!READ_ONCE(s->ended) || tb->late++ <= tb->subbufs)
		arg->bytes = ct_threadbuf_next_packet(tb, s, all);
	if (arg->bytes)
		return 1;
	/* Threads that live are told of at the very end. */
	if (!closed || (!smp_load_acquire(&tb->dead) && !all))
		return 0;
	ct_threadbuf_count_cut(tb);
	if (!tb->next)
		ct_threadbuf_count_open(tb, s);
	if (!tb->next && tb->lost + tb->lost_claimed != tb->lost_reported) {
		/* It waits for its rate, and takes of its user's quota of thread buffers till then. */
		if (!READ_ONCE(s->ended) &&
		    !ct_limit_throttle(s, &tb->who, ktime_get_mono_fast_ns(), CT_PACKET_HEAD, 1))
			return 0;
		/* Losses that no record came after: a packet that says nothing else. */
		arg->bytes = ct_threadbuf_loss_packet(tb, s);
		return 1;
	}
	*finished = true;
	if (tb->next)
		return 0;
	arg->what = CT_THREADBUF_INFLIGHT;
	arg->bytes = ct_threadbuf_open_calls(tb, s);
	return arg->bytes != 0;
}

/* The next thread buffer that may be asked, with a reference; left: how many are looked at. */
static struct ct_threadbuf_state *threadbuf_next(struct ct_threadbufs *threadbufs, u32 *left)
{
	struct ct_threadbuf_state *next = NULL;

	mutex_lock(&threadbufs->lock);
	while (*left) {
		--*left;
		next = list_first_entry_or_null(&threadbufs->list, struct ct_threadbuf_state, node);
		if (!next)
			break;
		/* To the end, so that a busy one doesn't keep the others waiting. */
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
	int reported = 0;
	u32 left;

	if (!threadbufs)
		return -ENOENT;
	if (arg->len < CT_THREADBUF_SUBBUF_MAX)
		return -ENOSPC;
	mutex_lock(&threadbufs->read);
	/* Twice: one that ends may be what another waits for. */
	left = 2 * READ_ONCE(threadbufs->count);
	while (!reported) {
		tb = threadbuf_next(threadbufs, &left);
		if (!tb)
			break;
		reported = threadbuf_tell(tb, s, arg, &finished);
		if (finished) {
			mutex_lock(&threadbufs->lock);
			threadbuf_remove(threadbufs, tb);
			mutex_unlock(&threadbufs->lock);
		}
		threadbuf_put(tb);
		cond_resched();
	}
	if (reported &&
	    copy_to_user((void __user *)(unsigned long)arg->buf, threadbufs->buf, arg->bytes))
		reported = -EFAULT;
	mutex_unlock(&threadbufs->read);
	return reported ? min(reported, 0) : -ENOENT;
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
