// SPDX-License-Identifier: LGPL-2.1-or-later
/* See rows.h.  Must never divide by a total of zero: a trace may say so. */
#include "group/rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct ct_group_column rows_bytes[] = {
	{ { "Share (%)", "share", CT_CELL_PERCENT, 0 }, CT_FIGURE_SHARE, NULL },
	{ { "Total (bytes)", "total", CT_CELL_BYTES, 0 }, CT_FIGURE_TOTAL, NULL },
	{ { "Count", "count", CT_CELL_COUNT, 0 }, CT_FIGURE_COUNT, NULL },
	{ { "Avg (bytes)", "avg", CT_CELL_BYTES_MEAN, 4 }, CT_FIGURE_MEAN, NULL },
	{ { "Med (bytes)", "median", CT_CELL_BYTES_MEAN, 2 }, CT_FIGURE_MEDIAN, NULL },
	{ { "Min (bytes)", "min", CT_CELL_BYTES, 7 }, CT_FIGURE_MIN, NULL },
	{ { "Max (bytes)", "max", CT_CELL_BYTES, 3 }, CT_FIGURE_MAX, NULL },
	{ { "StdDev (bytes)", "stddev", CT_CELL_BYTES_MEAN, 8 }, CT_FIGURE_DEVIATION, NULL },
	{ { "Failed", "failed", CT_CELL_COUNT, 1 }, CT_FIGURE_FAILED, NULL },
};

static const struct ct_group_column rows_times[] = {
	CT_GROUP_TIMES("Count", "count"),
	{ { "P95 (ns)", "p95", CT_CELL_NS, 6 }, CT_FIGURE_P95, NULL },
	{ { "P99 (ns)", "p99", CT_CELL_NS, 5 }, CT_FIGURE_P99, NULL },
	{ { "Failed", "failed", CT_CELL_COUNT, 1 }, CT_FIGURE_FAILED, NULL },
};

static const struct ct_group_column rows_counted[] = {
	{ { "Share (%)", "share", CT_CELL_PERCENT, 0 }, CT_FIGURE_SHARE, NULL },
	{ { "Count", "count", CT_CELL_COUNT, 0 }, CT_FIGURE_COUNT, NULL },
	{ { "Failed", "failed", CT_CELL_COUNT, 1 }, CT_FIGURE_FAILED, NULL },
};

/* Are the groups of what the GPU did, and not of calls? */
static bool rows_of_gpu(const struct ct_grouping *g)
{
	return g->spec->measure == CT_MEASURE_GPU || g->spec->of == CT_OF_WORK ||
	       (ct_group_covers(g->spec) && g->source.measured);
}

/* Columns for what a user asks for: those of the measure, then the keys. */
static void rows_make_columns(struct ct_grouping *g)
{
	const struct ct_group_spec *spec = g->spec;
	const struct ct_group_column *from = rows_times;
	unsigned int n = sizeof(rows_times) / sizeof(*rows_times);

	if (spec->measure == CT_MEASURE_BYTES) {
		from = rows_bytes;
		n = sizeof(rows_bytes) / sizeof(*rows_bytes);
	} else if (spec->measure == CT_MEASURE_COUNT) {
		from = rows_counted;
		n = sizeof(rows_counted) / sizeof(*rows_counted);
	}
	memcpy(g->made, from, n * sizeof(*from));
	for (unsigned int i = 0; i < spec->keys; i++) {
		if (spec->by[i] == CT_BY_PROCESS)
			g->made[n++] = (struct ct_group_column){
				.column = { "Process", "process", CT_CELL_TEXT, 0 }, .figure = CT_FIGURE_PROCESS,
			};
		g->made[n++] = (struct ct_group_column){
			.column = ct_group_keys[spec->by[i]].column, .figure = CT_FIGURE_KEY + i,
		};
		/* The GPU numbers its streams; calls have a handle. */
		if (spec->by[i] == CT_BY_STREAM && rows_of_gpu(g))
			g->made[n - 1].column.type = CT_CELL_ID;
	}
	g->columns_count = n;
}

const struct ct_column *ct_group_columns(struct ct_grouping *g, unsigned int *count)
{
	if (g->spec->columns) {
		g->columns_count = g->spec->columns_count;
		memcpy(g->made, g->spec->columns, g->columns_count * sizeof(*g->made));
	} else {
		rows_make_columns(g);
	}
	for (unsigned int i = 0; i < g->columns_count; i++)
		g->columns[i] = g->made[i].column;
	*count = g->columns_count;
	return g->columns;
}

