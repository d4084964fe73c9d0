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

/*
 * The first word of a mark: size, class, flags, depth, reserved.  In our copy of it
 * the reserved part is ours: CT_MARK_UID, CT_MARK_WHO.
 */
#define WORD_SIZE(w)	((u16)(w))
#define WORD_CLASS(w)	((u16)((w) >> 16))
/* Depth and flags as they stand in a record's duration: the other way round. */
#define WORD_SHAPE(w)	((u64)swab16((u16)((w) >> 32)) << 48)
#define WORD_REFUSED	((u64)(CT_F_CONTEXT | CT_F_BEGIN) << 32 | 0xffffull << 48)

/* The others. */
#define OP		1
#define BEGIN		2
#define RESULT		3
#define MARK_WORDS	4	/* then comes the payload */
#define RECORD_WORDS	5	/* of a record's head */
static_assert(offsetof(struct ct_mark_head, op) == OP * sizeof(u64) &&
	      offsetof(struct ct_mark_head, begin) == BEGIN * sizeof(u64) &&
	      offsetof(struct ct_mark_head, result) == RESULT * sizeof(u64) &&
	      sizeof(struct ct_mark_head) == MARK_WORDS * sizeof(u64) &&
	      sizeof(struct ct_cpu_record) == RECORD_WORDS * sizeof(u64));

/* An array of marks, copied and checked: nobody changes it any more. */
struct marks {
	u32 size;		/* bytes, heads and payloads */
	u32 count;
};

/*
 * Where an array is copied to: one a CPU, in use while preemption is disabled.
 * (Not the stack: zeroing it costs more than the whole of the rest.)
 */
static DEFINE_PER_CPU(u64[CT_MARK_MAX / sizeof(u64)], scratch);

/* Bytes that they take in the ring. */
static __always_inline u32 ring_size(struct marks m)
{
	return m.size + m.count * (sizeof(struct ct_cpu_record) - sizeof(struct ct_mark_head));
}

/*
 * May a mark begin with this word?  Returns the word for our copy, or 0; *text: the
 * payload's size depends on what is in it.
 */
static __always_inline u64 check_word(u64 word, bool *text)
{
	const struct ct_class *c = ct_class_find(WORD_CLASS(word));
	u32 size = WORD_SIZE(word);

	if (word & WORD_REFUSED || !c)
		return 0;
	if (likely(size == c->mark_size))
		return word | c->mark_word;
	if (!c->has_text || !c->markable ||
	    size <= sizeof(struct ct_mark_head) || size % 8)
		return 0;
	*text = true;
	return word | c->mark_word;
}

/*
 * Copy an array of size bytes to to, and check all but the sizes of texts.  Returns
 * the number of marks, -EINVAL, or -EFAULT where a page is not in memory.
 *
 * Word by word: arrays are short, and a string instruction takes long to begin.
 * Marks of one kind mostly come together, so what a first word says is asked once.
 */
static __always_inline int copy_marks(u64 *to, const u64 __user *from, u32 size, bool *text)
{
	u64 checked = 0, ours = 0;
	unsigned long bytes = 0, left = size;
	u64 *next, *last;
	int count = 0;

	do {
		ct_copy_user_word(&to[0], &from[0], fault);
		if (to[0] != checked) {
			checked = to[0];
			ours = check_word(checked, text);
			if (!ours)
				return -EINVAL;
			bytes = WORD_SIZE(checked);
		}
		if (bytes > left)
			return -EINVAL;
		next = (void *)to + bytes;
		last = next - 4;
		to[0] = ours;
		ct_copy_user_word(&to[OP], &from[OP], fault);
		ct_copy_user_word(&to[BEGIN], &from[BEGIN], fault);
		ct_copy_user_word(&to[RESULT], &from[RESULT], fault);
		for (to += MARK_WORDS, from += MARK_WORDS; to <= last; to += 4, from += 4) {
			ct_copy_user_word(&to[0], &from[0], fault);
			ct_copy_user_word(&to[1], &from[1], fault);
			ct_copy_user_word(&to[2], &from[2], fault);
			ct_copy_user_word(&to[3], &from[3], fault);
		}
		while (to < next)
			ct_copy_user_word(to++, from++, fault);
		left -= bytes;
		count++;
	} while (left);
	return count;
fault:
	return -EFAULT;
}

