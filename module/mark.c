// SPDX-License-Identifier: GPL-2.0
/*
 * Markers: an array of records that a program has made, checked, stamped with
 * time, cpu, pid, tid and uid, and written together.  Everything that can fail
 * comes before the ring is touched, and the program's bytes are read once.
 */
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include "filter.h"
#include "mark.h"
#include "record.h"
#include "registry.h"

/* What check() and the filter say of a mark, in our copy's reserved word. */
#define UID_FIRST	1	/* its class's first field is the uid: ours to fill */
#define REJECTED	2	/* the filter does not let it through */

/*
 * Where an array is copied to and checked: one a CPU, in use while preemption is
 * disabled.  (Not the stack: zeroing it costs more than the whole of the rest.)
 */
static DEFINE_PER_CPU(u64[CT_MARK_MAX / sizeof(u64)], scratch);

/* A mark's size in the ring. */
static __always_inline u32 ring_size(const struct ct_mark_head *m)
{
	return m->size - sizeof(*m) + sizeof(struct ct_cpu_record);
}

/*
 * size bytes, a multiple of 8, of user memory that is present; false if it is not.
 * Word by word: arrays are short, and a string instruction takes long to begin.
 */
static __always_inline bool copy_words(u64 *to, const u64 __user *from, u32 size)
{
	u32 i;

	if (!user_access_begin(from, size))
		return false;
	for (i = 0; i < size / sizeof(u64); i++)
		unsafe_get_user(to[i], &from[i], fault);
	user_access_end();
	return true;
fault:
	user_access_end();
	return false;
}

static __always_inline void copy_out(u64 *to, const u64 *from, u32 size)
{
	u32 i;

	for (i = 0; i < size / sizeof(u64); i++)
		to[i] = from[i];
}

/*
 * Check every mark of the array.  Returns their bytes in the ring, or -EINVAL.
 * Marks are in memory of ours: nobody changes them between here and the copy.
 */
static __always_inline int check(u8 *buf, u32 size, bool begin)
{
	const struct ct_class *c;
	struct ct_mark_head *m;
	u32 at, payload, total = 0, count = 0;

	for (at = 0; at < size; at += m->size) {
		m = (void *)(buf + at);
		if (size - at < sizeof(*m) || m->size < sizeof(*m) ||
		    m->size % 8 || m->size > size - at ||
		    m->flags & (CT_F_CONTEXT | CT_F_BEGIN) || m->reserved)
			return -EINVAL;
		c = ct_class_find(m->class);
		if (!c || c->def.layer != CT_LAYER_USER ||
		    m->class == CT_CLASS_clock || m->class == CT_CLASS_call_open)
			return -EINVAL;
		payload = m->size - sizeof(*m);
		if (c->has_text ? ct_payload_size(c, m + 1, payload) != payload :
				  c->fixed != payload)
			return -EINVAL;
		m->reserved = c->uid_first ? UID_FIRST : 0;
		total += ring_size(m);
		count++;
	}
	if (total > CT_RECORD_MAX || !count || (begin && count != 1))
		return -EINVAL;
	return total;
}

/*
 * Bytes in the ring of the marks that the filter lets through; the others are
 * marked as such, so that the answer is one, also if the filter changes meanwhile.
 */
static noinline u32 apply_filter(u8 *buf, u32 size)
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

/* One mark into the ring at rec.  Returns the next record's place. */
static __always_inline void *put(struct ct_cpu_record *rec, struct ct_mark_head *m,
				 u64 stamp, u8 flags)
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
	copy_out((u64 *)(rec + 1), (const u64 *)(m + 1), payload);
	if (m->reserved == UID_FIRST)
		*(u32 *)(rec + 1) = __kuid_val(current_uid());
	else if (unlikely(m->class == CT_CLASS_process))
		ct_record_who((void *)(rec + 1));
	return (void *)(rec + 1) + payload;
}

static __always_inline void write_marks(struct ct_cpu *cpu, u8 *buf, u32 size, u32 total,
					bool begin)
{
	struct ct_mark_head *m;
	struct ct_cpu_record *rec = NULL;
	void *next;
	u64 stamp;
	u32 at, count = 0;

	if (static_branch_unlikely(&ct_filtering))
		total = apply_filter(buf, size);
	for (at = 0; at < size; at += ((struct ct_mark_head *)(buf + at))->size)
		count += ((struct ct_mark_head *)(buf + at))->reserved != REJECTED;
	if (total)
		rec = ct_record_new(cpu, 0, total - sizeof(*rec), CT_F_TASK, &stamp, count);
	next = rec;
	for (at = 0; at < size; at += m->size) {
		m = (void *)(buf + at);
		if (!m->op)
			m->op = ct_ring_op(&cpu->ring);
		if (begin)
			m->begin = rec ? stamp : ct_clock_ns();
		if (!rec || m->reserved == REJECTED)
			continue;
		next = put(next, m, stamp, begin ? CT_F_BEGIN : 0);
	}
	if (rec)
		ct_record_done(cpu, count);
}

/* Checked and written.  Preemption is disabled. */
static __always_inline long take(u8 *buf, u32 size, bool begin)
{
	struct ct_cpu *cpu = ct_cpu_writing();
	int total = check(buf, size, begin);

	if (total < 0)
		return total;
	if (cpu)
		write_marks(cpu, buf, size, total, begin);
	return 0;
}

/* An array that is not in memory: fetched as usual, at leisure. */
static noinline long mark_slow(void __user *user, u32 size, bool begin)
{
	u8 *buf = memdup_user(user, size);
	long err;

	if (IS_ERR(buf))
		return PTR_ERR(buf);
	preempt_disable_notrace();
	err = take(buf, size, begin);
	preempt_enable_notrace();
	if (!err && begin && copy_to_user(user, buf, sizeof(struct ct_mark_head)))
		err = -EFAULT;
	kfree(buf);
	return err;
}

long ct_mark(void __user *user, u32 size, bool begin)
{
	long err;
	u8 *buf;

	if (!size || size % 8 || size > CT_MARK_MAX)
		return -EINVAL;
	preempt_disable_notrace();
	pagefault_disable();
	buf = (u8 *)this_cpu_ptr(scratch);
	if (unlikely(!copy_words((u64 *)buf, user, size))) {
		pagefault_enable();
		preempt_enable_notrace();
		return mark_slow(user, size, begin);
	}
	pagefault_enable();
	err = take(buf, size, begin);
	if (begin && !err) {
		/* Out of the scratch while it is ours; the page was there just now. */
		struct ct_mark_head head = *(struct ct_mark_head *)buf;

		preempt_enable_notrace();
		head.reserved = 0;
		return copy_to_user(user, &head, sizeof(head)) ? -EFAULT : 0;
	}
	preempt_enable_notrace();
	return err;
}