void ct_group_title(const struct ct_grouping *g, char *buf, size_t size)
{
	const struct ct_group_spec *spec = g->spec;
	unsigned int which = (spec->of == CT_OF_IOCTLS ? g->kernel : ct_group_covers(spec) && g->source.measured) ? 1 :
			     g->count ? 0 : 2;
	const char *title = spec->title[which] ? spec->title[which] : spec->title[0];
	size_t len;

	if (title) {
		snprintf(buf, size, "%s", title);
		return;
	}
	len = snprintf(buf, size, "%s by %s", ct_group_of_text[spec->of], ct_group_by_word[spec->by[0]]);
	for (unsigned int i = 1; i < spec->keys && len < size; i++)
		len += snprintf(buf + len, size - len, i + 1 < spec->keys ? ", %s" : " and %s",
				ct_group_by_word[spec->by[i]]);
	if (len < size)
		snprintf(buf + len, size - len, "%s",
			 spec->measure == CT_MEASURE_GPU ? ": time of the GPU's work that they caused" :
			 spec->measure == CT_MEASURE_SELF ? ": self time" :
			 spec->measure == CT_MEASURE_BYTES ? ": bytes" :
			 spec->measure == CT_MEASURE_COUNT ? ": count" :
			 spec->of != CT_OF_KERNELS && spec->of != CT_OF_COPIES ? ": duration" :
			 g->source.measured ? ": duration on the GPU, from its records" :
			 ": duration of the calls on the host, without records of the GPU");
}

/* By what rows are in order: the first is the largest. */
static uint64_t rows_weight(const struct ct_grouping *g, const struct ct_group_of_spans *group)
{
	return g->spec->by_self ? group->self :
	       g->spec->measure == CT_MEASURE_COUNT ? group->count : group->values.total;
}

/* Of one weight: the most first, then by the keys.  "(other)" is always last. */
static int rows_compare(const void *a, const void *b, void *arg)
{
	const struct ct_group_of_spans *x = *(struct ct_group_of_spans *const *)a;
	const struct ct_group_of_spans *y = *(struct ct_group_of_spans *const *)b;
	const struct ct_grouping *g = arg;
	uint64_t left = rows_weight(g, x), right = rows_weight(g, y);

	for (unsigned int i = 0; i < g->spec->keys && ct_texts_full(&g->keys.texts); i++)
		if (ct_group_keys[g->spec->by[i]].text && (x->keys[i] == CT_TEXTS_MAX) != (y->keys[i] == CT_TEXTS_MAX))
			return x->keys[i] == CT_TEXTS_MAX ? 1 : -1;
	if (left != right)
		return left > right ? -1 : 1;
	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	for (unsigned int i = 0; i < g->spec->keys; i++) {
		if (x->keys[i] == y->keys[i])
			continue;
		if (ct_group_keys[g->spec->by[i]].text && x->keys[i] != CT_KEY_NONE && y->keys[i] != CT_KEY_NONE)
			return strcmp(g->keys.texts.list[x->keys[i]].text, g->keys.texts.list[y->keys[i]].text);
		return x->keys[i] < y->keys[i] ? -1 : 1;
	}
	return 0;
}

/* Two functions of one name (cuMemAlloc and its version 2) are shown by their symbols. */
static int rows_functions(struct ct_grouping *g)
{
	const struct ct_registry *reg;
	unsigned int key = 0, used = 0;
	uint16_t *ids;

	while (key < g->spec->keys && g->spec->by[key] != CT_BY_FUNCTION)
		key++;
	if (key == g->spec->keys)
		return 0;
	reg = g->keys.names->reg;
	g->keys.functions = calloc(CT_CLASS_MAX + 1, sizeof(*g->keys.functions));
	ids = calloc(CT_CLASS_MAX + 1, sizeof(*ids));
	if (!g->keys.functions || !ids) {
		free(ids);
		return -ENOMEM;
	}
	for (unsigned int i = 0; i < g->count; i++) {
		uint64_t id = g->list[i].keys[key];

		if (!g->keys.functions[id])
			ids[used++] = id;
		g->keys.functions[id] = ct_registry_class(reg, id)->name;
	}
	for (unsigned int i = 0; i < used; i++)
		for (unsigned int k = 0; k < used; k++) {
			const struct ct_class *x = ct_registry_class(reg, ids[i]), *y = ct_registry_class(reg, ids[k]);

			if (i != k && *x->symbol && !strcmp(x->name, y->name))
				g->keys.functions[ids[i]] = x->symbol;
		}
	free(ids);
	return 0;
}

static struct ct_cell rows_number(enum ct_cell_type type, double value)
{
	return ct_cell_is_double(type) ? ct_double(value) : ct_u64(value);
}

static struct ct_cell rows_whole(enum ct_cell_type type, uint64_t value)
{
	return ct_cell_is_double(type) ? ct_double(value) : ct_u64(value);
}

