// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * See range.h.  The call that begins the range waits until CUPTI is ready, if that is asked for; the call that
 * ends it, until CUPTI collects no more.  Must never wait for ever.
 */
#include "call/range.h"

#include <linux/futex.h>

#include "backend/backend.h"
#include "base/options.h"
#include "base/process.h"
#include "record/attach.h"

#define BEGINS_S	10	/* CUPTI may take seconds to begin */
#define ENDS_S		1

u32 ct_outside;
early_data void (*ct_range_route)(void);

#define NO_PLUGIN	(CT_RANGE_AFTER + 1u)

static u32 served = NO_PLUGIN;	/* what the plugin is ready for */
static u64 numbered;			/* 1 + the number of the NVTX range that is the capture range */

/* "range:NAME"; NULL: the range is no named one. */
static const char *name_of_range(void)
{
	const char *range = ct_options.range;

	return range && !strncmp(range, "range:", 6) ? range + 6 : NULL;
}

void ct_range_start(void)
{
	ct_store(&served, NO_PLUGIN);
	ct_store(&numbered, 0ull);
	ct_store(&ct_outside, ct_options.range ? (u32)CT_RANGE_BEFORE : (u32)CT_RANGE_INSIDE);
}

enum ct_range_role ct_range_role(const char *symbol)
{
	if (likely(!ct_options.range) || name_of_range())
		return CT_RANGE_NONE;
	if (!strcmp(symbol, "cuProfilerStart"))
		return CT_RANGE_BEGINS;
	return strcmp(symbol, "cuProfilerStop") ? CT_RANGE_NONE : CT_RANGE_ENDS;
}

/* ------------------------------------------------------ begin and end ----- */

void ct_range_served(u32 state)
{
	ct_store(&served, state);
	ct_sys3(SYS_futex, &served, FUTEX_WAKE, 1 << 30);
}

/* Waits while it is @now. False: that took too long. */
static bool served_changes(u32 now, s64 seconds)
{
	const struct { s64 s, ns; } longest = { seconds, 0 };

	return ct_sys4(SYS_futex, &served, FUTEX_WAIT, now, &longest) != -110 /* ETIMEDOUT */;
}

void ct_range_await_plugin(s64 seconds)
{
	while (ct_load(&served) == NO_PLUGIN)
		if (!served_changes(NO_PLUGIN, seconds))
			return;
}

/* Where there is a plugin that collects. */
static void range_await(u32 state, s64 seconds)
{
	u32 now = ct_load(&served);

	ct_sys3(SYS_futex, &ct_outside, FUTEX_WAKE, 1 << 30);
	if (now != CT_RANGE_BEFORE && now != CT_RANGE_INSIDE)
		return;
	/* CT_RANGE_AFTER: it collects nothing, or no more. */
	while ((now = ct_load(&served)) != state && now != CT_RANGE_AFTER)
		if (!served_changes(now, seconds))
			return;
}

static void range_say(const char *key)
{
	char buf[64];
	struct ct_text line = { buf, sizeof(buf), 0 };
	u64 now = ct_clock_real();

	if (!ct_process_attach())
		return;
	ct_put_u(&line, ct_process->pid);
	ct_put(&line, " ");
	ct_put_u(&line, now);
	ct_backend->info(key, buf);
}

static cold bool range_move(u32 from, u32 to)
{
	return __atomic_compare_exchange_n(&ct_outside, &from, to, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

static cold void range_begin(void)
{
	if (ct_load(&ct_stopped) || !range_move(CT_RANGE_BEFORE, CT_RANGE_INSIDE))
		return;
	range_await(CT_RANGE_INSIDE, BEGINS_S);
	range_say("range_begun");
	ct_range_route();
}

static cold void range_end(void)
{
	if (!range_move(CT_RANGE_INSIDE, CT_RANGE_AFTER))
		return;
	ct_range_route();
	range_await(CT_RANGE_AFTER, ENDS_S);
	range_say("range_ended");
}

/* ------------------------------------------------------ what does it ------ */

void ct_range_enter(void)
{
	range_begin();
}

void ct_range_leave(struct ct_frame *f)
{
	(void)f;
	if (ct_options.range && !name_of_range())
		range_end();
}

void ct_range_push(const char *text, struct ct_thread *(*attach)(void))
{
	const char *name = name_of_range();
	struct ct_thread *t = ct_self;

	if (likely(!name))
		return;
	if (t->ranges && ct_load(&ct_outside) == CT_RANGE_INSIDE) {
		t->ranges++;
		return;
	}
	if (ct_load(&ct_outside) != CT_RANGE_BEFORE || !text || strcmp(text, name))
		return;
	range_begin();
	t = attach();
	if (t)
		t->ranges = 1;
}

void ct_range_popped(void)
{
	struct ct_thread *t = ct_self;

	if (unlikely(t->ranges) && !--t->ranges)
		range_end();
}

/* The NVTX plugin's marks of ranges that may end in another thread: "range 7 begins: NAME"; @rest: behind the number. */
static u64 range_number(const char *text, const char **rest)
{
	u64 n = 0;

	if (strncmp(text, "range ", 6))
		return 0;
	for (text += 6; *text >= '0' && *text <= '9'; text++)
		n = n * 10 + (u64)(*text - '0');
	*rest = text;
	return n + 1;
}

void ct_range_mark(const char *text)
{
	const char *name = name_of_range(), *rest = NULL;
	u64 number;

	if (likely(!name) || !text || ct_load(&ct_outside) != CT_RANGE_BEFORE)
		return;
	number = range_number(text, &rest);
	if (number && !strncmp(rest, " begins: ", 9) && !strcmp(rest + 9, name))
		ct_store(&numbered, number);
	else if (strcmp(text, name))
		return;
	range_begin();
}

void ct_range_marked(const char *text)
{
	const char *rest = NULL;

	if (likely(!ct_load(&numbered)) || !text)
		return;
	if (range_number(text, &rest) == ct_load(&numbered) && !strcmp(rest, " ends"))
		range_end();
}
