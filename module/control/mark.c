// SPDX-License-Identifier: GPL-2.0
/*
 * Marks: an array of records that a program has made.  The module checks them, stamps them with
 * time, cpu, pid, tid and uid, and writes them together.
 *
 * This file is the fast path: marks of one class without a text, whose first words are equal.  They
 * are not copied first.  When those words have been checked, any value is allowed in the other words,
 * and they are copied from the user's memory directly into the ring.  All other arrays go to
 * mark_array.c.
 *
 * An array spans at most two pages.  The check reads from both, so a fault after the reservation
 * means that a page was taken away in between (by another thread, or by the kernel when it moves the
 * page).  Then the reservation is cancelled, and mark_array.c takes the array.
 */
#include <linux/cred.h>
#include <linux/kernel.h>
#include <linux/percpu.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include "control/mark.h"
#include "control/mark_array.h"
#include "control/mark_words.h"
#include "core/filter.h"
#include "core/record.h"
#include "core/registry.h"
#include "base/compat.h"

/*
 * For mark_look(), while preemption is disabled.  Not on the stack: some kernels zero variables
 * there.
 */
static DEFINE_PER_CPU(u64, first_word);

struct alike {
	u64 word;		/* the first of each */
	u32 count;
	bool uid_first;
};

/* False if they are not alike, or if a page is not in memory. */
static __always_inline bool mark_look(struct alike *a, const u64 __user *from, u32 size)
{
	const u64 __user *end = (const void __user *)from + size;
	/* Before user memory is accessible: debug kernels call a function to check preemption. */
	u64 *own = this_cpu_ptr(&first_word), word;
	const struct ct_class *c;
	u32 bytes, count = 1;

	if (!user_access_begin(from, size))
		return false;
	ct_copy_user_word(&*own, &end[-1], out);
	ct_copy_user_word(&*own, &from[0], out);
	word = *own;
	bytes = MARK_SIZE(word);
	c = ct_class_find(MARK_CLASS(word));
	if (!c || bytes != c->mark_size || word & MARK_REFUSED || c->mark_word & CT_MARK_WHO ||
	    bytes > size)
		goto out;
	for (; (from = (const void __user *)from + bytes) < end; count++)
		ct_check_user_word(from, word, out);
	if (from != end)
		goto out;
	user_access_end();
	*a = (struct alike){ word, count, c->mark_word };
	return true;
out:
	user_access_end();
	return false;
}

/* Copies them from the user's memory into the ring.  False at a fault. */
static __always_inline bool mark_put_alike(u64 *to, const u64 __user *from, u32 size,
					   struct alike a, u64 op, u64 stamp)
{
	const u64 __user *end = (const void __user *)from + size;
	u64 head = CT_STAMP(stamp, MARK_CLASS(a.word));
	u64 depth_flags = MARK_DEPTH_FLAGS(a.word), begin;
	u64 who = ct_who(current);
	unsigned long bytes = MARK_SIZE(a.word), fours = bytes & ~31ul, i;

	if (!user_access_begin(from, size))
		return false;
	do {
		to[0] = head;
		to[1] = who;
		ct_copy_user_word(&to[2], &from[MARK_OP], fault);
		if (!to[2])
			to[2] = op;
		ct_copy_user_word(&to[3], &from[MARK_BEGIN], fault);
		begin = to[3];
		to[3] = depth_flags;
		if (begin && likely(begin < stamp))
			to[3] |= min_t(u64, stamp - begin, CT_DURATION_MAX);
		ct_copy_user_word(&to[4], &from[MARK_RESULT], fault);
		/* A record's head is one word longer than a mark's. */
		to++;
		for (i = MARK_WORDS * sizeof(u64); i < fours; i += 4 * sizeof(u64)) {
			MARK_NO_ANALYSIS(i);
			ct_copy_user_word((void *)&to[0] + i, (void __user *)&from[0] + i, fault);
			ct_copy_user_word((void *)&to[1] + i, (void __user *)&from[1] + i, fault);
			ct_copy_user_word((void *)&to[2] + i, (void __user *)&from[2] + i, fault);
			ct_copy_user_word((void *)&to[3] + i, (void __user *)&from[3] + i, fault);
		}
		for (; unlikely(i < bytes); i += sizeof(u64))
			ct_copy_user_word((void *)to + i, (void __user *)from + i, fault);
		to = (void *)to + bytes;
		from = (const void __user *)from + bytes;
		op += CT_RING_OP_NEXT;
	} while (from < end);
	user_access_end();
	return true;
fault:
	user_access_end();
	return false;
}

