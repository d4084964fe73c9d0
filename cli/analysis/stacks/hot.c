// SPDX-License-Identifier: LGPL-2.1-or-later
/* See hot.h. */
#include "analysis/stacks/hot.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Less is not worth a word. */
#define HOT_LEAST	1.0	/* % */
#define HOT_UNKNOWN	5.0	/* %, of time without a line */

/* Costs that samples say something of. */
#define HOT_SAMPLED	(CT_COST_BIT(CT_COST_APP) | CT_COST_BIT(CT_COST_BEFORE) | CT_COST_BIT(CT_COST_IDLE))

bool ct_stack_own(const struct ct_registry *reg, uint32_t node, struct ct_stack_frame *f, uint32_t *own)
{
	uint32_t innermost = node;
	bool file = false;

	for (unsigned int i = 0; i < CT_STACK_DEPTH && ct_stack_frame(reg, node, f); i++) {
		if (!ct_stack_foreign(f)) {
			*own = node;
			return true;
		}
		/* That of a file says more than one of generated code. */
		if (!file && (f->file_len || f->object_len) && *f->file != '<') {
			file = true;
			innermost = node;
		}
		node = f->parent;
	}
	*own = innermost;
	return ct_stack_frame(reg, innermost, f);
}

/* The package of the outermost frame below @own that is a library's; false: there is none. */
static bool hot_package(const struct ct_registry *reg, uint32_t node, uint32_t own, const char **name, int *len)
{
	struct ct_stack_frame f;
	bool found = false, package;

	for (unsigned int i = 0; i < CT_STACK_DEPTH && node != own && ct_stack_frame(reg, node, &f); i++, node = f.parent) {
		int its_len;
		const char *its = ct_stack_module(&f, &its_len, &package);

		if (!package || !its_len)
			continue;
		*name = its;
		*len = its_len;
		found = true;
	}
	return found;
}

static int hot_compare(const void *a, const void *b)
{
	const struct ct_hot_line *x = a, *y = b;

	if (x->value != y->value)
		return x->value > y->value ? -1 : 1;
	return x->key < y->key ? -1 : x->key > y->key;
}

int ct_hot_lines(struct ct_hot *hot, const struct ct_stack_costs *costs, const struct ct_registry *reg, uint64_t part,
		 unsigned int which)
{
	*hot = (struct ct_hot){ 0 };
	for (size_t i = 0; i < costs->sums.count; i++) {
		const struct ct_stack_sum *sum = &costs->sums.list[i];
		uint64_t value = ct_stack_cost_sum(&sum->cost, which);
		struct ct_stack_frame f;
		struct ct_hot_line *line;
		const char *package;
		int package_len;
		uint32_t node;

		if (sum->part != part || !value)
			continue;
		if (!sum->node || !ct_stack_own(reg, sum->node, &f, &node)) {
			hot->unknown += value;
			continue;
		}
		hot->all += value;
		line = ct_keyed_put(&hot->lines, (uint64_t)f.function << 32 | f.line);
		if (!line)
			return -ENOMEM;
		line->node = node;
		line->value += value;
		for (unsigned int k = 0; k < CT_SAMPLE_STATES; k++) {
			line->states[k] += sum->cost.of[CT_COST_STATE + k];
			line->samples += sum->cost.of[CT_COST_STATE + k];
		}
		line->holds += sum->cost.of[CT_COST_HOLDS];
		if (hot_package(reg, sum->node, node, &package, &package_len))
			ct_module_vote(&line->package, package, package_len, value);
		else
			ct_module_vote(&line->package, "", 0, value);
	}
	ct_keyed_sort(&hot->lines, hot_compare);
	return 0;
}

/* Behind the last slash. */
static int hot_base(const char **name, int len)
{
	int folders = len;

	while (folders && (*name)[folders - 1] != '/')
		folders--;
	*name += folders;
	return len - folders;
}

const char *ct_stack_place(const struct ct_stack_frame *f, char *buf, size_t size)
{
	bool object = !f->file_len && f->object_len;
	const char *name = object ? f->object : f->file;
	int len = hot_base(&name, object ? f->object_len : f->file_len);

	if (object || !f->line)
		snprintf(buf, size, "%.*s", len, name);
	else
		snprintf(buf, size, "%.*s:%u", len, name, f->line);
	return buf;
}

const char *ct_stack_line(const struct ct_stack_frame *f, char *buf, size_t size)
{
	char place[300];

	ct_stack_place(f, place, sizeof(place));
	if (f->file_len)
		snprintf(buf, size, "%s (%.*s)", place, f->name_len, f->name);
	else if (f->object_len)
		snprintf(buf, size, "%.*s (%s)", f->name_len, f->name, place);
	else
		snprintf(buf, size, "%.*s", f->name_len, f->name);
	return buf;
}

