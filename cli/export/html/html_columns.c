// SPDX-License-Identifier: LGPL-2.1-or-later
/* See html_columns.h. */
#include "export/html/html_columns.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "export/html/json.h"
#include "trace/names.h"

/* ----------------------------------------------------------------- order --- */

static int columns_order(struct ct_html_columns *c)
{
	struct ct_html_records *r = c->records;

	c->track_order = calloc(r->tracks_count + 1, sizeof(uint32_t));
	c->order = calloc(r->tracks_count + 1, sizeof(uint32_t));
	c->track_first = calloc(r->tracks_count + 2, sizeof(uint32_t));
	c->by_class = calloc(r->count + 1, sizeof(uint32_t));
	c->values = calloc(r->count + 1, sizeof(uint64_t));
	c->class_number = calloc(CT_CLASS_MAX + 1, sizeof(uint32_t));
	c->class_first = calloc(CT_CLASS_MAX + 3, sizeof(uint32_t));
	c->classes = calloc(CT_CLASS_MAX + 1, sizeof(uint16_t));
	if (!c->track_order || !c->order || !c->track_first || !c->by_class || !c->values ||
	    !c->class_number || !c->class_first || !c->classes)
		return -ENOMEM;
	ct_html_tracks_sort(c->tracks, c->track_order);
	for (uint32_t i = 0; i < r->tracks_count; i++)
		c->order[c->track_order[i]] = i;
	if (ct_html_records_sort(r, c->order))
		return -ENOMEM;
	for (uint32_t i = 0; i < r->count; i++)
		c->track_first[c->order[r->sorted[i].track] + 1]++;
	for (uint32_t i = 0; i < r->tracks_count; i++)
		c->track_first[i + 1] += c->track_first[i];
	return 0;
}

static void columns_class(struct ct_html_columns *c, unsigned int id)
{
	if (c->class_number[id])
		return;
	c->classes[c->classes_count] = id;
	c->class_number[id] = ++c->classes_count;
}

/* The classes of the records and of the levels, and the records of each. */
static int columns_classes(struct ct_html_columns *c)
{
	const struct ct_html_records *r = c->records;
	uint32_t *next;

	for (uint32_t i = 0; i < r->count; i++)
		columns_class(c, r->sorted[i].class);
	for (uint32_t i = 0; i < r->tracks_count; i++)
		for (unsigned int k = 0; k < r->levels[i].count; k++)
			for (size_t n = 0; n < r->levels[i].list[k].count; n++)
				columns_class(c, r->levels[i].list[k].cells[n].class);
	for (uint32_t i = 0; i < r->count; i++)
		c->class_first[c->class_number[r->sorted[i].class]]++;
	for (uint32_t i = 0; i < c->classes_count; i++)
		c->class_first[i + 1] += c->class_first[i];
	next = calloc(c->classes_count + 1, sizeof(*next));
	if (!next)
		return -ENOMEM;
	memcpy(next, c->class_first, c->classes_count * sizeof(*next));
	for (uint32_t i = 0; i < r->count; i++)
		c->by_class[next[c->class_number[r->sorted[i].class] - 1]++] = i;
	free(next);
	return 0;
}

/* --------------------------------------------------------------- columns --- */

#define COLUMNS(X)							\
	X(begin, CT_HTML_DELTA, r->begin)				\
	X(duration, CT_HTML_VARINT, r->duration)			\
	X(class, CT_HTML_VARINT, c->class_number[r->class] - 1)		\
	X(depth, CT_HTML_VARINT, r->depth)				\
	X(op, CT_HTML_DELTA, r->op_id)					\
	X(parent, CT_HTML_VARINT, r->parent ? r->op_id - r->parent : 0)	\
	X(flags, CT_HTML_PLAIN, r->flags)				\
	X(detail, CT_HTML_VARINT, r->detail)

