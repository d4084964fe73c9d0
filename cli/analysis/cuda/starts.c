// SPDX-License-Identifier: LGPL-2.1-or-later
/* See starts.h.  Memory is bounded by the calls that are open at a moment. */
#include "analysis/cuda/starts.h"

#include <errno.h>
#include <stdlib.h>

int ct_starts_event(struct ct_starts *s, const struct ct_trace_event *e)
{
	const struct ct_point *p = e->point;
	struct ct_hash_slot *slot;

	if (e->kind == CT_ON_INSTANT)
		return 1;
	if (e->kind == CT_ON_BEGIN) {
		if (p->open || !p->entry)
			return 1;
		slot = ct_hash_put(&s->entries, p->op_id);
		if (!slot)
			return -ENOMEM;
		slot->a = e->begin;
		slot->b = e->class->id | (uint64_t)p->depth << 16;
		slot->c = e->track->pid;
		slot->d = e->track->tid;
		return 0;
	}
	if (!(e->record->flags & CT_F_HAS_BEGIN))
		return 0;
	slot = ct_hash_get(&s->entries, p->op_id);
	if (slot)
		ct_hash_remove(&s->entries, slot);
	else if (!p->begin_lost)
		return 0;
	s->late++;
	return 1;
}

struct ct_cell ct_starts_duration(const struct ct_trace_event *e)
{
	const struct ct_record *r = e->record;

	if (e->kind == CT_ON_INSTANT || e->point->open || (r->flags & CT_F_ABANDONED))
		return (struct ct_cell){ 0 };
	return ct_u64(e->kind == CT_ON_END ? e->duration : r->end - ct_record_begin(r));
}

static int starts_compare(const void *a, const void *b)
{
	const struct ct_start *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return x->op_id < y->op_id ? -1 : x->op_id > y->op_id;
}

struct ct_start *ct_starts_left(const struct ct_starts *s, const struct ct_registry *reg, size_t *count)
{
	struct ct_start *list = calloc(s->entries.count + 1, sizeof(*list));

	*count = 0;
	if (!list)
		return NULL;
	for (size_t i = 0; i < s->entries.size; i++) {
		const struct ct_hash_slot *slot = &s->entries.slots[i];

		if (slot->used)
			list[(*count)++] = (struct ct_start){
				.class = ct_registry_class(reg, slot->b & 0xffff),
				.op_id = slot->key, .begin = slot->a, .depth = slot->b >> 16,
				.pid = slot->c, .tid = slot->d,
			};
	}
	qsort(list, *count, sizeof(*list), starts_compare);
	return list;
}

void ct_starts_free(struct ct_starts *s)
{
	ct_hash_free(&s->entries);
}