struct rows_totals {
	uint64_t weight, self;
};

static double rows_share(uint64_t part, uint64_t all)
{
	return all ? 100.0 * part / all : 0;
}

static struct ct_cell rows_process(const struct ct_grouping *g, struct ct_table *t, const struct ct_group_of_spans *group)
{
	const char *name;

	for (unsigned int i = 0; i < g->spec->keys && group != &g->other; i++)
		if (g->spec->by[i] == CT_BY_PROCESS) {
			name = ct_processes_word(g->keys.processes, group->keys[i]);
			return name ? ct_text(t, name) : (struct ct_cell){ 0 };
		}
	return (struct ct_cell){ 0 };
}

static struct ct_cell rows_cell(struct ct_grouping *g, struct ct_table *t, struct ct_group_of_spans *group,
				 const struct ct_group_column *c, const struct rows_totals *totals)
{
	const struct ct_cell nothing = { 0 };
	enum ct_cell_type type = c->column.type;
	struct ct_histogram *h = &group->values;
	unsigned int key;

	if (c->figure >= CT_FIGURE_KEY) {
		key = c->figure - CT_FIGURE_KEY;
		if (group == &g->other)
			return ct_cell_is_text(type) ? ct_const("(other)") : nothing;
		return ct_group_key_cell(&g->keys, g->spec->by[key], t, group->keys[key]);
	}
	switch (c->figure) {
	case CT_FIGURE_COUNT:
		return ct_u64(group->count);
	case CT_FIGURE_FAILED:
		return ct_u64(group->failed);
	case CT_FIGURE_WORD:
		return ct_const(c->word);
	case CT_FIGURE_PROCESS:
		return rows_process(g, t, group);
	case CT_FIGURE_SHARE:
		if (g->spec->measure == CT_MEASURE_COUNT)
			return ct_double(rows_share(group->count, totals->weight));
	}
	if (!h->count)
		return nothing;
	switch (c->figure) {
	case CT_FIGURE_SHARE:
		return ct_double(rows_share(h->total, totals->weight));
	case CT_FIGURE_SELF_SHARE:
		return ct_double(rows_share(group->self, totals->self));
	case CT_FIGURE_SELF:
		return ct_u64(group->self);
	case CT_FIGURE_TOTAL:
		return rows_whole(type, h->total);
	case CT_FIGURE_MEAN:
		return rows_number(type, h->mean);
	case CT_FIGURE_MEDIAN:
		return rows_number(type, ct_histogram_median(h));
	case CT_FIGURE_MIN:
		return rows_whole(type, h->min);
	case CT_FIGURE_MAX:
		return rows_whole(type, h->max);
	case CT_FIGURE_DEVIATION:
		return rows_number(type, ct_histogram_deviation(h));
	case CT_FIGURE_P95:
		return rows_whole(type, ct_histogram_value(h, 950));
	case CT_FIGURE_P99:
		return rows_whole(type, ct_histogram_value(h, 990));
	}
	return nothing;
}

static void rows_row(struct ct_grouping *g, struct ct_table *t, struct ct_group_of_spans *group,
		      const struct rows_totals *totals)
{
	struct ct_cell *row = ct_table_row(t);

	for (unsigned int i = 0; i < g->columns_count; i++)
		row[i] = rows_cell(g, t, group, &g->made[i], totals);
}

static void rows_add(const struct ct_grouping *g, const struct ct_group_of_spans *group, struct rows_totals *totals)
{
	totals->weight += g->spec->measure == CT_MEASURE_COUNT ? group->count : group->values.total;
	totals->self += group->self;
}

int ct_group_rows(struct ct_grouping *g, struct ct_table *t)
{
	struct ct_group_of_spans **list = calloc(g->count + 1, sizeof(*list));
	struct rows_totals totals = { 0 };

	if (!list || rows_functions(g)) {
		free(list);
		return -ENOMEM;
	}
	for (unsigned int i = 0; i < g->count; i++) {
		list[i] = &g->list[i];
		rows_add(g, list[i], &totals);
	}
	rows_add(g, &g->other, &totals);
	qsort_r(list, g->count, sizeof(*list), rows_compare, g);
	for (unsigned int i = 0; i < g->count; i++)
		rows_row(g, t, list[i], &totals);
	if (g->other.count)
		rows_row(g, t, &g->other, &totals);
	free(list);
	if (g->other.count)
		ct_table_note(t, "Groups beyond the first %u are one row, (other).", CT_GROUPS_MAX);
	else if (ct_texts_full(&g->keys.texts))
		ct_table_note(t, "Beyond %u different texts, all others are (other).", CT_TEXTS_MAX);
	return 0;
}
