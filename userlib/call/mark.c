// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The program's own markers: cudatrace_mark() and the ranges.
 *
 * Must be safe to call at any time, also when nothing is recorded.
 */
#include "include/cudatrace/cudatrace.h"
#include "base/process.h"
#include "call/range.h"
#include "record/attach.h"

#define EXPORT	__attribute__((visibility("default")))

/* So that the record, with the head of either backend, is at most CT_RECORD_MAX. */
#define TEXT_MAX	(CT_RECORD_MAX - 64)

static struct ct_thread *ready(void)
{
	struct ct_thread *t = ct_self;

	if (!ct_ready || unlikely(ct_load(&ct_outside)))
		return NULL;
	return t->life == ct_process->life ? t : ct_thread_attach();
}

static void record(struct ct_thread *t, u16 class, u8 flags, const void *payload,
		   u32 size)
{
	u32 depth = t->open->depth;
	struct ct_record e = {
		.class = class,
		.depth = (u8)(depth < 255 ? depth : 255),
		.flags = flags | CT_F_INSTANT | CT_F_NO_RESULT,
		.size = size,
		.payload = payload,
		.op = ct_local_add(&t->ops, 1),
	};

	ct_record(t, &e);
}

/*
 * Asked for at the process's first marker only, as a system call takes longer than all else
 * here.  (One that changes its user later keeps the first in its markers, as a thread buffer
 * of the module does.)
 */
static u32 user(const struct ct_thread *t)
{
	static u64 known;	/* which life's, and the user */
	u64 u = ct_load(&known);

	if (u >> 32 != t->life) {
		u = (u64)t->life << 32 | (u32)ct_sys0(SYS_getuid);
		ct_store(&known, u);
	}
	return (u32)u;
}

static void text_record(u16 class, const char *text)
{
	struct ct_thread *t = ready();
	struct {
		u32 uid;
		u16 len;
		char text[TEXT_MAX + 8];
	} __attribute__((aligned(8))) m;
	size_t n = 0;

	if (!t || !text)
		return;
	while (n < TEXT_MAX && text[n])
		n++;
	m.uid = user(t);
	memcpy(m.text, text, n);
	memset(m.text + n, 0, 8);
	m.len = (u16)CT_TEXT_BYTES(6, (u64)n);	/* the NULs behind it are its own */
	record(t, class, n == TEXT_MAX && text[n] ? CT_F_TRUNCATED : 0, &m,
	       6u + m.len);
}

EXPORT void cudatrace_mark(const char *text)
{
	ct_range_mark(text);
	text_record(CT_CLASS_mark, text);
	ct_range_marked(text);
}

EXPORT void cudatrace_range_push(const char *text)
{
	ct_range_push(text, ready);
	text_record(CT_CLASS_range_push, text);
}

EXPORT void cudatrace_range_pop(void)
{
	struct ct_thread *t = ready();

	if (t)
		record(t, CT_CLASS_range_pop, 0, NULL, 0);
	ct_range_popped();
}