/* The sizes of texts, which need all that was copied. */
static noinline bool texts_fit(const u64 *at, u32 size)
{
	const u64 *end = at + size / sizeof(u64);
	u32 payload;

	for (; at < end; at += WORD_SIZE(*at) / sizeof(u64)) {
		const struct ct_class *c = ct_class_find(WORD_CLASS(*at));

		payload = WORD_SIZE(*at) - sizeof(struct ct_mark_head);
		if (c->has_text && ct_payload_size(c, at + MARK_WORDS, payload) != payload)
			return false;
	}
	return true;
}

/* Leave only what the filter lets through: what it says is asked once. */
static noinline struct marks apply_filter(u64 *to, u32 size)
{
	const u64 *from = to, *end = to + size / sizeof(u64);
	struct marks left = {};
	u32 bytes;

	for (; from < end; from += bytes / sizeof(u64)) {
		bytes = WORD_SIZE(*from);
		if (!ct_wanted(ct_class_find(WORD_CLASS(*from))->def.category, CT_F_TASK))
			continue;
		memmove(to, from, bytes);
		to += bytes / sizeof(u64);
		left.size += bytes;
		left.count++;
	}
	return left;
}

/* The marks into the ring at to; op: for those that have none. */
static __always_inline void put_marks(u64 *to, u64 *from, u32 size, u64 op,
				      u64 stamp, u8 flags)
{
	const u64 *end = (const void *)from + size, *next, *last;
	u64 word, kind = 0, head = 0, shape = 0, duration;
	u64 who = ct_who(current);
	u32 uid = __kuid_val(current_uid());

	do {
		word = from[0];
		if (word != kind) {
			kind = word;
			head = CT_STAMP(stamp, WORD_CLASS(word));
			shape = WORD_SHAPE(word) | CT_DURATION(0, 0, flags);
		}
		next = (void *)from + WORD_SIZE(word);
		last = next - 4;
		duration = shape;
		/* Below stamp, and not 0. */
		if (!(flags & CT_F_BEGIN) && from[BEGIN] - 1 < stamp - 1)
			duration |= min_t(u64, stamp - from[BEGIN], CT_DURATION_MAX);
		to[0] = head;
		to[1] = who;
		to[2] = from[OP] ? : op;
		to[3] = duration;
		to[4] = from[RESULT];
		if (word & CT_MARK_UID)
			*(u32 *)&from[MARK_WORDS] = uid;
		else if (unlikely(word & CT_MARK_WHO))
			ct_record_who((void *)&from[MARK_WORDS]);
		to += RECORD_WORDS;
		for (from += MARK_WORDS; from <= last; from += 4, to += 4) {
			to[0] = from[0];
			to[1] = from[1];
			to[2] = from[2];
			to[3] = from[3];
		}
		while (from < next)
			*to++ = *from++;
		op += CT_RING_OP_NEXT;
	} while (from < end);
}

/* Checked marks, written.  Returns their time; 0: not written. */
static __always_inline u64 write_marks(struct ct_cpu *cpu, u64 *at, struct marks m, u8 flags)
{
	struct ct_room room;

	if (static_branch_unlikely(&ct_filtering)) {
		m = apply_filter(at, m.size);
		if (!m.count)
			return 0;
	}
	room = ct_record_reserve(cpu, ring_size(m), ct_who(current), true, m.count);
	if (unlikely(!room.at))
		return 0;
	put_marks(room.at, at, m.size, ct_ring_op(&cpu->ring, m.count), room.stamp, flags);
	ct_record_done(cpu, m.count);
	return room.stamp;
}

