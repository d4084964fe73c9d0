// SPDX-License-Identifier: GPL-2.0
/*
 * Any array of marks: copied, checked, filtered, and written together.  All that can fail fails
 * before space in the ring is reserved.
 */
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include "control/mark_array.h"
#include "control/mark_words.h"
#include "core/filter.h"
#include "core/record.h"
#include "core/registry.h"
#include "base/compat.h"

/*
 * Where an array is copied to, while preemption is disabled.  Not the stack: some kernels zero
 * variables there, which would cost more than all other work on a mark.
 */
static DEFINE_PER_CPU(u64[CT_MARK_MAX / sizeof(u64)], scratch);

/*
 * May a mark begin with this word?  Returns the word for our copy, or 0 if not.  Sets *text if the
 * size of the payload depends on its contents.
 */
static __always_inline u64 mark_array_check_word(u64 word, bool *text)
{
	const struct ct_class *c = ct_class_find(MARK_CLASS(word));
	u32 size = MARK_SIZE(word);

	if (word & MARK_REFUSED || !c)
		return 0;
	if (likely(size == c->mark_size))
		return word | c->mark_word;
	if (!c->has_text || !c->markable || size <= sizeof(struct ct_mark_head) || size % 8)
		return 0;
	*text = true;
	return word | c->mark_word;
}

/*
 * Copies an array of size bytes to to, and checks all but the sizes of texts.  Returns the number
 * of marks, -EINVAL, or -EFAULT if a page is not in memory.
 *
 * It copies word by word: arrays are short, and a string instruction takes long to start.
 * Neighbouring marks mostly have the same first word, so each run of equal words is checked once.
 */
static __always_inline int mark_array_copy_marks(u64 *to, const u64 __user *from, u32 size,
						 bool *text)
{
	const u64 __user *last;
	u64 checked = 0, ours = 0;
	/* A first word of 0 equals checked, so it is not checked: this size refuses it. */
	unsigned long bytes = ULONG_MAX, left = size;
	int count = 0;

	do {
		ct_copy_user_word(&to[0], &from[0], fault);
		if (to[0] != checked) {
			checked = to[0];
			ours = mark_array_check_word(checked, text);
			if (!ours)
				return -EINVAL;
			bytes = MARK_SIZE(checked);
		}
		if (bytes > left)
			return -EINVAL;
		last = (const void __user *)from + bytes - 4 * sizeof(u64);
		to[0] = ours;
		ct_copy_user_word(&to[MARK_OP], &from[MARK_OP], fault);
		ct_copy_user_word(&to[MARK_BEGIN], &from[MARK_BEGIN], fault);
		ct_copy_user_word(&to[MARK_RESULT], &from[MARK_RESULT], fault);
		for (to += MARK_WORDS, from += MARK_WORDS; from <= last; to += 4, from += 4) {
			ct_copy_user_word(&to[0], &from[0], fault);
			ct_copy_user_word(&to[1], &from[1], fault);
			ct_copy_user_word(&to[2], &from[2], fault);
			ct_copy_user_word(&to[3], &from[3], fault);
			MARK_NO_ANALYSIS(to);
			MARK_NO_ANALYSIS(from);
		}
		for (last += 4; from < last; to++, from++)
			ct_copy_user_word(to, from, fault);
		left -= bytes;
		count++;
	} while (left);
	return count;
fault:
	return -EFAULT;
}

/* Checks the sizes of texts, for which the whole array must have been copied. */
static noinline bool mark_array_texts_fit(const u64 *at, u32 size)
{
	const u64 *end = at + size / sizeof(u64);
	u32 payload;

	for (; at < end; at += MARK_SIZE(*at) / sizeof(u64)) {
		const struct ct_class *c = ct_class_find(MARK_CLASS(*at));

		payload = MARK_SIZE(*at) - sizeof(struct ct_mark_head);
		if (c->has_text && ct_payload_size(c, at + MARK_WORDS, payload) != payload)
			return false;
	}
	return true;
}

