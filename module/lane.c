// SPDX-License-Identifier: GPL-2.0
/*
 * Lanes: a thread writes packets into memory that it shares with us, by plain stores;
 * the recorder asks for them.  The protocol stands in section 6 of cudatrace.h.
 *
 * All that lies in that memory may be anything, and change while we look: it is
 * copied once, and only the copy is looked at and passed on.  What a lane is (whose,
 * where it lies, how much of it was read) stands in struct ct_lane_state alone, which
 * nobody maps.  So a lane can harm nothing but its own records.
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
#include "filter.h"
#include "lane.h"
#include "limit.h"
#include "map.h"
#include "registry.h"
#include "session.h"

struct ct_lane_state {
	struct kref ref;
	struct list_head node;
	struct ct_lane_state *previous;	/* in the list still: is read before this one */
	bool followed;			/* by another: its stream goes on */
	bool mapped;			/* once and no second time */
	bool dead;			/* unmapped: nothing more will come */
	u8 *memory;
	u64 size;
	u32 slots, slot_size;
	u32 stream;
	u32 pid, tid, ppid, uid;
	struct ct_producer who;		/* whose limits */
	u64 start;			/* no record begins before */

	/* The reader's, under ct_lanes.read. */
	u64 consumed;			/* packets */
	u32 offset;			/* read of the next one */
	u64 last;			/* time of the last record passed on */
	u64 seq;
	u64 lost;			/* by us, for limits or because it was no record */
	u64 lost_claimed;		/* by the thread */
	u64 lost_told;			/* of both, in a packet passed on */
	bool broken;			/* what it says of itself cannot be */
	u32 late;			/* packets passed on since the session ended */
	bool open_counted;
	u32 open;			/* so many open calls are passed on */
};

static struct ct_lane_head *head_of(const struct ct_lane_state *lane)
{
	return (void *)lane->memory;
}

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

/* Everything but its place in the list; the caller's is the only reference. */
static struct ct_lane_state *lane_alloc(const struct ct_lane_new *arg)
{
	struct ct_lane_state *lane = kzalloc(sizeof(*lane), GFP_KERNEL_ACCOUNT);

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
	/* Zeroed, so nothing old leaks. */
	lane->memory = __vmalloc(lane->size, CT_GFP_RING);
	if (!lane->memory) {
		kfree(lane);
		return NULL;
	}
	preempt_disable();
	lane->start = ct_clock_ns();
	preempt_enable();
	lane->last = lane->start;
	return lane;
}

static void fill_head(struct ct_lane_state *lane, struct ct_session_state *s)
{
	*head_of(lane) = (struct ct_lane_head) {
		.magic = CT_MAGIC,
		.abi = CT_ABI_VERSION,
		.stream = lane->stream,
		.session = s->lanes.session,
		.slots = lane->slots,
		.slot_size = lane->slot_size,
		.pid = lane->pid,
		.tid = lane->tid,
	};
	memcpy(head_of(lane)->uuid, s->facts->uuid, sizeof(s->facts->uuid));
}

/* Into the list, if its user may have that much. */
static int lane_add(struct ct_session_state *s, struct ct_lane_state *lane, u32 previous)
{
	struct ct_lane_state *l;
	u64 bytes = lane->size;
	int err = 0;

	mutex_lock(&s->lanes.lock);
	list_for_each_entry(l, &s->lanes.list, node) {
		if (l->uid == lane->uid)
			bytes += l->size;
		if (previous != CT_LANE_NONE && l->stream == previous && !l->followed &&
		    l->pid == lane->pid && l->tid == lane->tid)
			lane->previous = l;
	}
	if (bytes > CT_LANE_QUOTA) {
		err = -EDQUOT;
		goto out;
	}
	if (lane->previous) {
		lane->previous->followed = true;
		lane->stream = lane->previous->stream;
		lane->start = lane->previous->start;
	} else {
		lane->stream = s->lanes.streams++;
	}
	fill_head(lane, s);
	kref_get(&lane->ref);
	list_add_tail(&lane->node, &s->lanes.list);
out:
	mutex_unlock(&s->lanes.lock);
	return err;
}

/*
 * Out of the list.  Who comes after it in its stream goes on where it was.
 * The caller holds lock, and read unless nobody has read the lane.
 */
