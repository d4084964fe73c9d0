// SPDX-License-Identifier: LGPL-2.1-or-later
/* See account.h. */
#include "analysis/threads/account.h"

const char *ct_account_word(unsigned int account)
{
	static const char *const words[CT_ACCOUNT_CALLS] = {
		[CT_ACCOUNT_APP] = "application",
		[CT_ACCOUNT_WAIT] = "waiting",
		[CT_ACCOUNT_OFF_CPU] = "off the CPU",
		[CT_ACCOUNT_DRIVER] = "kernel driver",
		[CT_ACCOUNT_ABSENT] = "before or after the thread",
	};

	if (account < CT_ACCOUNT_CALLS)
		return words[account];
	account -= CT_ACCOUNT_CALLS;
	return account == CT_CAT_OTHER ? "other calls" : ct_category_word[account];
}

void ct_account_iteration(struct ct_iteration_account *i, unsigned int account, uint64_t ns)
{
	switch (account) {
	case CT_ACCOUNT_APP: case CT_ACCOUNT_ABSENT:
		i->app += ns;
		break;
	case CT_ACCOUNT_WAIT:
		i->wait += ns;
		break;
	case CT_ACCOUNT_OFF_CPU:
		i->off_cpu += ns;
		break;
	case CT_ACCOUNT_DRIVER:
		i->driver += ns;
		break;
	default:
		i->calls += ns;
	}
}

/* A call of @class that is the innermost one. */
static unsigned int account_inside(const struct ct_class *class, unsigned int category)
{
	if (class->layer != CT_LAYER_USER || category == CT_CAT_IOCTL || category == CT_CAT_SYSCALL)
		return CT_ACCOUNT_DRIVER;
	return CT_ACCOUNT_CALLS + category;
}

/* What a thread does, by its open calls. */
static unsigned int account_of(const struct ct_track *track, bool off)
{
	const struct ct_frame *top = track->depth ? &track->frames[track->depth - 1] : NULL;

	if (track->nested[CT_CAT_SYNC])
		return CT_ACCOUNT_WAIT;
	if (off)
		return CT_ACCOUNT_OFF_CPU;
	return top ? account_inside(top->class, top->category) : CT_ACCOUNT_APP;
}

unsigned int ct_account_after(const struct ct_trace_event *e, bool *off)
{
	bool switched = ct_class_is(e->class, CT_IS_SWITCH);

	/* Who calls something is on the CPU, also where the record of that was lost; who is woken waits for one. */
	if (!switched || e->kind != CT_ON_INSTANT)
		*off = switched && e->kind == CT_ON_BEGIN;
	if (e->kind != CT_ON_BEGIN || switched)
		return account_of(e->track, *off);
	if (e->track->nested[CT_CAT_SYNC] || e->category == CT_CAT_SYNC)
		return CT_ACCOUNT_WAIT;
	return account_inside(e->class, e->category);
}
