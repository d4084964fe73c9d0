// SPDX-License-Identifier: LGPL-2.1-or-later
/* See only.h. */
#include "cmd/common/only.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "analysis/range.h"
#include "base/near.h"
#include "base/options.h"
#include "base/words.h"

enum { KEY_FROM = 0x800, KEY_TO, KEY_PID, KEY_TID, KEY_NAME, KEY_LAYER, KEY_TYPE };

#define ONLY_OPTIONS											\
	{ "from", KEY_FROM, "TIME", 0, "from this moment: ms, 1.5s, a stage, iteration:N", 1 },		\
	{ "to", KEY_TO, "TIME", 0, "until this moment", 1 },							\
	{ "pid", KEY_PID, "PID", 0, "of this process", 1 },							\
	{ "tid", KEY_TID, "TID", 0, "of this thread", 1 },							\
	{ "name", KEY_NAME, "GLOB", 0, "functions, kernels or ranges of this name: 'cuMem*'", 1 }

static const struct argp_option only_options[] = {
	ONLY_OPTIONS,
	{ 0 },
};

static const struct argp_option only_kinds_options[] = {
	ONLY_OPTIONS,
	{ "layer", KEY_LAYER, "LAYER", 0, "user, kernel or gpu", 1 },
	{ "type", KEY_TYPE, "TYPE", 0, "memory, transfer, kernel, sync, ioctl ...", 1 },
	{ 0 },
};

static int only_word(struct argp_state *state, const char *what, const char *const *words, unsigned int count,
		     const char *arg)
{
	int i = ct_word_index(words, count, arg);
	struct ct_near near = { .word = arg };
	char all[512];
	size_t used = 0;

	for (unsigned int k = 0; k < count && i < 0; k++)
		ct_near_try(&near, words[k]);
	for (unsigned int k = 0; k < count && i < 0 && used < sizeof(all); k++)
		used += (size_t)snprintf(all + used, sizeof(all) - used, "%s%s", k ? ", " : "", words[k]);
	if (i < 0)
		argp_failure(state, CT_USAGE, 0, *near.best ? "%s: there is no '%s'%s" : "%s: there is no '%s': it takes %s", what, arg,
			     *near.best ? ct_near_text(&near) : all);
	return i;
}

static const char *only_moment(struct argp_state *state, const char *arg)
{
	struct ct_error err;

	if (ct_range_check(arg, &err))
		argp_failure(state, CT_USAGE, 0, "%s", err.text);
	return arg;
}

/* @other: of the second trace: "A,B"; NULL: there is one trace. */
static uint32_t only_number(struct argp_state *state, const char *what, char *arg, uint32_t *other)
{
	char *comma = other ? strchr(arg, ',') : NULL;

	if (!comma)
		return ct_option_number(state, what, arg, 1, UINT32_MAX);
	*comma = 0;
	*other = ct_option_number(state, what, comma + 1, 1, UINT32_MAX);
	return ct_option_number(state, what, arg, 1, UINT32_MAX);
}

static error_t only_parse(int key, char *arg, struct argp_state *state)
{
	struct ct_only *o = state->input;

	switch (key) {
	case KEY_FROM:
		o->from = only_moment(state, arg);
		return 0;
	case KEY_TO:
		o->to = only_moment(state, arg);
		return 0;
	case KEY_PID:
		o->filter.pid = only_number(state, "--pid", arg, o->pair ? &o->other_pid : NULL);
		return 0;
	case KEY_TID:
		o->filter.tid = only_number(state, "--tid", arg, o->pair ? &o->other_tid : NULL);
		return 0;
	case KEY_NAME:
		if (!*arg)
			argp_failure(state, CT_USAGE, 0, "--name is empty: give a pattern, as 'cuMem*'");
		o->filter.name = arg;
		return 0;
	case KEY_LAYER:
		o->filter.layer = only_word(state, "--layer", ct_layer_word, CT_LAYER_COUNT, arg);
		return 0;
	case KEY_TYPE:
		o->filter.category = only_word(state, "--type", ct_category_word, CT_CAT_COUNT, arg);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

const struct argp ct_only_argp = { only_options, only_parse, NULL, NULL, NULL, NULL, NULL };
const struct argp ct_only_kinds_argp = { only_kinds_options, only_parse, NULL, NULL, NULL, NULL, NULL };

struct ct_only ct_only_other(const struct ct_only *o)
{
	struct ct_only other = *o;

	if (o->other_pid)
		other.filter.pid = o->other_pid;
	if (o->other_tid)
		other.filter.tid = o->other_tid;
	return other;
}

int ct_only_find(struct ct_only *o, const struct ct_trace *t, bool phases, struct ct_error *err)
{
	struct ct_report_filter *filter = &o->filter;
	struct ct_range range;
	int rc = ct_selection_known(filter, t, err);

	if (rc)
		return rc;
	phases &= o->from || o->to || filter->pid;
	if (phases || ct_range_needs_phases(o->from) || ct_range_needs_phases(o->to)) {
		o->phases_found = true;
		rc = ct_phases_find(&o->phases, t);
		if (rc)
			return ct_fail(err, -rc, "%s", strerror(-rc));
	}
	if (o->from)
		rc = ct_range_parse(o->from, t, &o->phases, filter->pid, false, &filter->from, err);
	if (!rc && o->to)
		rc = ct_range_parse(o->to, t, &o->phases, filter->pid, true, &filter->to, err);
	if (!rc && t->streams_count && filter->from > t->end)
		return ct_fail(err, ENOENT, "--from %s: the trace ends at %.3f ms", o->from, (t->end - t->reg.start) / 1e6);
	if (!rc && filter->to && filter->from >= filter->to)
		return ct_fail(err, EINVAL, "--from %s is not before --to %s", o->from ? : "0", o->to);
	range = (struct ct_range){ filter->from, filter->to };
	if (!rc && phases)
		ct_range_clip(&o->phases, &range, filter->pid);
	return rc;
}

void ct_only_select(struct ct_only *o, struct ct_trace *t, bool times)
{
	o->selection.filter = o->filter;
	if (!times)
		o->selection.filter.from = o->selection.filter.to = 0;
	ct_selection_begin(&o->selection);
	if (o->selection.no_queries || ct_filter_chooses(&o->selection.filter))
		t->filter = &o->selection.points;
}

void ct_only_free(struct ct_only *o)
{
	ct_phases_free(&o->phases);
	o->phases_found = false;
}

bool ct_only_asked(const struct ct_only *o)
{
	const struct ct_report_filter *f = &o->filter;

	return o->from || o->to || f->pid || f->tid || f->name || f->layer >= 0 || f->category >= 0;
}