/*
 * One mark of a call's begin, whose op and begin its end will want: also where the
 * filter or a full ring keeps it out.
 */
static __always_inline void write_begin(struct ct_cpu *cpu, u64 *at, struct marks m)
{
	u64 stamp;

	if (!at[OP])
		at[OP] = ct_ring_op(&cpu->ring, 1);
	stamp = write_marks(cpu, at, m, CT_F_BEGIN);
	at[BEGIN] = stamp ? : ct_clock_ns();
}

/* What copy_marks() has left at at, checked to the end and written. */
static __always_inline long take(u64 *at, struct marks m, bool text, bool begin)
{
	struct ct_cpu *cpu = ct_cpu_writing();

	if (unlikely(ring_size(m) > CT_RECORD_MAX || (begin && m.count != 1) ||
		     (text && !texts_fit(at, m.size))))
		return -EINVAL;
	if (likely(cpu)) {
		if (begin)
			write_begin(cpu, at, m);
		else
			write_marks(cpu, at, m, 0);
	}
	return 0;
}

/* An array that is not in memory: fetched as usual, at leisure. */
static noinline long mark_slow(void __user *user, u32 size, bool begin)
{
	u64 *buf = memdup_user(user, size);
	bool text = false;
	long err;

	if (IS_ERR(buf))
		return PTR_ERR(buf);
	preempt_disable_notrace();
	/* In place, so that it is checked as any. */
	err = copy_marks(buf, (const u64 __force __user *)buf, size, &text);
	if (err > 0)
		err = take(buf, (struct marks){ size, err }, text, begin);
	preempt_enable_notrace();
	((struct ct_mark_head *)buf)->reserved = 0;
	if (!err && begin && copy_to_user(user, buf, sizeof(struct ct_mark_head)))
		err = -EFAULT;
	kfree(buf);
	return err;
}

/*
 * An array into the scratch, with preemption disabled from then on: the number of
 * marks, or as copy_marks() says and preemption as it was.
 */
static __always_inline int fetch(u64 **at, void __user *user, u32 size, bool *text)
{
	int count = -EFAULT;

	/* A page that is not there is a fault that returns, here. */
	preempt_disable_notrace();
	if (!IS_ENABLED(CONFIG_PREEMPT_COUNT))
		pagefault_disable();
	*at = this_cpu_ptr(scratch);
	if (likely(user_access_begin(user, size))) {
		count = copy_marks(*at, user, size, text);
		user_access_end();
	}
	if (!IS_ENABLED(CONFIG_PREEMPT_COUNT))
		pagefault_enable();
	if (unlikely(count <= 0))
		preempt_enable_notrace();
	return count;
}

static noinline long mark_begin(void __user *user, u32 size)
{
	struct ct_mark_head head;
	bool text = false;
	u64 *at;
	long err;
	int count = fetch(&at, user, size, &text);

	if (unlikely(count <= 0))
		return count == -EFAULT ? mark_slow(user, size, true) : count;
	err = take(at, (struct marks){ size, count }, text, true);
	/* Out of the scratch while it is ours. */
	head = *(struct ct_mark_head *)at;
	preempt_enable_notrace();
	head.reserved = 0;
	if (!err && copy_to_user(user, &head, sizeof(head)))
		err = -EFAULT;
	return err;
}

long ct_mark(void __user *user, u32 size, bool begin)
{
	bool text = false;
	u64 *at;
	long err;
	int count;

	if (unlikely(!size || size % 8 || size > CT_MARK_MAX))
		return -EINVAL;
	if (begin)
		return mark_begin(user, size);
	count = fetch(&at, user, size, &text);
	if (unlikely(count <= 0))
		return count == -EFAULT ? mark_slow(user, size, false) : count;
	err = take(at, (struct marks){ size, count }, text, false);
	preempt_enable_notrace();
	return err;
}
