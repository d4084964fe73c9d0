// SPDX-License-Identifier: LGPL-2.1-or-later
/* See hot.h. */
#include "analysis/stacks/hot.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Less is not worth a word. */
#define HOT_LEAST	1.0	/* % */

static bool hot_has(const struct ct_stack_frame *f, const char *word)
{
	return memmem(f->file, f->file_len, word, strlen(word)) != NULL;
}

bool ct_stack_foreign(const struct ct_stack_frame *f)
{
	return !f->file_len || *f->file == '<' || hot_has(f, "/site-packages/") || hot_has(f, "/dist-packages/") ||
	       hot_has(f, "/lib/python3");
}

bool ct_stack_own(const struct ct_registry *reg, uint32_t node, struct ct_stack_frame *f, uint32_t *own)
{
	uint32_t innermost = node;

	for (unsigned int i = 0; i < CT_STACK_DEPTH && ct_stack_frame(reg, node, f); i++) {
		if (!ct_stack_foreign(f)) {
			*own = node;
			return true;
		}
		node = f->parent;
	}
	*own = innermost;
	return ct_stack_frame(reg, innermost, f);
}

static uint64_t hot_value(const struct ct_stack_cost *c, unsigned int which)
{
	uint64_t value = 0;

	for (unsigned int i = 0; i < CT_COSTS; i++)
		value += which & CT_COST_BIT(i) ? c->of[i] : 0;
	return value;
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
		uint64_t value = hot_value(&sum->cost, which);
		struct ct_stack_frame f;
		struct ct_hot_line *line;
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
	}
	ct_keyed_sort(&hot->lines, hot_compare);
	return 0;
}

const char *ct_stack_line(const struct ct_stack_frame *f, char *buf, size_t size)
{
	int folders = f->file_len;

	while (folders && f->file[folders - 1] != '/')
		folders--;
	if (!f->file_len)
		snprintf(buf, size, "%.*s", f->name_len, f->name);
	else if (!f->line)
		snprintf(buf, size, "%.*s (%.*s)", f->file_len - folders, f->file + folders, f->name_len, f->name);
	else
		snprintf(buf, size, "%.*s:%u (%.*s)", f->file_len - folders, f->file + folders, f->line, f->name_len, f->name);
	return buf;
}

const char *ct_hot_text(const struct ct_hot *hot, const struct ct_registry *reg, unsigned int most, char *buf, size_t size)
{
	size_t used = 0;

	*buf = 0;
	for (size_t i = 0; i < hot->lines.count && i < most && used < size; i++) {
		const struct ct_hot_line *line = &hot->lines.list[i];
		double share = 100.0 * line->value / (hot->all + hot->unknown);
		struct ct_stack_frame f;
		char words[256];

		if (share < HOT_LEAST || !ct_stack_frame(reg, line->node, &f))
			break;
		used += snprintf(buf + used, size - used, "%s%.0f %% %s", i ? ", " : "", share,
				 ct_stack_line(&f, words, sizeof(words)));
	}
	return buf;
}
