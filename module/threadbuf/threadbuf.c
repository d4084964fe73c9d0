// SPDX-License-Identifier: GPL-2.0
/*
 * Lanes: a thread writes packets into memory that it shares with us, by plain stores;
 * the recorder asks for them.  The protocol stands in section 6 of cudatrace.h.
 *
 * Here is what makes lanes, lists them and asks one after the other; what a lane's
 * memory holds is lane_packet.c's.
 *
 * A lane is in its session's list from its making until all of it was read or the
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
#include "base/clock.h"
#include "threadbuf/threadbuf.h"
#include "threadbuf/packet.h"
#include "core/limit.h"
#include "api/mmap.h"
#include "core/session.h"

static void lane_free(struct kref *ref)
{
	struct ct_lane_state *lane = container_of(ref, struct ct_lane_state, ref);

	vfree(lane->memory);
	kfree(lane);
}

static void lane_put(struct ct_lane_state *lane)
{
	kref_put(&lane->ref, lane_free);
}

/* ------------------------------------------------------------ its making --- */
static int lane_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct ct_lane_state *lane = file->private_data;

	if (lane->mapped || vma->vm_pgoff || vma->vm_end - vma->vm_start != lane->size)
		return -EINVAL;
	lane->mapped = true;
	/* A child is another process: it gets a lane of its own. */
	return ct_map_pages(vma, lane->memory, lane->size, true);
}

static int lane_release(struct inode *inode, struct file *file)
{
	struct ct_lane_state *lane = file->private_data;

	/* All its stores before this: pairs with the reader's acquire. */
	smp_store_release(&lane->dead, true);
	lane_put(lane);
	return 0;
}

static const struct file_operations lane_fops = {
	.owner = THIS_MODULE,
	.mmap = lane_mmap,
	.release = lane_release,
};

/* Without its memory; the caller's is the only reference. */
static struct ct_lane_state *lane_alloc(const struct ct_lane_new *arg)
{
	struct ct_lane_state *lane = kzalloc(struct_size(lane, content, arg->slots),
					     GFP_KERNEL_ACCOUNT);

	if (!lane)
		return NULL;
	kref_init(&lane->ref);
	lane->slots = arg->slots;
	lane->slot_size = arg->slot_size;
	lane->size = CT_LANE_DATA + (u64)arg->slots * arg->slot_size;
	lane->offset = CT_PACKET_HEAD;
	lane->pid = current->tgid;
	lane->tid = current->pid;
	lane->uid = from_kuid(&init_user_ns, current_uid());
	ct_limit_who(&lane->who);
	rcu_read_lock();
	lane->ppid = rcu_dereference(current->real_parent)->tgid;
	rcu_read_unlock();
	preempt_disable();
	lane->start = ct_clock_ns();
	preempt_enable();
	lane->last = lane->start;
	return lane;
}