static void lane_remove(struct ct_lanes *lanes, struct ct_lane_state *lane)
{
	struct ct_lane_state *l;

	list_for_each_entry(l, &lanes->list, node) {
		if (l->previous != lane)
			continue;
		l->previous = lane->previous;
		l->last = max(l->last, lane->last);
		l->seq = lane->seq;
		l->lost = lane->lost + lane->lost_claimed;
	}
	list_del(&lane->node);
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

static bool accepts(const struct ct_session_state *s)
{
	return s->lanes.session && READ_ONCE(ct_clock_page->session) == s->lanes.session;
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
/* What a program may record in a lane. */
static const struct ct_class *class_of(const struct ct_thread_record *r)
{
	u32 id = CT_RECORD_CLASS(r->stamp);
	const struct ct_class *c;

	if (id < CT_CLASS_DYNAMIC && id != CT_CLASS_mark && id != CT_CLASS_process &&
	    id != CT_CLASS_range_push && id != CT_CLASS_range_pop && id != CT_CLASS_exit)
		return NULL;
	c = ct_class_find(id);
	return c && c->def.layer == CT_LAYER_USER ? c : NULL;
}

/* The record's time: its claim, but no earlier than the last and not later than now. */
static u64 time_of(const struct ct_lane_state *lane, u64 base, u64 stamp, u64 now)
{
	u64 passed = (stamp - base) & CT_TS_MASK;

	if (passed > CT_TS_MASK / 2)
		return lane->last;
	return clamp(base + passed, lane->last, now);
}

static void check_head(struct ct_lane_state *lane, struct ct_thread_record *r, u64 ts)
{
	u64 duration = r->duration & CT_DURATION_MAX;
	u64 cpu = r->duration >> CT_TS_BITS;

	r->stamp = CT_STAMP(ts, CT_RECORD_CLASS(r->stamp));
	r->flags &= CT_F_INSTANT | CT_F_NO_RESULT | CT_F_ABANDONED | CT_F_TRUNCATED;
	if (r->flags & CT_F_INSTANT)
		duration = 0;
	if (cpu >= nr_cpu_ids)
		cpu = 0xffff;
	r->duration = min(duration, ts - lane->start) | cpu << CT_TS_BITS;
}

/* Kept out by the limits. */
static void count_limited(struct ct_lane_state *lane, struct ct_session_state *s, u32 records)
{
	lane->lost += records;
	WRITE_ONCE(s->facts->lanes_limited, s->facts->lanes_limited + records);
}

/*
 * The records of our copy, made true, without those that the limits keep out.  Returns
 * where the last good one ends; begin is the time of the first, lane->last that of the
 * last.
 */
static u32 check_records(struct ct_lane_state *lane, struct ct_session_state *s, u32 end,
			 u64 base, u64 now, u64 *begin)
{
	u32 at = CT_PACKET_HEAD, to = CT_PACKET_HEAD, payload, size;
	u8 *buf = s->lanes.buf;
	struct ct_thread_record *r;
	const struct ct_class *c;
	struct ct_process *p;

	while (end - at >= sizeof(*r)) {
		r = (void *)(buf + at);
		c = class_of(r);
		if (!c)
			break;
		payload = ct_payload_size(c, r + 1, end - at - sizeof(*r));
		if ((!payload && c->fixed) || payload > end - at - sizeof(*r) || payload % 8)
			break;
		size = sizeof(*r) + payload;
		at += size;
		lane->last = time_of(lane, base, r->stamp, now);
		if (!ct_limit_pay(s, &lane->who, lane->last, size, 1)) {
			count_limited(lane, s, 1);
			continue;
		}
		if (to == CT_PACKET_HEAD)
			*begin = lane->last;
		check_head(lane, r, lane->last);
		if (c->mark_word == CT_MARK_UID)
			*(u32 *)(r + 1) = lane->uid;
		if (c->id == CT_CLASS_process) {
			p = (void *)(r + 1);
			p->ppid = lane->ppid;
			p->uid = lane->uid;
		}
		/* Over those that were kept out. */
		if (to != at - size)
			memmove(buf + to, r, size);
		to += size;
	}
	if (at != end)
		lane->lost++;	/* one at least: how many cannot be said */
	return to;
}

/*
 * A packet of what stands in this slot between from and to.  Returns its bytes: 0 where
 * none of it is passed on, which the next packet tells.
 */
static u32 make_packet(struct ct_lane_state *lane, const u8 *slot, u32 from, u32 to,
		       struct ct_session_state *s)
{
	const struct ct_packet *claim = (const void *)slot;
	struct ct_packet *p = (void *)s->lanes.buf;
	u64 now, base, begin = lane->last, op_base = READ_ONCE(claim->op_base);
	u32 end;

	memcpy(s->lanes.buf + CT_PACKET_HEAD, slot + from, to - from);
	preempt_disable();
	now = ct_clock_ns();
	preempt_enable();
	now = max(now, lane->last);
	/* A record has 48 bits of its time; the packet says which. */
	base = clamp(READ_ONCE(claim->ts_begin), lane->last, now);
	end = check_records(lane, s, CT_PACKET_HEAD + to - from, base, now, &begin);
	/* One without a record is not free either. */
	if (end == CT_PACKET_HEAD && from != to &&
	    !ct_limit_pay(s, &lane->who, now, CT_PACKET_HEAD, 1))
		return 0;
	*p = (struct ct_packet) {
		.magic = CT_MAGIC,
		.stream_class = CT_STREAM_THREAD,
		.ts_begin = begin,
		.ts_end = lane->last,
		.content_size = end * 8ull,
		.packet_size = end * 8ull,
		.seq = lane->seq++,
		.lost = lane->lost + lane->lost_claimed,
		.pid = lane->pid,
		.tid = lane->tid,
		.op_base = op_base,
	};
	memcpy(p->uuid, s->facts->uuid, sizeof(p->uuid));
	lane->lost_told = p->lost;
	return end;
}

/* The next packet of the lane, if there is one. */
static u32 next_packet(struct ct_lane_state *lane, struct ct_session_state *s, bool all)
{
	struct ct_lane_head *h = head_of(lane);
	bool closed = smp_load_acquire(&lane->dead) || READ_ONCE(s->ended);
	/* The packets' heads after it, the records after their content_size. */
	u64 produced = smp_load_acquire(&h->produced);
	const struct ct_packet *p;
	u32 content, bytes, from;
	bool full;

	lane->lost_claimed = max(lane->lost_claimed, READ_ONCE(h->lost));
	if (produced - lane->consumed > lane->slots) {
		/* It never began so many: nothing that it says can be believed. */
		lane->lost += !lane->broken;
		lane->broken = true;
		produced = lane->consumed;
	}
	while (lane->consumed != produced) {
		p = (const void *)(lane->memory + CT_LANE_DATA +
				   (lane->consumed & (lane->slots - 1)) * lane->slot_size);
		full = lane->consumed + 1 != produced;
		content = CT_PACKET_HEAD;
		if (READ_ONCE(p->magic) == CT_MAGIC)
			content = min_t(u64, smp_load_acquire(&p->content_size) / 8,
					lane->slot_size) & ~7u;
		from = lane->offset;
		bytes = 0;
		if (content > from && (full || all || closed)) {
			bytes = make_packet(lane, (const u8 *)p, from, content, s);
			lane->offset = content;
		}
		if (full) {
			lane->offset = CT_PACKET_HEAD;
			lane->consumed++;
			/* Our reads before it: the slot may be written again. */
			smp_store_release(&h->consumed, lane->consumed);
		}
		if (bytes)
			return bytes;
		if (!full)
			break;
	}
	return 0;
}

/*
 * How many of the calls that its thread has open are passed on: those that can be, and
 * none where the limits have no room for them.  Once: nothing more comes from this lane.
 */
static void count_open(struct ct_lane_state *lane, struct ct_session_state *s)
{
	const struct ct_open_page *page = (const void *)(lane->memory + PAGE_SIZE);
	u32 depth = min_t(u32, READ_ONCE(page->depth), CT_OPEN_MAX), n = 0, class;

	if (lane->open_counted)
		return;
	lane->open_counted = true;
	for (; n < depth; n++) {
		class = READ_ONCE(page->entry[n].class);
		if (class < CT_CLASS_DYNAMIC || !ct_class_find(class))
			break;
	}
	if (!n || ct_limit_pay(s, &lane->who, lane->last,
			       n * sizeof(struct ct_thread_record), n))
		lane->open = n;
	else
		count_limited(lane, s, n);
}

/* Those calls.  Returns the page's bytes, 0 if there are none. */
static u32 open_calls(struct ct_lane_state *lane, u8 *buf)
{
	struct ct_open_page *page = (void *)buf;
	struct ct_open_call *c;
	u32 i;

	memcpy(page, lane->memory + PAGE_SIZE, sizeof(*page));
	page->magic = CT_MAGIC;
	page->abi = CT_ABI_VERSION;
	page->pid = lane->pid;
	page->tid = lane->tid;
	memset(page->reserved, 0, sizeof(page->reserved));
	for (i = 0; i < page->depth && i < lane->open; i++) {
		c = &page->entry[i];
		/* A thread that lives may have changed it since. */
		if (c->class < CT_CLASS_DYNAMIC || !ct_class_find(c->class))
			break;
		c->begin = clamp(c->begin, lane->start, max(lane->last, lane->start));
	}
	page->depth = i;
	return i ? sizeof(*page) : 0;
}

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
		arg->bytes = next_packet(lane, s, all);
	if (arg->bytes)
		return 1;
	/* Threads that live are told of at the very end. */
	if (!closed || (!smp_load_acquire(&lane->dead) && !all))
		return 0;
	if (!lane->followed)
		count_open(lane, s);
	if (!lane->followed && lane->lost + lane->lost_claimed != lane->lost_told) {
		/* It waits for its rate, and takes of its user's quota of lanes till then. */
		if (!READ_ONCE(s->ended) &&
		    !ct_limit_pay(s, &lane->who, ktime_get_mono_fast_ns(), CT_PACKET_HEAD, 1))
			return 0;
		/* Losses that no record came after: a packet that says nothing else. */
		arg->bytes = make_packet(lane, lane->memory + CT_LANE_DATA, CT_PACKET_HEAD,
					 CT_PACKET_HEAD, s);
		return 1;
	}
	*finished = true;
	if (lane->followed)
		return 0;
	arg->what = CT_LANE_OPEN;
	arg->bytes = open_calls(lane, s->lanes.buf);
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
	struct list_head *at;
	bool finished;
	u32 left = 0;
	int told = 0;

	if (!lanes->session)
		return -ENOENT;
	if (arg->len < CT_LANE_SLOT_MAX)
		return -ENOSPC;
	mutex_lock(&lanes->read);
	mutex_lock(&lanes->lock);
	list_for_each(at, &lanes->list)
		left++;
	mutex_unlock(&lanes->lock);
	/* Twice: one that ends may be what another waits for. */
	left *= 2;
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
/* Has it anything that was not asked for?  A hint, as all that is said in a lane. */
static bool lane_unread(const struct ct_lane_state *lane)
{
	const struct ct_open_page *open = (const void *)(lane->memory + PAGE_SIZE);
	u64 waiting = smp_load_acquire(&head_of(lane)->produced) - lane->consumed;
	const struct ct_packet *p;

	if (READ_ONCE(open->depth) || READ_ONCE(head_of(lane)->lost) + lane->lost != lane->lost_told)
		return true;
	if (waiting != 1)
		return waiting;
	p = (const void *)(lane->memory + CT_LANE_DATA +
			   (lane->consumed & (lane->slots - 1)) * lane->slot_size);
	return READ_ONCE(p->content_size) / 8 > lane->offset;
}

bool ct_lanes_unread(struct ct_lanes *lanes)
{
	struct ct_lane_state *lane;
	bool found = false;

	mutex_lock(&lanes->lock);
	list_for_each_entry(lane, &lanes->list, node)
		found |= lane_unread(lane);
	mutex_unlock(&lanes->lock);
	return found;
}

int ct_lanes_init(struct ct_lanes *lanes, bool wanted)
{
	static atomic_t sessions;

	mutex_init(&lanes->lock);
	mutex_init(&lanes->read);
	INIT_LIST_HEAD(&lanes->list);
	if (!wanted)
		return 0;
	lanes->buf = __vmalloc(CT_LANE_SLOT_MAX, CT_GFP_RING);
	if (!lanes->buf)
		return -ENOMEM;
	while (!lanes->session)
		lanes->session = atomic_inc_return(&sessions);
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
