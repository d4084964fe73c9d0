// SPDX-License-Identifier: GPL-2.0
/*
 * Markers: an array of records that a program has made, checked, stamped with
 * time, cpu, pid, tid and uid, and written together.  Everything that can fail
 * comes before the ring is touched, and the program's bytes are read once.
 */
#include <linux/cred.h>
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>
#include "filter.h"
#include "mark.h"
#include "record.h"
#include "registry.h"

/* ct_mark_head.reserved of a mark, in our copy, that the filter rejects. */
#define REJECTED	1

/* Larger arrays are copied to the heap. */
#define CT_MARK_STACK	256

/* A mark's size in the ring. */
static inline u32 ring_size(const struct ct_mark_head *m)
{
	return m->size - sizeof(*m) + sizeof(struct ct_cpu_record);
}

/*
 * Check every mark of the array.  Returns their bytes in the ring, or -EINVAL.
 * Marks are in memory of ours: nobody changes them between here and the copy.
 */
static int check(const u8 *buf, u32 size, bool begin)
{
	const struct ct_mark_head *m;
	const struct ct_class *c;
	u32 at, payload, total = 0, count = 0;

	for (at = 0; at < size; at += m->size) {
		m = (const void *)(buf + at);
		if (size - at < sizeof(*m) || m->size < sizeof(*m) ||
		    m->size % 8 || m->size > size - at ||
		    m->flags & (CT_F_CONTEXT | CT_F_BEGIN) || m->reserved)
			return -EINVAL;
		c = ct_class_find(m->class);
		if (!c || c->def.layer != CT_LAYER_USER)
			return -EINVAL;
		payload = m->size - sizeof(*m);
		if (ct_payload_size(c, m + 1, payload) != payload)
			return -EINVAL;
		total += ring_size(m);
		count++;
	}
	if (total > CT_RECORD_MAX || !count || (begin && count != 1))
		return -EINVAL;
	return total;
}

/* One mark into the ring at rec.  Returns the next record's place. */
static void *put(struct ct_cpu *cpu, struct ct_cpu_record *rec,
		 struct ct_mark_head *m, u64 stamp, u32 uid, u8 flags)
{
	u32 payload = m->size - sizeof(*m);
	u64 duration = 0;

	if (m->begin && m->begin < stamp && !(flags & CT_F_BEGIN))
		duration = min_t(u64, stamp - m->begin, CT_DURATION_MAX);
	rec->stamp = CT_STAMP(stamp, m->class);
	rec->pid = current->tgid;
	rec->tid = current->pid;
	rec->op = m->op;
	rec->duration = CT_DURATION(duration, m->depth, m->flags | flags);
	rec->result = m->result;
	memcpy(rec + 1, m + 1, payload);
	if (ct_class_find(m->class)->uid_first)
		*(u32 *)(rec + 1) = uid;
	return (void *)(rec + 1) + payload;
}

/*
 * Bytes in the ring of the marks that the filter lets through; the others are
 * marked as such, so that the answer is one, also if the filter changes meanwhile.
 */
static u32 apply_filter(u8 *buf, u32 size)
{
	struct ct_mark_head *m;
	u32 at, total = 0;

	for (at = 0; at < size; at += m->size) {
		m = (void *)(buf + at);
		if (ct_wanted(ct_class_find(m->class)->def.category, CT_F_TASK))
			total += ring_size(m);
		else
			m->reserved = REJECTED;
	}
	return total;
}

static void write_marks(struct ct_session_state *s, u8 *buf, u32 size, u32 total,
			bool begin)
{
	u32 uid = from_kuid(&init_user_ns, current_uid());
	struct ct_cpu *cpu = ct_cpu_here(s);
	struct ct_mark_head *m;
	struct ct_cpu_record *rec;
	void *next;
	u64 stamp;
	u32 at;

	if (static_branch_unlikely(&ct_filtering))
		total = apply_filter(buf, size);
	rec = total ? ct_record_new(cpu, 0, total - sizeof(*rec), CT_F_TASK, &stamp) : NULL;
	next = rec;
	for (at = 0; at < size; at += m->size) {
		m = (void *)(buf + at);
		if (!m->op)
			m->op = ct_ring_op(&cpu->ring);
		if (begin)
			m->begin = rec ? stamp : ktime_get_mono_fast_ns();
		if (!rec || m->reserved == REJECTED)
			continue;
		if (next != rec)
			local64_inc((local64_t *)&cpu->ring.status->records);
		next = put(cpu, next, m, stamp, uid, begin ? CT_F_BEGIN : 0);
	}
	if (rec)
		ct_record_done(s, cpu);
}

long ct_mark(void __user *user, u32 size, bool begin)
{
	u64 stack[CT_MARK_STACK / sizeof(u64)];
	struct ct_session_state *s;
	void *heap = NULL;
	u8 *buf = (void *)stack;
	int total, err = 0;

	if (!size || size % 8 || size > CT_MARK_MAX)
		return -EINVAL;
	if (size > sizeof(stack)) {
		heap = kmalloc(size, GFP_KERNEL_ACCOUNT);
		if (!heap)
			return -ENOMEM;
		buf = heap;
	}
	if (copy_from_user(buf, user, size)) {
		err = -EFAULT;
		goto out;
	}
	total = check(buf, size, begin);
	if (total < 0) {
		err = total;
		goto out;
	}
	preempt_disable_notrace();
	s = ct_session_writing();
	if (s)
		write_marks(s, buf, size, total, begin);
	preempt_enable_notrace();
	if (begin && copy_to_user(user, buf, sizeof(struct ct_mark_head)))
		err = -EFAULT;
out:
	kfree(heap);
	return err;
}
