// SPDX-License-Identifier: GPL-2.0
/*
 * Marks: an array of records that a program has made.  The module copies the array, checks the
 * copy, stamps it with time, cpu, pid, tid and uid, and writes all of it together.  All that can
 * fail fails before space in the ring is reserved.
 */
#include <linux/cache.h>
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include "control/mark.h"
#include "core/filter.h"
#include "core/record.h"
#include "core/registry.h"

/* A checked array. */
struct marks {
	struct ct_mark_head *first;
	u32 size; /* bytes, heads and payloads */
	u32 count;
};

/*
 * Where an array is copied to, while preemption is disabled.  Not the stack: some kernels zero
 * variables there, which would cost more than all other work on a mark.  Nor DEFINE_PER_CPU(): for
 * those of all modules together the kernel has 8 KiB, and a module that finds none is not loaded.
 */
struct mark_scratch {
	u64 word[CT_MARK_MAX / sizeof(u64)];
};

static struct mark_scratch __percpu *scratch __ro_after_init;

static __always_inline struct ct_mark_head *mark_next(const struct ct_mark_head *m)
{
	return (void *)m + m->size;
}

/* Bytes that their records take in the ring. */
static __always_inline u32 mark_ring_size(const struct marks *m)
{
	return m->size + m->count * (sizeof(struct ct_cpu_record) - sizeof(struct ct_mark_head));
}

/*
 * Copies an array, a multiple of 8 bytes.  False if a page is not in memory.  By words, like the
 * records below: most arrays are so short that a string instruction takes longer to start.
 */
static __always_inline bool mark_copy(u64 *to, const u64 __user *from, u32 size)
{
	const u64 __user *end = (const void __user *)from + size;

	if (!user_access_begin(from, size))
		return false;
	for (; from < end; to++, from++)
		unsafe_get_user(*to, from, fault);
	user_access_end();
	return true;
fault:
	user_access_end();
	return false;
}

/* Of the second word, flags, depth and reserved: what has to be 0, asked at once. */
#define MARK_CLEAR	(0xffff0000u | CT_F_CONTEXT | CT_F_BEGIN)

/*
 * May a mark stand here?  room: bytes up to the array's end.  An op without CT_OP_BEGUN may be, or
 * become, that of a call that the kernel saw: readers would take the mark for its begin or end.
 */
static __always_inline bool mark_valid(const struct ct_mark_head *m, const struct ct_class *c,
				       u32 room)
{
	u32 payload = m->size - sizeof(*m);

	if (!c || m->size > room || ((const u32 *)m)[1] & MARK_CLEAR ||
	    (m->op && !(m->op & CT_OP_BEGUN)))
		return false;
	if (likely(m->size == c->mark_size))
		return true;
	return c->has_text && c->markable && m->size > sizeof(*m) && !(m->size % 8) &&
	       ct_payload_size(c, m + 1, payload) == payload;
}

/* Fields that the module fills in, so that a program cannot lie about them. */
static __always_inline void mark_stamp(struct ct_mark_head *m, const struct ct_class *c)
{
	if (likely(!c->mark_word))
		return;
	if (c->mark_word & CT_MARK_UID)
		*(u32 *)(m + 1) = __kuid_val(current_uid());
	else
		ct_record_who((void *)(m + 1));
}

/* Checks an array, a multiple of 8 bytes, and counts its marks. */
static __always_inline bool mark_check(struct marks *all)
{
	struct ct_mark_head *m = all->first, *end = (void *)m + all->size;
	const struct ct_class *c;

	for (all->count = 0; m < end; m = mark_next(m), all->count++) {
		c = ct_class_find(m->class);
		if (unlikely(!mark_valid(m, c, (void *)end - (void *)m)))
			return false;
		mark_stamp(m, c);
	}
	return mark_ring_size(all) <= CT_RECORD_MAX;
}

/* Removes the marks that the filter rejects; each mark is tested once. */
static noinline void mark_apply_filter(struct marks *all)
{
	struct ct_mark_head *to = all->first, *m = to, *end = (void *)m + all->size, *next;

	all->count = 0;
	for (; m < end; m = next) {
		next = mark_next(m);
		if (!ct_wanted(ct_class_find(m->class)->def.category, CT_F_TASK))
			continue;
		to = memmove(to, m, m->size);
		to = mark_next(to);
		all->count++;
	}
	all->size = (void *)to - (void *)all->first;
}