/* How many samples of @part are between calls, or before the first one, in each state; their sum. */
static uint64_t hot_count(const struct ct_stack_costs *costs, uint64_t part, bool before, uint64_t states[CT_SAMPLE_STATES])
{
	uint64_t all = 0;

	memset(states, 0, CT_SAMPLE_STATES * sizeof(*states));
	for (size_t i = 0; i < costs->sums.count; i++) {
		const struct ct_stack_cost *c = &costs->sums.list[i].cost;

		if (costs->sums.list[i].part != part || !c->of[before ? CT_COST_BEFORE : CT_COST_SAMPLES])
			continue;
		for (unsigned int k = 0; k < CT_SAMPLE_STATES; k++) {
			states[k] += c->of[CT_COST_STATE + k];
			all += c->of[CT_COST_STATE + k];
		}
	}
	return all;
}

double ct_hot_elsewhere(const struct ct_stack_costs *costs, uint64_t part, enum ct_sample_state *most)
{
	static const bool elsewhere[CT_SAMPLE_STATES] = {
		[CT_SAMPLE_SLEEP] = true, [CT_SAMPLE_LOCK] = true, [CT_SAMPLE_SOCKET] = true, [CT_SAMPLE_PIPE] = true,
		[CT_SAMPLE_CHILD] = true, [CT_SAMPLE_POLL] = true, [CT_SAMPLE_GIL] = true,
	};
	uint64_t states[CT_SAMPLE_STATES], all = hot_count(costs, part, false, states), sum = 0;

	*most = CT_SAMPLE_UNKNOWN;
	for (unsigned int i = 0; i < CT_SAMPLE_STATES; i++) {
		states[i] = elsewhere[i] ? states[i] : 0;
		sum += states[i];
		*most = states[i] > states[*most] ? i : *most;
	}
	return all >= CT_COSTS_SAMPLES ? (double)sum / all : 0;
}

const char *ct_hot_states(const struct ct_stack_costs *costs, uint64_t part, bool before, char *buf, size_t size)
{
	uint64_t states[CT_SAMPLE_STATES], all = hot_count(costs, part, before, states);
	size_t used = 0;

	*buf = 0;
	for (;;) {
		unsigned int most = 0;

		for (unsigned int k = 1; k < CT_SAMPLE_STATES; k++)
			most = states[k] > states[most] ? k : most;
		if (100.0 * states[most] < HOT_LEAST * all || !states[most] || used >= size)
			return buf;
		used += snprintf(buf + used, size - used, "%s%.0f %% %s", used ? ", " : "", 100.0 * states[most] / all,
				 ct_sample_words[most]);
		states[most] = 0;
	}
}

/* Without samples the time between calls counts for the call that follows. */
static bool hot_is_before(const struct ct_hot *hot, unsigned int which)
{
	uint64_t samples = 0;

	for (size_t i = 0; i < hot->lines.count; i++)
		samples += hot->lines.list[i].samples;
	return which & HOT_SAMPLED && !samples;
}

const char *ct_hot_text(const struct ct_hot *hot, const struct ct_registry *reg, unsigned int which, unsigned int most,
			char *buf, size_t size)
{
	double known = 100.0 * hot->all / (hot->all + hot->unknown ? hot->all + hot->unknown : 1);
	bool before = hot_is_before(hot, which);
	size_t used = 0;

	*buf = 0;
	for (size_t i = 0; i < hot->lines.count && i < most && used < size; i++) {
		const struct ct_hot_line *line = &hot->lines.list[i];
		double share = 100.0 * line->value / hot->all;
		struct ct_stack_frame f;
		char words[256];

		if (share < HOT_LEAST || !ct_stack_frame(reg, line->node, &f))
			break;
		used += snprintf(buf + used, size - used, "%s%.0f %% %s%s", i ? ", " : "", share, before ? "before " : "",
				 ct_stack_line(&f, words, sizeof(words)));
		if (used < size && line->package.len && !before)
			used += snprintf(buf + used, size - used, " in %.*s", line->package.len, line->package.name);
		for (unsigned int k = 0; k < CT_SAMPLE_STATES && used < size && which & HOT_SAMPLED; k++)
			if (k != CT_SAMPLE_RUNNING && line->states[k] * 2 > line->samples)
				used += snprintf(buf + used, size - used, " %s", k == CT_SAMPLE_GIL && line->holds * 2 > line->samples ?
						 "holding Python's lock (GIL)" : ct_sample_words[k]);
	}
	if (used && used < size && 100 - known >= HOT_UNKNOWN)
		snprintf(buf + used, size - used, " (of the %.0f %% that has a line; threads without Python have none)", known);
	return buf;
}
