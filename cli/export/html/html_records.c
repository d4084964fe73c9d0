// SPDX-License-Identifier: LGPL-2.1-or-later
/* See html_records.h.  Must never keep something for a record that is left out. */
#include "export/html/html_records.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "spans/work.h"

#define RECORDS_BLOCK	(1u << 20)	/* bytes of a block of fields; one record has less */

int ct_html_records_init(struct ct_html_records *r, const struct ct_registry *reg, struct ct_names *names,
			 struct ct_html_sampling *sampling, const struct ct_html_tracks *tracks)
{
	*r = (struct ct_html_records){ .reg = reg, .names = names, .sampling = sampling, .tracks = tracks };
	r->kernels = calloc(reg->strings_count + 1, sizeof(*r->kernels));
	r->levels = calloc(tracks->count + 1, sizeof(*r->levels));
	if (!r->kernels || !r->levels)
		return -ENOMEM;
	for (; r->tracks_count < tracks->count; r->tracks_count++)
		if (ct_html_levels_choose(&r->levels[r->tracks_count], &tracks->list[r->tracks_count]))
			return -ENOMEM;
	return 0;
}

/* A copy of a record's fields; NULL: there are none, or too many. */
static int records_copy(struct ct_html_records *r, const struct ct_record *from, const uint8_t **copy)
{
	size_t size = from->class->size + from->text_len;
	uint8_t *block;

	*copy = NULL;
	if (!from->fields)
		return 0;
	if (r->fields_used + size > CT_HTML_FIELDS_BYTES) {
		r->details_left_out++;
		return 0;
	}
	if (!r->blocks_count || r->block_used + size > RECORDS_BLOCK) {
		if (!ct_room(r->blocks, r->blocks_count, r->blocks_room))
			return -ENOMEM;
		block = malloc(RECORDS_BLOCK);
		if (!block)
			return -ENOMEM;
		r->blocks[r->blocks_count++] = block;
		r->block_used = 0;
	}
	block = r->blocks[r->blocks_count - 1] + r->block_used;
	ct_record_copy_fields(block, from, size);
	*copy = block;
	r->block_used += size;
	r->fields_used += size;
	return 0;
}

/* The name of its kernel, or of the GPU's work, or its text. */
static uint32_t records_detail(struct ct_html_records *r, const struct ct_record *record)
{
	const char *text;
	uint16_t len;
	uint32_t id;

	if (!record->fields)
		return 0;
	if (ct_record_has(record, CT_KNOWN_KERNEL)) {
		id = ct_record_known(record, CT_KNOWN_KERNEL);
		text = ct_names_string(r->names, id);
		if (!text)
			return 0;
		if (!r->kernels[id])
			r->kernels[id] = ct_html_string(&r->strings, text, strlen(text));
		return r->kernels[id];
	}
	text = ct_gpu_work_name(record);
	if (text)
		return ct_html_string(&r->strings, text, strlen(text));
	text = ct_record_text(record, &len);
	return text && len ? ct_html_string(&r->strings, text, len) : 0;
}

static struct ct_html_record *records_at(const struct ct_html_records *r, uint32_t i)
{
	return &r->chunks[i / CT_HTML_CHUNK][i % CT_HTML_CHUNK];
}

static int records_keep(struct ct_html_records *r, const struct ct_html_item *item)
{
	struct ct_html_record *kept;
	int rc;

	if (r->count == UINT32_MAX)
		return -E2BIG;
	if (r->count / CT_HTML_CHUNK == r->chunks_count) {
		if (!ct_room(r->chunks, r->chunks_count, r->chunks_room))
			return -ENOMEM;
		r->chunks[r->chunks_count] = malloc(CT_HTML_CHUNK * sizeof(*kept));
		if (!r->chunks[r->chunks_count])
			return -ENOMEM;
		r->chunks_count++;
	}
	kept = records_at(r, r->count);
	*kept = (struct ct_html_record){
		.begin = item->begin, .duration = item->duration, .op_id = item->op_id,
		.parent = item->op_id ? item->parent : 0, .result = item->record.result,
		.track = item->track, .detail = records_detail(r, &item->record), .cpu = item->record.cpu,
		.stack = item->stack, .class = item->record.class->id, .text_len = item->record.text_len,
		.depth = item->depth > UINT16_MAX ? UINT16_MAX : item->depth,
		.flags = item->flags, .record_flags = item->record.flags,
	};
	rc = records_copy(r, &item->record, &kept->fields);
	if (!kept->fields)
		kept->text_len = 0;
	r->count++;
	return rc ? rc : r->strings.error;
}