static void columns_track(struct ct_html_columns *c, uint32_t track)
{
	uint32_t first = c->track_first[track], count = c->track_first[track + 1] - first;

#define COLUMN(word, coding, value)					\
	for (uint32_t i = 0; i < count; i++) {				\
		const struct ct_html_record *r = &c->records->sorted[first + i]; \
									\
		c->values[i] = value;					\
	}								\
	ct_html_column(c->blobs, coding, c->values, count, "t%u." #word, track);
	COLUMNS(COLUMN)
#undef COLUMN
}

#define LEVELS(X)							\
	X(bin, CT_HTML_DELTA, cell->bin)				\
	X(depth, CT_HTML_VARINT, cell->depth)				\
	X(busy, CT_HTML_VARINT, cell->busy)				\
	X(count, CT_HTML_VARINT, cell->count)				\
	X(class, CT_HTML_VARINT, c->class_number[cell->class] - 1)

/* A level has no more cells than some: the column is made in a buffer of its own. */
static int columns_level(struct ct_html_columns *c, uint32_t track, unsigned int number,
			 const struct ct_html_level *level)
{
	uint32_t first = c->track_first[track], count = c->track_first[track + 1] - first, found = 0;
	uint64_t *values = calloc(level->count + 1, sizeof(*values));

	if (!values)
		return -ENOMEM;
#define LEVEL(word, coding, value)					\
	for (size_t i = 0; i < level->count; i++) {			\
		const struct ct_html_cell *cell = &level->cells[i];	\
									\
		values[i] = value;					\
	}								\
	ct_html_column(c->blobs, coding, values, level->count, "t%u.l%u." #word, track, number);
	LEVELS(LEVEL)
#undef LEVEL
	free(values);
	for (uint32_t i = 0; i < count; i++) {
		const struct ct_html_record *r = &c->records->sorted[first + i];

		if (r->flags & CT_HTML_UNFINISHED || r->duration >> CT_HTML_BIN(level->level))
			c->values[found++] = i;
	}
	ct_html_column(c->blobs, CT_HTML_DELTA, c->values, found, "t%u.l%u.long", track, number);
	return 0;
}

int ct_html_columns_make(struct ct_html_columns *c)
{
	struct ct_html_records *r = c->records;
	int rc = columns_order(c);

	for (uint32_t i = 0; i < r->tracks_count; i++)
		for (unsigned int k = 0; k < r->levels[i].count; k++)
			ct_html_level_sort(&r->levels[i].list[k]);
	if (!rc)
		rc = columns_classes(c);
	for (uint32_t i = 0; i < r->tracks_count && !rc; i++) {
		const struct ct_html_levels *levels = &r->levels[c->track_order[i]];

		columns_track(c, i);
		for (unsigned int k = 0; k < levels->count && !rc; k++)
			rc = columns_level(c, i, k, &levels->list[k]);
	}
	return rc ? rc : c->blobs->error;
}

void ct_html_columns_free(struct ct_html_columns *c)
{
	free(c->track_order);
	free(c->order);
	free(c->track_first);
	free(c->by_class);
	free(c->values);
	free(c->class_number);
	free(c->class_first);
	free(c->classes);
}

/* -------------------------------------------------------------- manifest --- */

static void columns_put_name(const struct ct_html_track *t, struct ct_out *out)
{
	const char *context = ct_name_context(t->context);
	char name[64];

	if (t->kind == CT_HTML_INTERRUPT)
		snprintf(name, sizeof(name), "CPU %d%s%s", t->cpu, context ? " " : "", context ? context : "");
	else if (t->kind == CT_HTML_GPU)
		snprintf(name, sizeof(name), "GPU %u: context %u, stream %llu", t->gpu, t->gpu_context,
			 (unsigned long long)t->stream);
	else if (t->tid == t->pid)
		snprintf(name, sizeof(name), "main");
	else
		snprintf(name, sizeof(name), "thread %u", t->tid);
	ct_html_text(out, ",\"name\":", name);
}

static void columns_put_blob(struct ct_out *out, const char *word, uint32_t track, int level, bool first)
{
	char text[96], place[48];

	snprintf(place, sizeof(place), level < 0 ? "t%u" : "t%u.l%d", track, level);
	snprintf(text, sizeof(text), "%s\"%s\":\"%s.%s\"", first ? "" : ",", word, place, word);
	ct_out_text(out, text);
}

static void columns_put_levels(const struct ct_html_columns *c, uint32_t track, struct ct_out *out)
{
	const struct ct_html_levels *levels = &c->records->levels[c->track_order[track]];
	bool first;

	ct_out_text(out, ",\"levels\":[");
	for (unsigned int k = 0; k < levels->count; k++) {
		ct_html_u64(out, k ? ",{\"bin_ns\":" : "{\"bin_ns\":", 1ull << CT_HTML_BIN(levels->list[k].level));
		ct_html_u64(out, ",\"count\":", levels->list[k].count);
		columns_put_blob(out, "long", track, k, false);
		ct_out_text(out, ",\"blobs\":{");
		first = true;
#define LEVEL(word, coding, value)					\
		columns_put_blob(out, #word, track, k, first);		\
		first = false;
		LEVELS(LEVEL)
#undef LEVEL
		ct_out_text(out, "}}");
	}
	ct_out_text(out, "]");
}

void ct_html_columns_tracks(const struct ct_html_columns *c, const struct ct_processes *processes,
			    struct ct_out *out)
{
	bool first;

	for (uint32_t i = 0; i < c->tracks->count; i++) {
		const struct ct_html_track *t = &c->tracks->list[c->track_order[i]];

		ct_html_u64(out, i ? ",\n{\"id\":" : "\n{\"id\":", i);
		ct_html_u64(out, ",\"pid\":", t->pid);
		ct_html_u64(out, ",\"tid\":", t->tid);
		if (t->cpu != CT_NO_CPU)
			ct_html_s64(out, ",\"cpu\":", t->cpu);
		if (t->kind == CT_HTML_GPU) {
			ct_html_u64(out, ",\"gpu\":", t->gpu);
			ct_html_u64(out, ",\"context\":", t->gpu_context);
			ct_html_u64(out, ",\"stream\":", t->stream);
		}
		ct_html_text(out, ",\"layer\":", ct_html_track_kind_word[t->kind]);
		columns_put_name(t, out);
		ct_html_text(out, ",\"process\":", t->kind == CT_HTML_INTERRUPT ? NULL :
			     ct_processes_word(processes, t->pid));
		ct_html_u64(out, ",\"depth\":", t->depth);
		ct_html_u64(out, ",\"count\":", t->count);
		ct_html_u64(out, ",\"kept\":", c->track_first[i + 1] - c->track_first[i]);
		ct_out_text(out, ",\"blobs\":{");
		first = true;
#define COLUMN(word, coding, value)					\
		columns_put_blob(out, #word, i, -1, first);		\
		first = false;
		COLUMNS(COLUMN)
#undef COLUMN
		ct_out_char(out, '}');
		columns_put_levels(c, i, out);
		ct_out_char(out, '}');
	}
}
