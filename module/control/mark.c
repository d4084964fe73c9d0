// SPDX-License-Identifier: GPL-2.0
/*
 * Markers: an array of records that a program has made, checked, stamped with
 * time, cpu, pid, tid and uid, and written together.
 *
 * Any array is copied and checked before the ring is touched, so that whatever fails
 * fails there.  Arrays of marks that are all alike take a shorter way: see below.
 */
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include "core/filter.h"
#include "control/mark.h"
#include "core/record.h"
#include "core/registry.h"

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

/*
 * Keeps the compiler from working out beforehand how often a loop will go round and
 * where it will end: it takes longer than most go.
 */
#define AS_IT_STANDS(i)		asm("" : "+r" (i))

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
static __always_inline u32 mark_ring_size(struct marks m)
{
	return m.size + m.count * (sizeof(struct ct_cpu_record) - sizeof(struct ct_mark_head));
}

/*
 * May a mark begin with this word?  Returns the word for our copy, or 0; *text: the
 * payload's size depends on what is in it.
 */
static __always_inline u64 mark_check_word(u64 word, bool *text)
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
static __always_inline int mark_copy_marks(u64 *to, const u64 __user *from, u32 size, bool *text)
{
	const u64 __user *last;
	u64 checked = 0, ours = 0;
	/* So that a first word of 0, which is as if it had been checked, ends it. */
	unsigned long bytes = ULONG_MAX, left = size;
	int count = 0;

	do {
		ct_copy_user_word(&to[0], &from[0], fault);
		if (to[0] != checked) {
			checked = to[0];
			ours = mark_check_word(checked, text);
			if (!ours)
				return -EINVAL;
			bytes = WORD_SIZE(checked);
		}
		if (bytes > left)
			return -EINVAL;
		last = (const void __user *)from + bytes - 4 * sizeof(u64);
		to[0] = ours;
		ct_copy_user_word(&to[OP], &from[OP], fault);
		ct_copy_user_word(&to[BEGIN], &from[BEGIN], fault);
		ct_copy_user_word(&to[RESULT], &from[RESULT], fault);
		for (to += MARK_WORDS, from += MARK_WORDS; from <= last; to += 4, from += 4) {
			ct_copy_user_word(&to[0], &from[0], fault);
			ct_copy_user_word(&to[1], &from[1], fault);
			ct_copy_user_word(&to[2], &from[2], fault);
			ct_copy_user_word(&to[3], &from[3], fault);
			AS_IT_STANDS(to);
			AS_IT_STANDS(from);
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

/* The sizes of texts, which need all that was copied. */
static noinline bool mark_texts_fit(const u64 *at, u32 size)
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
static noinline struct marks mark_apply_filter(u64 *to, u32 size)
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

/* What the module knows better than the program. */
static __always_inline void mark_stamp_payload(u64 *payload, u64 what)
{
	if (likely(what == CT_MARK_UID))
		*(u32 *)payload = __kuid_val(current_uid());
	else
		ct_record_who((void *)payload);
}

/* The marks into the ring at to; op: for those that have none. */
static __always_inline void mark_put_marks(u64 *to, u64 *from, u32 size, u64 op, u64 stamp,
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
			bytes = WORD_SIZE(word);
			head = CT_STAMP(stamp, WORD_CLASS(word));
			depth_flags = WORD_SHAPE(word) | CT_DURATION(0, 0, flags);
			stamped = word & (CT_MARK_UID | CT_MARK_WHO);
		}
		last = (const void *)from + bytes - 4 * sizeof(u64);
		duration = depth_flags;
		if (!(flags & CT_F_BEGIN) && from[BEGIN] && likely(from[BEGIN] < stamp))
			duration |= min_t(u64, stamp - from[BEGIN], CT_DURATION_MAX);
		to[0] = head;
		to[1] = who;
		to[2] = from[OP] ? : op;
		to[3] = duration;
		to[4] = from[RESULT];
		if (stamped)
			mark_stamp_payload(&from[MARK_WORDS], stamped);
		to += RECORD_WORDS;
		for (from += MARK_WORDS; from <= last; to += 4, from += 4) {
			to[0] = from[0];
			to[1] = from[1];
			to[2] = from[2];
			to[3] = from[3];
			AS_IT_STANDS(to);
			AS_IT_STANDS(from);
		}
		for (last += 4; from < last; to++, from++)
			*to = *from;
		op += CT_RING_OP_NEXT;
	} while (from < end);
}

/* Checked marks, written.  Returns their time; 0: not written. */
static __always_inline u64 mark_write_marks(struct ct_cpu *cpu, u64 *at, struct marks m, u8 flags)
{
	struct ct_reservation room;

	if (static_branch_unlikely(&ct_filtering)) {
		m = mark_apply_filter(at, m.size);
		if (!m.count)
			return 0;
	}
	room = ct_record_reserve(cpu, mark_ring_size(m), ct_who(current), true, m.count);
	if (unlikely(!room.at))
		return 0;
	mark_put_marks(room.at, at, m.size, ct_ring_op(&cpu->ring, m.count), room.stamp, flags);
	ct_record_done(cpu, m.count);
	return room.stamp;
}

/*
 * One mark of a call's begin, whose op and begin its end will want: also where the
 * filter or a full ring keeps it out.
 */
static __always_inline void mark_write_begin(struct ct_cpu *cpu, u64 *at, struct marks m)
{
	u64 stamp;

	if (!at[OP])
		at[OP] = ct_ring_op(&cpu->ring, 1);
	stamp = mark_write_marks(cpu, at, m, CT_F_BEGIN);
	at[BEGIN] = stamp ? : ct_clock_ns();
}

/* What mark_copy_marks() has left at at, checked to the end and written. */
static __always_inline long mark_take(u64 *at, struct marks m, bool text, bool begin)
{
	struct ct_cpu *cpu = ct_cpu_writing();

	if (unlikely(mark_ring_size(m) > CT_RECORD_MAX || (begin && m.count != 1) ||
		     (text && !mark_texts_fit(at, m.size))))
		return -EINVAL;
	if (likely(cpu)) {
		if (begin)
			mark_write_begin(cpu, at, m);
		else
			mark_write_marks(cpu, at, m, 0);
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
	err = mark_copy_marks(buf, (const u64 __force __user *)buf, size, &text);
	if (err > 0)
		err = mark_take(buf, (struct marks){ size, err }, text, begin);
	preempt_enable_notrace();
	((struct ct_mark_head *)buf)->reserved = 0;
	if (!err && begin && copy_to_user(user, buf, sizeof(struct ct_mark_head)))
		err = -EFAULT;
	kfree(buf);
	return err;
}

/*
 * An array into the scratch, with preemption disabled from then on: the number of
 * marks, or as mark_copy_marks() says and preemption as it was.
 */
static __always_inline int mark_fetch(u64 **at, void __user *user, u32 size, bool *text)
{
	int count = -EFAULT;

	/* A page that is not there is a fault that returns, here. */
	preempt_disable_notrace();
	if (!IS_ENABLED(CONFIG_PREEMPT_COUNT))
		pagefault_disable();
	*at = this_cpu_ptr(scratch);
	if (likely(user_access_begin(user, size))) {
		count = mark_copy_marks(*at, user, size, text);
		user_access_end();
	}
	if (!IS_ENABLED(CONFIG_PREEMPT_COUNT))
		pagefault_enable();
	if (unlikely(count <= 0))
		preempt_enable_notrace();
	return count;
}

/*
 * head: where the first mark's goes as it is when it was written, of a begin, else NULL.
 * -EFAULT, and nothing is done, where the array is not in memory.
 */
static __always_inline long mark_copied(void __user *user, u32 size, struct ct_mark_head *head)
{
	bool text = false;
	u64 *at;
	long err;
	int count;

	if (size % 8 || size > CT_MARK_MAX)
		return -EINVAL;
	count = mark_fetch(&at, user, size, &text);
	if (unlikely(count <= 0))
		return count;
	err = mark_take(at, (struct marks){ size, count }, text, head);
	/* Out of the scratch while it is ours. */
	if (head)
		*head = *(struct ct_mark_head *)at;
	preempt_enable_notrace();
	return err;
}

static noinline long mark_any(void __user *user, u32 size)
{
	long err = mark_copied(user, size, NULL);

	return unlikely(err == -EFAULT) ? mark_slow(user, size, false) : err;
}

static noinline long mark_begin(void __user *user, u32 size)
{
	struct ct_mark_head head;
	long err = mark_copied(user, size, &head);

	if (unlikely(err))
		return err == -EFAULT ? mark_slow(user, size, true) : err;
	head.reserved = 0;
	return copy_to_user(user, &head, sizeof(head)) ? -EFAULT : 0;
}

/* ------------------------------------------- marks that are all alike ----- */
/*
 * The common case is quicker: marks of one class without a text, and equal in their
 * first words, need no copy of ours.  Once those words have been looked at, whatever
 * else is there may be as it likes, and goes from the user's memory into the ring.
 *
 * An array touches two pages at most.  The first look reads of both, so a fault behind
 * the reservation means that somebody took a page away in between (another thread, the
 * kernel that moves it).  Then the reservation is given back and the array taken the
 * other way.
 */
struct alike {
	u64 word;		/* the first of each */
	u32 count;
	bool uid_first;
};

/* False where they are not alike, or not all there. */
static __always_inline bool mark_look(struct alike *a, const u64 __user *from, u32 size)
{
	const u64 __user *end = (const void __user *)from + size;
	/* Before user memory is open: a kernel that checks preemption calls a function. */
	u64 *own = this_cpu_ptr(scratch), word;
	const struct ct_class *c;
	u32 bytes, count = 1;

	if (!user_access_begin(from, size))
		return false;
	ct_copy_user_word(&own[0], &end[-1], out);
	ct_copy_user_word(&own[0], &from[0], out);
	word = own[0];
	bytes = WORD_SIZE(word);
	c = ct_class_find(WORD_CLASS(word));
	if (!c || bytes != c->mark_size || word & WORD_REFUSED ||
	    c->mark_word & CT_MARK_WHO || bytes > size)
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

/* Straight into the ring.  False at a fault. */
static __always_inline bool mark_put_alike(u64 *to, const u64 __user *from, u32 size,
					   struct alike a, u64 op, u64 stamp)
{
	const u64 __user *end = (const void __user *)from + size;
	u64 head = CT_STAMP(stamp, WORD_CLASS(a.word));
	u64 depth_flags = WORD_SHAPE(a.word), begin;
	u64 who = ct_who(current);
	unsigned long bytes = WORD_SIZE(a.word), fours = bytes & ~31ul, i;

	if (!user_access_begin(from, size))
		return false;
	do {
		to[0] = head;
		to[1] = who;
		ct_copy_user_word(&to[2], &from[OP], fault);
		if (!to[2])
			to[2] = op;
		ct_copy_user_word(&to[3], &from[BEGIN], fault);
		begin = to[3];
		to[3] = depth_flags;
		if (begin && likely(begin < stamp))
			to[3] |= min_t(u64, stamp - begin, CT_DURATION_MAX);
		ct_copy_user_word(&to[4], &from[RESULT], fault);
		/* The payload lies one word further on in the record. */
		to++;
		for (i = MARK_WORDS * sizeof(u64); i < fours; i += 4 * sizeof(u64)) {
			AS_IT_STANDS(i);
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

/* What was reserved and can't be given back: marks of which nothing is known. */
static noinline void mark_put_empty(u64 *to, struct alike a, u64 op, u64 stamp)
{
	u32 words = WORD_SIZE(a.word) / sizeof(u64) - MARK_WORDS + RECORD_WORDS;

	for (; a.count; a.count--, to += words, op += CT_RING_OP_NEXT) {
		memset(to, 0, words * sizeof(u64));
		to[0] = CT_STAMP(stamp, WORD_CLASS(a.word));
		to[1] = ct_who(current);
		to[2] = op;
		to[3] = WORD_SHAPE(a.word) | CT_DURATION(0, 0, CT_F_TRUNCATED);
	}
}

/* The uid into each of so many bytes of records. */
static __always_inline void mark_put_uid(void *rec, u32 bytes, struct alike a)
{
	u32 stride = WORD_SIZE(a.word) - sizeof(struct ct_mark_head) +
		     sizeof(struct ct_cpu_record);
	u32 uid = __kuid_val(current_uid());
	void *end = rec + bytes;

	do {
		*(u32 *)(rec + sizeof(struct ct_cpu_record)) = uid;
		rec += stride;
	} while (rec < end);
}

/* True if they were alike, and are written or lost.  Preemption is disabled. */
static __always_inline bool mark_alike(struct ct_cpu *cpu, void __user *user, u32 size)
{
	struct ct_reservation room;
	struct marks m = { size };
	struct alike a;
	u64 op;

	if (!mark_look(&a, user, size))
		return false;
	m.count = a.count;
	if (unlikely(mark_ring_size(m) > CT_RECORD_MAX))
		return false;
	/* Not within limits, for those keep books of what is reserved. */
	ct_record_tell(cpu, ct_who(current));
	room = ct_ring_reserve(&cpu->ring, mark_ring_size(m), m.count);
	if (unlikely(!room.at))
		return true;
	op = ct_ring_op(&cpu->ring, m.count);
	if (unlikely(!mark_put_alike(room.at, user, size, a, op, room.stamp))) {
		if (ct_ring_cancel(&cpu->ring, room.at, mark_ring_size(m)))
			return false;
		mark_put_empty(room.at, a, op, room.stamp);
	}
	if (a.uid_first)
		mark_put_uid(room.at, mark_ring_size(m), a);
	ct_record_done(cpu, m.count);
	return true;
}

long ct_mark(void __user *user, u32 size, bool begin)
{
	struct ct_cpu *cpu;
	bool done;

	/* The other sizes that are none are refused further on. */
	if (unlikely(size < sizeof(struct ct_mark_head)))
		return -EINVAL;
	if (begin)
		return mark_begin(user, size);
	preempt_disable_notrace();
	if (!IS_ENABLED(CONFIG_PREEMPT_COUNT))
		pagefault_disable();
	cpu = ct_cpu_writing();
	/* Asked here, so that who sets a filter can wait until the last has gone by. */
	done = cpu && !static_branch_unlikely(&ct_filtering) &&
	       !static_branch_unlikely(&ct_limiting) && mark_alike(cpu, user, size);
	if (!IS_ENABLED(CONFIG_PREEMPT_COUNT))
		pagefault_enable();
	preempt_enable_notrace();
	return likely(done) ? 0 : mark_any(user, size);
}
