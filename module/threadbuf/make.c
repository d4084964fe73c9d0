// SPDX-License-Identifier: GPL-2.0
/*
 * Makes a thread buffer, maps it into its process, and learns when that ends.
 *
 * The mapping may live longer than the process: a child made by clone(CLONE_VM) has the same
 * memory.  So a thread buffer is closed when its process ends, which the kernel tells in the
 * queue that also wakes those who wait for a pidfd.  And when its process has called exec, which
 * nobody tells: the reader looks (threadbuf.c).
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
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include "threadbuf/threadbuf.h"
#include "threadbuf/packet.h"
#include "core/limit.h"
#include "core/quota.h"
#include "core/session.h"
#include "base/clock.h"
#include "base/pages.h"

static int make_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct ct_threadbuf_state *tb = file->private_data;

	if (tb->mapped || vma->vm_pgoff || vma->vm_end - vma->vm_start != tb->size)
		return -EINVAL;
	tb->mapped = true;
	/* Not inherited by fork(): a child needs thread buffers of its own. */
	return ct_pages_map(vma, tb->memory, tb->size, true);
}

/* It is not mapped any more, or could not be mapped.  Drops the mapping's reference. */
static void make_unmapped(struct ct_threadbuf_state *tb)
{
	remove_wait_queue(&tb->process->wait_pidfd, &tb->exit);
	/* The thread's stores before dead: pairs with the reader's acquire. */
	smp_store_release(&tb->dead, true);
	ct_threadbuf_put(tb);
}

static int make_release(struct inode *inode, struct file *file)
{
	make_unmapped(file->private_data);
	return 0;
}

/*
 * A thread of the process has ended; is it the last one?  With locks of the kernel held, which
 * disable preemption but with PREEMPT_RT.  A process whose memory ends with it has no entry in the
 * queue any more.
 */
static int make_on_exit(struct wait_queue_entry *entry, unsigned int mode, int flags, void *key)
{
	struct ct_threadbuf_state *tb = container_of(entry, struct ct_threadbuf_state, exit);
	struct task_struct *leader;
	bool ended;

	rcu_read_lock();
	leader = pid_task(tb->process, PIDTYPE_TGID);
	ended = !leader || !atomic_read(&leader->signal->live);
	rcu_read_unlock();
	if (ended)
		ct_threadbuf_close_last(tb, ct_clock_now());
	return 0;
}

static const struct file_operations make_fops = {
	.owner = THIS_MODULE,
	.mmap = make_mmap,
	.release = make_release,
};

/* A new thread buffer without its memory.  The caller has the only reference. */
static struct ct_threadbuf_state *make_alloc(const struct ct_threadbuf_new *arg)
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
	tb->mm = current->mm;
	mmgrab(tb->mm);
	init_waitqueue_func_entry(&tb->exit, make_on_exit);
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
	tb->start = ct_clock_now();
	tb->last = tb->start;
	return tb;
}

/*
 * Allocate the memory if its producer's quota allows it.  The quota is charged before the
 * allocation, because many threads may allocate at the same time.
 * Returns 0, -EDQUOT or -ENOMEM.
 */
static int make_alloc_memory(struct ct_threadbuf_state *tb)
{
	int err = ct_quota_charge(CT_QUOTA_OF_THREADBUFS, tb->producer.user, tb->size);

	if (err)
		return err;
	tb->charged = true;
	/* Zeroed, so that the thread does not see old data of the kernel. */
	tb->memory = ct_pages_alloc(tb->size, NUMA_NO_NODE);
	return tb->memory ? 0 : -ENOMEM;
}

static void make_fill_head(struct ct_threadbuf_state *tb, struct ct_session_state *s)
{
	*ct_threadbuf_head_of(tb) = (struct ct_threadbuf_head){
		.magic = CT_MAGIC,
		.abi = CT_ABI_VERSION,
		.stream = tb->stream,
		.session = s->threadbufs->session,
		.subbufs = tb->subbufs,
		.subbuf_size = tb->subbuf_size,
	};
	memcpy(ct_threadbuf_head_of(tb)->uuid, s->facts->uuid, sizeof(s->facts->uuid));
}

/* Does the clock page say that thread buffers of this session are read? */
static bool make_accepts(const struct ct_session_state *s)
{
	u32 session = s->threadbufs ? READ_ONCE(s->threadbufs->session) : 0;

	return session && READ_ONCE(ct_clock_page->session) == session;
}

/* The thread buffer of this thread that the new one, tb, replaces; or NULL. */
static struct ct_threadbuf_state *make_find_previous(struct ct_threadbufs *threadbufs,
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
 * Begin a stream for tb.  Streams that have ended count as well, because the recorder keeps a file
 * for each.  The caller holds lock.  Returns 0, -EDQUOT or -ENOMEM.
 */
static int make_begin_stream(struct ct_threadbufs *threadbufs, struct ct_threadbuf_state *tb)
{
	struct xarray *streams_of = &threadbufs->streams_of;
	void *old = xa_load(streams_of, tb->producer.user);
	unsigned long begun = old ? xa_to_value(old) : 0;
	int err;

	if (begun >= CT_THREADBUF_QUOTA_STREAMS)
		return -EDQUOT;
	err = xa_err(xa_store(streams_of, tb->producer.user, xa_mk_value(begun + 1),
			      GFP_KERNEL_ACCOUNT));
	if (!err)
		tb->stream = threadbufs->streams++;
	return err;
}

/*
 * Add a new thread buffer to the list that is read.  Returns 0; -ENODATA if thread buffers are
 * not accepted any more; -EDQUOT; -ENOMEM.  A pause or a filter first says so
 * in the clock page, then closes the thread buffers in the list: so no open one is added
 * after that.
 */
static int make_add(struct ct_session_state *s, struct ct_threadbuf_state *tb, u32 stream)
{
	struct ct_threadbufs *threadbufs = s->threadbufs;
	struct ct_threadbuf_state *previous;
	int err = 0;

	mutex_lock(&threadbufs->lock);
	if (!make_accepts(s)) {
		err = -ENODATA;
		goto out;
	}
	previous = make_find_previous(threadbufs, tb, stream);
	if (previous) {
		previous->next = tb;
		tb->previous = previous;
		tb->stream = previous->stream;
		tb->start = previous->start;
	} else {
		err = make_begin_stream(threadbufs, tb);
		if (err)
			goto out;
	}
	make_fill_head(tb, s);
	kref_get(&tb->ref);
	add_wait_queue(&tb->process->wait_pidfd, &tb->exit);
	list_add_tail(&tb->node, &threadbufs->list);
	threadbufs->count++;
out:
	mutex_unlock(&threadbufs->lock);
	return err;
}

/*
 * Map the thread buffer into the current process.  Consumes the caller's reference, also on
 * failure.  Returns the address or a negative errno.
 */
static unsigned long make_map(struct ct_threadbuf_state *tb)
{
	struct file *file = anon_inode_getfile("[cudatrace-threadbuf]", &make_fops, tb, O_RDWR);
	unsigned long address;

	if (IS_ERR(file)) {
		make_unmapped(tb);
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
	if (!s || !make_accepts(s)) {
		err = -ENODATA;
		goto out;
	}
	err = -ENOMEM;
	tb = make_alloc(arg);
	if (!tb)
		goto out;
	err = make_alloc_memory(tb);
	if (!err)
		err = make_add(s, tb, arg->previous);
	if (err) {
		ct_threadbuf_put(tb);
		goto out;
	}
	/* If mapping fails, the reader removes it like one that was unmapped before its use. */
	size = tb->size;
	address = make_map(tb);
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