/* Removes the marks that the filter rejects; each mark is tested once. */
static noinline struct marks mark_array_apply_filter(u64 *to, u32 size)
{
	const u64 *from = to, *end = to + size / sizeof(u64);
	struct marks left = {};
	u32 bytes;

	for (; from < end; from += bytes / sizeof(u64)) {
		bytes = MARK_SIZE(*from);
		if (!ct_wanted(ct_class_find(MARK_CLASS(*from))->def.category, CT_F_TASK))
			continue;
		memmove(to, from, bytes);
		to += bytes / sizeof(u64);
		left.size += bytes;
		left.count++;
	}
	return left;
}

/* Fields that the module fills in, so that a program cannot lie about them. */
static __always_inline void mark_array_stamp_payload(u64 *payload, u64 what)
{
	if (likely(what == CT_MARK_UID))
		*(u32 *)payload = __kuid_val(current_uid());
	else
		ct_record_who((void *)payload);
}

/* Writes the records of the marks at to; op: for marks without a call number. */
static __always_inline void mark_array_put_marks(u64 *to, u64 *from, u32 size, u64 op, u64 stamp,
						 u8 flags)
{
	const u64 *end = (const void *)from + size, *last;
	u64 word, kind = 0, head = 0, depth_flags = 0, duration, stamped = 0;
	u64 who = ct_who(current);
	unsigned long bytes = 0;

	do {
		word = from[0];
		if (word != kind) {
			kind = word;
			bytes = MARK_SIZE(word);
			head = CT_STAMP(stamp, MARK_CLASS(word));
			depth_flags = MARK_DEPTH_FLAGS(word) | CT_DURATION(0, 0, flags);
			stamped = word & (CT_MARK_UID | CT_MARK_WHO);
		}
		last = (const void *)from + bytes - 4 * sizeof(u64);
		duration = depth_flags;
		if (!(flags & CT_F_BEGIN) && from[MARK_BEGIN] && likely(from[MARK_BEGIN] < stamp))
			duration |= min_t(u64, stamp - from[MARK_BEGIN], CT_DURATION_MAX);
		to[0] = head;
		to[1] = who;
		to[2] = from[MARK_OP] ?: op;
		to[3] = duration;
		to[4] = from[MARK_RESULT];
		if (stamped)
			mark_array_stamp_payload(&from[MARK_WORDS], stamped);
		to += MARK_RECORD_WORDS;
		for (from += MARK_WORDS; from <= last; to += 4, from += 4) {
			to[0] = from[0];
			to[1] = from[1];
			to[2] = from[2];
			to[3] = from[3];
			MARK_NO_ANALYSIS(to);
			MARK_NO_ANALYSIS(from);
		}
		for (last += 4; from < last; to++, from++)
			*to = *from;
		op += CT_RING_OP_NEXT;
	} while (from < end);
}

/* Writes checked marks.  Returns their time; 0: not written. */
static __always_inline u64 mark_array_write_marks(struct ct_cpu *cpu, u64 *at, struct marks m,
						  u8 flags)
{
	struct ct_reservation room;

	if (static_branch_unlikely(&ct_filtering)) {
		m = mark_array_apply_filter(at, m.size);
		if (!m.count)
			return 0;
	}
	room = ct_record_reserve(cpu, ct_mark_ring_size(m), ct_who(current), true, m.count);
	if (unlikely(!room.at))
		return 0;
	mark_array_put_marks(room.at, at, m.size, ct_ring_op(&cpu->ring, m.count), room.stamp,
			     flags);
	ct_record_done(cpu, m.count);
	return room.stamp;
}

/*
 * Writes one mark of a call's begin, and sets its op and begin, which the mark of the call's end
 * will repeat.  They are also set if the filter or a full ring rejects the mark.
 */