/* For a reservation that cannot be cancelled: records without contents, flagged as truncated. */
static noinline void mark_put_empty(u64 *to, struct alike a, u64 op, u64 stamp)
{
	u32 words = MARK_SIZE(a.word) / sizeof(u64) - MARK_WORDS + MARK_RECORD_WORDS;

	for (; a.count; a.count--, to += words, op += CT_RING_OP_NEXT) {
		memset(to, 0, words * sizeof(u64));
		to[0] = CT_STAMP(stamp, MARK_CLASS(a.word));
		to[1] = ct_who(current);
		to[2] = op;
		to[3] = MARK_DEPTH_FLAGS(a.word) | CT_DURATION(0, 0, CT_F_TRUNCATED);
	}
}

/* Writes the uid into each record; bytes is the size of all of them. */
static __always_inline void mark_put_uid(void *rec, u32 bytes, struct alike a)
{
	u32 stride = MARK_SIZE(a.word) - sizeof(struct ct_mark_head) + sizeof(struct ct_cpu_record);
	u32 uid = __kuid_val(current_uid());
	void *end = rec + bytes;

	do {
		*(u32 *)(rec + sizeof(struct ct_cpu_record)) = uid;
		rec += stride;
	} while (rec < end);
}

/* True if they were alike: then they are written or lost.  Preemption is disabled. */
static __always_inline bool mark_alike(struct ct_cpu *cpu, void __user *user, u32 size)
{
	struct ct_reservation room;
	struct marks m = { size };
	struct alike a;
	u64 op;

	if (!mark_look(&a, user, size))
		return false;
	m.count = a.count;
	if (unlikely(ct_mark_ring_size(m) > CT_RECORD_MAX))
		return false;
	/* Never with limits, which must know the task before they reserve. */
	ct_record_report(cpu, ct_who(current));
	room = ct_ring_reserve(&cpu->ring, ct_mark_ring_size(m), m.count);
	if (unlikely(!room.at))
		return true;
	op = ct_ring_op(&cpu->ring, m.count);
	if (unlikely(!mark_put_alike(room.at, user, size, a, op, room.stamp))) {
		if (ct_ring_discard(&cpu->ring, room.at, ct_mark_ring_size(m)))
			return false;
		mark_put_empty(room.at, a, op, room.stamp);
	}
	if (a.uid_first)
		mark_put_uid(room.at, ct_mark_ring_size(m), a);
	ct_record_done(cpu, m.count);
	return true;
}

long ct_mark(void __user *user, u32 size, bool begin)
{
	struct ct_cpu *cpu;
	bool done;

	/* Other wrong sizes are refused by the checks of the marks. */
	if (unlikely(size < sizeof(struct ct_mark_head)))
		return -EINVAL;
	if (begin)
		return ct_mark_array_begin(user, size);
	preempt_disable_notrace();
	if (!IS_ENABLED(CONFIG_PREEMPT_COUNT))
		pagefault_disable();
	cpu = ct_cpu_writing();
	/* With preemption disabled, so that setting a filter can wait for those that saw none. */
	done = cpu && !static_branch_unlikely(&ct_filtering) &&
	       !static_branch_unlikely(&ct_limiting) && mark_alike(cpu, user, size);
	if (!IS_ENABLED(CONFIG_PREEMPT_COUNT))
		pagefault_enable();
	preempt_enable_notrace();
	return likely(done) ? 0 : ct_mark_array(user, size);
}