/* Writes the records of the marks; op: for marks without a call number. */
static __always_inline void mark_put(u64 *to, const struct marks *all, u64 op, u64 stamp, u8 flags)
{
	const struct ct_mark_head *m = all->first, *next;
	const void *end = (void *)m + all->size;
	struct ct_cpu_record *rec;
	u64 ns, who = ct_who(current);
	const u64 *from;

	for (; (void *)m < end; m = next, op += CT_RING_OP_NEXT) {
		next = mark_next(m);
		rec = (void *)to;
		ns = flags & CT_F_BEGIN || !m->begin || m->begin > stamp ? 0 : stamp - m->begin;
		rec->stamp = CT_STAMP(stamp, m->class);
		*(u64 *)&rec->pid = who;
		rec->op = m->op ?: op;
		rec->duration = CT_DURATION(min_t(u64, ns, CT_DURATION_MAX), m->depth,
					    m->flags | flags);
		rec->result = m->result;
		for (to = (u64 *)(rec + 1), from = (const u64 *)(m + 1); from < (u64 *)next;)
			*to++ = *from++;
	}
}

/* Writes checked marks.  Returns their time; 0: not written. */
static __always_inline u64 mark_write(struct ct_cpu *cpu, struct marks *all, u8 flags)
{
	struct ct_reservation room;

	if (static_branch_unlikely(&ct_filtering)) {
		mark_apply_filter(all);
		if (!all->count)
			return 0;
	}
	room = ct_record_reserve(cpu, mark_ring_size(all), ct_who(current), true, all->count);
	if (unlikely(!room.at))
		return 0;
	mark_put(room.at, all, ct_ring_op(&cpu->ring, all->count), room.stamp, flags);
	ct_record_done(cpu, all->count);
	return room.stamp;
}

/*
 * Writes one mark of a call's begin, and sets its op and begin, which the mark of the call's end
 * will repeat.  They are also set if the filter or a full ring rejects the mark.
 */
static __always_inline void mark_write_begin(struct ct_cpu *cpu, struct marks *all)
{
	struct ct_mark_head *m = all->first;
	u64 stamp;

	m->op = ct_ring_op_begun(&cpu->ring);
	stamp = mark_write(cpu, all, CT_F_BEGIN);
	m->begin = stamp ?: ct_clock_ns();
}

/* Checks the copy of an array, and writes it.  Preemption is disabled. */
static __always_inline long mark_take(void *copy, u32 size, bool begin)
{
	struct ct_cpu *cpu = ct_cpu_writing();
	struct marks all = { copy, size };

	if (unlikely(!mark_check(&all) || (begin && all.count != 1)))
		return -EINVAL;
	if (unlikely(!cpu))
		return 0;
	if (begin)
		mark_write_begin(cpu, &all);
	else
		mark_write(cpu, &all, 0);
	return 0;
}

/* An array of which a page is not in memory: copied where faults may sleep. */
static noinline long mark_slow(void __user *user, u32 size, bool begin, struct ct_mark_head *head)
{
	void *copy = memdup_user(user, size);
	long err;

	if (IS_ERR(copy))
		return PTR_ERR(copy);
	preempt_disable_notrace();
	err = mark_take(copy, size, begin);
	preempt_enable_notrace();
	*head = *(struct ct_mark_head *)copy;
	kfree(copy);
	return err;
}

long ct_mark(void __user *user, u32 size, bool begin)
{
	struct ct_mark_head head;
	void *copy;
	long err = -EFAULT;

	if (unlikely(size < sizeof(head) || size % 8 || size > CT_MARK_MAX))
		return -EINVAL;
	preempt_disable_notrace();
	pagefault_disable();
	copy = this_cpu_ptr(scratch)->word;
	if (likely(mark_copy(copy, user, size))) {
		err = mark_take(copy, size, begin);
		/* Before preemption is enabled: then the scratch is another task's. */
		if (begin)
			head = *(struct ct_mark_head *)copy;
	}
	pagefault_enable();
	preempt_enable_notrace();
	/* Only the copy can have failed with EFAULT. */
	if (unlikely(err == -EFAULT))
		err = mark_slow(user, size, begin, &head);
	if (begin && !err && copy_to_user(user, &head, sizeof(head)))
		err = -EFAULT;
	return err;
}

int ct_mark_init(void)
{
	scratch = alloc_percpu(struct mark_scratch);
	return scratch ? 0 : -ENOMEM;
}

void ct_mark_exit(void)
{
	free_percpu(scratch);
}