static __always_inline void mark_array_write_begin(struct ct_cpu *cpu, u64 *at, struct marks m)
{
	u64 stamp;

	if (!at[MARK_OP])
		at[MARK_OP] = ct_ring_op(&cpu->ring, 1);
	stamp = mark_array_write_marks(cpu, at, m, CT_F_BEGIN);
	at[MARK_BEGIN] = stamp ?: ct_clock_ns();
}

/* Completes the check of the copy at at, and writes it. */
static __always_inline long mark_array_take(u64 *at, struct marks m, bool text, bool begin)
{
	struct ct_cpu *cpu = ct_cpu_writing();

	if (unlikely(ct_mark_ring_size(m) > CT_RECORD_MAX || (begin && m.count != 1) ||
		     (text && !mark_array_texts_fit(at, m.size))))
		return -EINVAL;
	if (likely(cpu)) {
		if (begin)
			mark_array_write_begin(cpu, at, m);
		else
			mark_array_write_marks(cpu, at, m, 0);
	}
	return 0;
}

/* An array of which a page is not in memory: copied where faults may sleep. */
static noinline long mark_array_slow(void __user *user, u32 size, bool begin)
{
	u64 *buf = memdup_user(user, size);
	bool text = false;
	long err;

	if (IS_ERR(buf))
		return PTR_ERR(buf);
	preempt_disable_notrace();
	/* In place, so that it is checked like any other array. */
	err = mark_array_copy_marks(buf, (const u64 __force __user *)buf, size, &text);
	if (err > 0)
		err = mark_array_take(buf, (struct marks){ size, err }, text, begin);
	preempt_enable_notrace();
	((struct ct_mark_head *)buf)->reserved = 0;
	if (!err && begin && copy_to_user(user, buf, sizeof(struct ct_mark_head)))
		err = -EFAULT;
	kfree(buf);
	return err;
}

/*
 * Copies an array into the scratch.  Returns the number of marks, with preemption disabled; or what
 * mark_array_copy_marks() returns, with preemption as it was.
 */
static __always_inline int mark_array_fetch(u64 **at, void __user *user, u32 size, bool *text)
{
	int count = -EFAULT;

	/* With preemption or page faults disabled, a missing page makes the copy fail. */
	preempt_disable_notrace();
	if (!IS_ENABLED(CONFIG_PREEMPT_COUNT))
		pagefault_disable();
	*at = this_cpu_ptr(scratch);
	if (likely(user_access_begin(user, size))) {
		count = mark_array_copy_marks(*at, user, size, text);
		user_access_end();
	}
	if (!IS_ENABLED(CONFIG_PREEMPT_COUNT))
		pagefault_enable();
	if (unlikely(count <= 0))
		preempt_enable_notrace();
	return count;
}

/*
 * head: NULL, or for a begin: where the first mark's head is copied to after it was written.
 * Returns -EFAULT, and writes nothing, if a page of the array is not in memory.
 */
static __always_inline long mark_array_copied(void __user *user, u32 size,
					      struct ct_mark_head *head)
{
	bool text = false;
	u64 *at;
	long err;
	int count;

	if (size % 8 || size > CT_MARK_MAX)
		return -EINVAL;
	count = mark_array_fetch(&at, user, size, &text);
	if (unlikely(count <= 0))
		return count;
	err = mark_array_take(at, (struct marks){ size, count }, text, head);
	/* Before preemption is enabled: then the scratch is another task's. */
	if (head)
		*head = *(struct ct_mark_head *)at;
	preempt_enable_notrace();
	return err;
}

long ct_mark_array(void __user *user, u32 size)
{
	long err = mark_array_copied(user, size, NULL);

	return unlikely(err == -EFAULT) ? mark_array_slow(user, size, false) : err;
}

long ct_mark_array_begin(void __user *user, u32 size)
{
	struct ct_mark_head head;
	long err = mark_array_copied(user, size, &head);

	if (unlikely(err))
		return err == -EFAULT ? mark_array_slow(user, size, true) : err;
	head.reserved = 0;
	return copy_to_user(user, &head, sizeof(head)) ? -EFAULT : 0;
}