/* What a user's lanes in this list take of his quota. */
static void add_up(const struct list_head *list, u32 uid, u64 *bytes, u32 *count)
{
	struct ct_lane_state *l;

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
static int lane_memory(struct ct_lanes *lanes, struct ct_lane_state *lane)
{
	u64 bytes = lane->size;
	u32 count = 1;

	mutex_lock(&lanes->lock);
	add_up(&lanes->list, lane->uid, &bytes, &count);
	add_up(&lanes->making, lane->uid, &bytes, &count);
	if (bytes > CT_LANE_QUOTA || count > CT_LANE_QUOTA_LANES) {
		mutex_unlock(&lanes->lock);
		return -EDQUOT;
	}
	list_add(&lane->node, &lanes->making);
	mutex_unlock(&lanes->lock);
	/* Zeroed, so nothing old leaks. */
	lane->memory = __vmalloc(lane->size, CT_GFP_RING);
	if (lane->memory)
		return 0;
	mutex_lock(&lanes->lock);
	list_del(&lane->node);
	mutex_unlock(&lanes->lock);
	return -ENOMEM;
}

static void fill_head(struct ct_lane_state *lane, struct ct_session_state *s)
{
	*ct_lane_head_of(lane) = (struct ct_lane_head) {
		.magic = CT_MAGIC,
		.abi = CT_ABI_VERSION,
		.stream = lane->stream,
		.session = s->lanes.session,
		.slots = lane->slots,
		.slot_size = lane->slot_size,
		.pid = lane->pid,
		.tid = lane->tid,
	};
	memcpy(ct_lane_head_of(lane)->uuid, s->facts->uuid, sizeof(s->facts->uuid));
}

static bool accepts(const struct ct_session_state *s)
{
	u32 session = READ_ONCE(s->lanes.session);

	return session && READ_ONCE(ct_clock_page->session) == session;
}

/* The lane of this thread that the new one takes the place of, or NULL. */
static struct ct_lane_state *find_previous(struct ct_lanes *lanes,
					   const struct ct_lane_state *lane, u32 stream)
{
	struct ct_lane_state *l;

	if (stream == CT_LANE_NONE)
		return NULL;
	list_for_each_entry(l, &lanes->list, node)
		if (l->stream == stream && !l->next && l->pid == lane->pid &&
		    l->tid == lane->tid && l->uid == lane->uid)
			return l;
	return NULL;
}

/*
 * From those being made to those that are read.  -ENODATA if none is taken any more: who
 * closes lanes has said so before, and closes what is in the list.
 */
static int lane_add(struct ct_session_state *s, struct ct_lane_state *lane, u32 stream)
{
	struct ct_lanes *lanes = &s->lanes;
	struct ct_lane_state *previous;

	mutex_lock(&lanes->lock);
	if (!accepts(s)) {
		list_del(&lane->node);
		mutex_unlock(&lanes->lock);
		return -ENODATA;
	}
	previous = find_previous(lanes, lane, stream);
	if (previous) {
		previous->next = lane;
		lane->previous = previous;
		lane->stream = previous->stream;
		lane->start = previous->start;
	} else {
		lane->stream = lanes->streams++;
	}
	fill_head(lane, s);
	kref_get(&lane->ref);
	list_move_tail(&lane->node, &lanes->list);
	lanes->count++;
	mutex_unlock(&lanes->lock);
	return 0;
}

/*
 * Out of the list; it is the first of its stream.  Who comes after it goes on where it was.
 * The caller holds lock and read.
 */
static void lane_remove(struct ct_lanes *lanes, struct ct_lane_state *lane)
{
	struct ct_lane_state *next = lane->next;

	if (next) {
		next->previous = NULL;
		next->last = max(next->last, lane->last);
		next->seq = lane->seq;
		next->lost = lane->lost + lane->lost_claimed;
	}
	list_del(&lane->node);
	lanes->count--;
	lane_put(lane);
}

/* Its one mapping.  The lane's reference goes to the file, whatever happens. */
static unsigned long lane_map(struct ct_lane_state *lane)
{
	struct file *file = anon_inode_getfile("[cudatrace-lane]", &lane_fops, lane, O_RDWR);
	unsigned long address;

	if (IS_ERR(file)) {
		lane->dead = true;
		lane_put(lane);
		return PTR_ERR(file);
	}
	address = vm_mmap(file, 0, lane->size, PROT_READ | PROT_WRITE, MAP_SHARED, 0);
	fput(file);
	return address;
}

int ct_lane_make(struct ct_lane_new *arg)
{
	struct ct_session_state *s;
	struct ct_lane_state *lane;
	unsigned long address;
	u64 size;
	int err;

	if (!is_power_of_2(arg->slot_size) || !is_power_of_2(arg->slots) ||
	    arg->slot_size < CT_LANE_SLOT_MIN || arg->slot_size > CT_LANE_SLOT_MAX ||
	    arg->slots < 2 || arg->slots > CT_LANE_SLOTS_MAX || arg->slot_size % PAGE_SIZE)
		return -EINVAL;
	s = ct_session_get();
	if (!s || !accepts(s)) {
		err = -ENODATA;
		goto out;
	}
	err = -ENOMEM;
	lane = lane_alloc(arg);
	if (!lane)
		goto out;
	err = lane_memory(&s->lanes, lane);
	if (!err)
		err = lane_add(s, lane, arg->previous);
	if (err) {
		lane_put(lane);
		goto out;
	}
	/* From here on it ends by itself: as one that was unmapped before it was used. */
	size = lane->size;
	address = lane_map(lane);
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
/* What this lane has to tell: 1 if something, and arg says what. */
static int lane_tell(struct ct_lane_state *lane, struct ct_session_state *s,
		     struct ct_lane_read *arg, bool *finished)
{
	bool all = arg->flags & CT_LANE_READ_ALL;
	bool closed = smp_load_acquire(&lane->dead) || READ_ONCE(s->ended);

	*finished = false;
	arg->pid = lane->pid;
	arg->stream = lane->stream;
	arg->what = CT_LANE_PACKET;
	arg->bytes = 0;
	/* A thread that goes on writing after the end has told enough. */
	if (!READ_ONCE(s->ended) || lane->late++ <= lane->slots)
		arg->bytes = ct_lane_next_packet(lane, s, all);
	if (arg->bytes)
		return 1;
	/* Threads that live are told of at the very end. */
	if (!closed || (!smp_load_acquire(&lane->dead) && !all))
		return 0;
	ct_lane_count_cut(lane);
	if (!lane->next)
		ct_lane_count_open(lane, s);
	if (!lane->next && lane->lost + lane->lost_claimed != lane->lost_told) {
		/* It waits for its rate, and takes of its user's quota of lanes till then. */
		if (!READ_ONCE(s->ended) &&
		    !ct_limit_pay(s, &lane->who, ktime_get_mono_fast_ns(), CT_PACKET_HEAD, 1))
			return 0;
		/* Losses that no record came after: a packet that says nothing else. */
		arg->bytes = ct_lane_loss_packet(lane, s);
		return 1;
	}
	*finished = true;
	if (lane->next)
		return 0;
	arg->what = CT_LANE_OPEN;
	arg->bytes = ct_lane_open_calls(lane, s);
	return arg->bytes != 0;
}

/* The next lane that may be asked, with a reference; left: how many are looked at. */
static struct ct_lane_state *next_lane(struct ct_lanes *lanes, u32 *left)
{
	struct ct_lane_state *next = NULL;

	mutex_lock(&lanes->lock);
	while (*left) {
		--*left;
		next = list_first_entry_or_null(&lanes->list, struct ct_lane_state, node);
		if (!next)
			break;
		/* To the end, so that a busy one doesn't keep the others waiting. */
		list_move_tail(&next->node, &lanes->list);
		if (!next->previous) {
			kref_get(&next->ref);
			break;
		}
		next = NULL;
	}
	mutex_unlock(&lanes->lock);
	return next;
}

int ct_lane_read(struct ct_session_state *s, struct ct_lane_read *arg)
{
	struct ct_lanes *lanes = &s->lanes;
	struct ct_lane_state *lane;
	bool finished;
	int told = 0;
	u32 left;

	if (!lanes->session)
		return -ENOENT;
	if (arg->len < CT_LANE_SLOT_MAX)
		return -ENOSPC;
	mutex_lock(&lanes->read);
	/* Twice: one that ends may be what another waits for. */
	left = 2 * READ_ONCE(lanes->count);
	while (!told) {
		lane = next_lane(lanes, &left);
		if (!lane)
			break;
		told = lane_tell(lane, s, arg, &finished);
		if (finished) {
			mutex_lock(&lanes->lock);
			lane_remove(lanes, lane);
			mutex_unlock(&lanes->lock);
		}
		lane_put(lane);
		cond_resched();
	}
	if (told && copy_to_user((void __user *)(unsigned long)arg->buf, lanes->buf, arg->bytes))
		told = -EFAULT;
	mutex_unlock(&lanes->read);
	return told ? min(told, 0) : -ENOENT;
}

/* ------------------------------------------------------------ the session -- */
bool ct_lanes_unread(struct ct_lanes *lanes)
{
	struct ct_lane_state *lane;
	bool found = false;

	mutex_lock(&lanes->lock);
	list_for_each_entry(lane, &lanes->list, node)
		found |= ct_lane_unread(lane);
	mutex_unlock(&lanes->lock);
	return found;
}

static u32 number_new(void)
{
	static atomic_t numbers;
	u32 number;

	do
		number = atomic_inc_return(&numbers);
	while (!number);
	return number;
}

void ct_lanes_close(struct ct_lanes *lanes)
{
	struct ct_lane_state *lane;
	u64 now;

	if (!lanes->session)
		return;
	mutex_lock(&lanes->lock);
	preempt_disable();
	now = ct_clock_ns();
	preempt_enable();
	list_for_each_entry(lane, &lanes->list, node)
		ct_lane_close(lane, now);
	WRITE_ONCE(lanes->session, number_new());
	mutex_unlock(&lanes->lock);
}

int ct_lanes_init(struct ct_lanes *lanes, bool wanted)
{
	mutex_init(&lanes->lock);
	mutex_init(&lanes->read);
	INIT_LIST_HEAD(&lanes->list);
	INIT_LIST_HEAD(&lanes->making);
	if (!wanted)
		return 0;
	lanes->buf = __vmalloc(CT_LANE_SLOT_MAX, CT_GFP_RING);
	if (!lanes->buf)
		return -ENOMEM;
	lanes->session = number_new();
	return 0;
}

void ct_lanes_free(struct ct_lanes *lanes)
{
	struct ct_lane_state *lane, *next;

	list_for_each_entry_safe(lane, next, &lanes->list, node) {
		list_del(&lane->node);
		lane_put(lane);
	}
	vfree(lanes->buf);
}