int ct_html_records_add(struct ct_html_records *r, const struct ct_html_item *item)
{
	bool kept = ct_html_sampling_keeps(r->sampling, &r->tracks->list[item->track], item);
	struct ct_html_levels *levels = &r->levels[item->track];
	int rc = 0;

	if (levels->count)
		rc = ct_html_levels_add(levels, item->begin,
					item->flags & CT_HTML_UNFINISHED ? UINT64_MAX : item->duration,
					item->record.class->id, item->depth, kept);
	return rc || !kept ? rc : records_keep(r, item);
}

/* ---------------------------------------------------------------- order --- */

static uint64_t records_length(const struct ct_html_record *r)
{
	return r->flags & CT_HTML_UNFINISHED ? UINT64_MAX : r->duration;
}

static int records_compare(const void *a, const void *b)
{
	const struct ct_html_record *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	if (records_length(x) != records_length(y))
		return records_length(x) > records_length(y) ? -1 : 1;
	if (x->depth != y->depth)
		return (int)x->depth - (int)y->depth;
	return x->op_id < y->op_id ? -1 : x->op_id > y->op_id;
}

static void records_sort(struct ct_html_record *list, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++)
		if (records_compare(&list[i - 1], &list[i]) > 0) {
			qsort(list, count, sizeof(*list), records_compare);
			return;
		}
}

static void records_free_chunks(struct ct_html_records *r)
{
	for (uint32_t i = 0; i < r->chunks_count; i++)
		free(r->chunks[i]);
	free(r->chunks);
	r->chunks = NULL;
	r->chunks_count = 0;
}

int ct_html_records_sort(struct ct_html_records *r, const uint32_t *order)
{
	uint32_t *next = calloc(r->tracks_count + 1, sizeof(*next)), begin = 0;

	r->sorted = malloc((r->count + 1ull) * sizeof(*r->sorted));
	if (!next || !r->sorted) {
		free(next);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < r->count; i++)
		next[order[records_at(r, i)->track] + 1]++;
	for (uint32_t i = 0; i < r->tracks_count; i++)
		next[i + 1] += next[i];
	for (uint32_t i = 0; i < r->count; i++)
		r->sorted[next[order[records_at(r, i)->track]]++] = *records_at(r, i);
	records_free_chunks(r);
	for (uint32_t i = 0; i < r->tracks_count; i++) {
		records_sort(r->sorted + begin, next[i] - begin);
		begin = next[i];
	}
	free(next);
	return 0;
}

void ct_html_records_free(struct ct_html_records *r)
{
	for (uint32_t i = 0; i < r->tracks_count; i++)
		ct_html_levels_free(&r->levels[i]);
	for (uint32_t i = 0; i < r->blocks_count; i++)
		free(r->blocks[i]);
	records_free_chunks(r);
	free(r->levels);
	free(r->sorted);
	free(r->blocks);
	free(r->kernels);
	ct_html_strings_free(&r->strings);
}

struct ct_record ct_html_record_of(const struct ct_html_records *r, const struct ct_html_record *kept)
{
	return (struct ct_record){
		.class = ct_registry_class(r->reg, kept->class), .fields = kept->fields,
		.text_len = kept->text_len, .cpu = kept->cpu, .flags = kept->record_flags,
		.result = kept->result,
	};
}
