// SPDX-License-Identifier: LGPL-2.1-or-later
/* See group.h.  Must never keep something for each span. */
#include "group/group.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

void ct_group_begin(struct ct_grouping *g, const struct ct_group_spec *spec)
{
	g->spec = spec;
}

/* Is it one of those that are grouped?  @class: of the call, where that is grouped by what it caused. */
static bool group_counts(struct ct_grouping *g, const struct ct_span *span, const struct ct_class *class)
{
	const struct ct_group_kind *kind = &ct_group_kinds[g->spec->of];

	if (span->kind == CT_SPAN_RANGE || g->spec->of == CT_OF_RANGES) {
		if (span->kind != CT_SPAN_RANGE || g->spec->of != CT_OF_RANGES)
			return false;
		g->no_end += !span->pop;
		return span->pop;
	}
	if (g->spec->measure == CT_MEASURE_GPU && g->spec->of == CT_OF_WORK)
		return true;
	if ((kind->timed && !(span->flags & CT_SPAN_TIMED)) || (kind->what && !ct_class_is(class, kind->what)))
		return false;
	switch (g->spec->of) {
	case CT_OF_KERNELS:
		return (ct_gpu_is_kernel(class) || ct_gpu_is_graph(class)) &&
		       (class != span->class || ct_gpu_counts(&g->source, span));
	case CT_OF_COPIES:
		return class != span->class || ct_gpu_counts(&g->source, span);
	case CT_OF_IOCTLS:
		/* The kernel's side alone counts, once it is seen.  An entry function may call the next one. */
		if (span->flags & CT_SPAN_INNER_IOCTL || span->kernel < g->kernel)
			return false;
		return true;
	case CT_OF_DRIVER:
		return ct_class_is(class, CT_IS_DRIVER);
	default:
		return true;
	}
}

/* A group with these keys, made if it is new; NULL: no memory. */
static struct ct_group_of_spans *group_find(struct ct_grouping *g, const uint64_t keys[CT_GROUP_KEYS])
{
	unsigned int n = g->spec->keys;
	bool direct = n == 1 && keys[0] <= CT_TEXTS_MAX;
	struct ct_group_of_spans *group;
	struct ct_group_hash *same;
	uint64_t hash = keys[0];

	/* Most reports have one key, the number of a function or of a text. */
	if (direct && !g->direct)
		g->direct = calloc(CT_TEXTS_MAX + 1, sizeof(*g->direct));
	if (direct && !g->direct)
		return NULL;
	if (direct && g->direct[keys[0]])
		return &g->list[g->direct[keys[0]] - 1];
	for (unsigned int i = 1; i < n; i++)
		hash = ct_mix(hash, keys[i]);
	same = ct_keyed_get(&g->by_hash, hash);
	for (uint32_t i = same ? same->first : 0; i; i = g->list[i - 1].next)
		if (!memcmp(g->list[i - 1].keys, keys, n * sizeof(*keys)))
			return &g->list[i - 1];
	if (g->count == CT_GROUPS_MAX)
		return &g->other;
	if (!ct_room(g->list, g->count, g->room))
		return NULL;
	same = ct_keyed_put(&g->by_hash, hash);
	if (!same)
		return NULL;
	group = &g->list[g->count];
	*group = (struct ct_group_of_spans){ .next = same->first };
	memcpy(group->keys, keys, n * sizeof(*keys));
	same->first = ++g->count;
	if (direct)
		g->direct[keys[0]] = g->count;
	return group;
}

/* The module saw an ioctl: what the program saw of them is the same once more. */
static void group_forget(struct ct_grouping *g)
{
	for (unsigned int i = 0; i < g->count; i++)
		ct_histogram_free(&g->list[i].values);
	ct_histogram_free(&g->other.values);
	g->other = (struct ct_group_of_spans){ 0 };
	g->count = 0;
	ct_keyed_free(&g->by_hash);
	free(g->direct);
	g->direct = NULL;
}

static int group_measure(struct ct_grouping *g, const struct ct_span *span, struct ct_group_of_spans *group)
{
	const struct ct_record *r = span->record;

	switch (g->spec->measure) {
	case CT_MEASURE_DURATION:
	case CT_MEASURE_GPU:
		return span->flags & CT_SPAN_TIMED ? ct_histogram_add(&group->values, span->duration) : 0;
	case CT_MEASURE_SELF:
		return span->flags & CT_SPAN_TIMED ? ct_histogram_add(&group->values, span->self) : 0;
	case CT_MEASURE_BYTES:
		if (!r->fields || !ct_record_has(r, CT_KNOWN_SIZE))
			return 0;
		return ct_histogram_add(&group->values, ct_record_known(r, CT_KNOWN_SIZE));
	default:
		return 0;
	}
}

int ct_group_span(struct ct_grouping *g, const struct ct_span *span)
{
	struct ct_group_subject s = {
		.span = span, .class = span->class, .pid = span->pid, .tid = span->tid, .begin = span->begin,
	};
	uint64_t keys[CT_GROUP_KEYS] = { 0 };
	struct ct_group_of_spans *group;

	if (g->spec->measure == CT_MEASURE_GPU) {
		if (span->kind != CT_SPAN_GPU || !(span->flags & CT_SPAN_TIMED))
			return 0;
		g->no_cause += !span->cause;
		if (!span->cause)
			return 0;
		s.class = span->cause->class;
		s.pid = span->cause->pid;
		s.tid = span->cause->tid;
		s.begin = span->cause->begin;
	}
	if (!group_counts(g, span, s.class))
		return 0;
	if (g->spec->of == CT_OF_IOCTLS && span->kernel && !g->kernel) {
		group_forget(g);
		g->kernel = true;
	}
	for (unsigned int i = 0; i < g->spec->keys; i++)
		keys[i] = ct_group_keys[g->spec->by[i]].value(&g->keys, &s);
	group = g->keys.error ? NULL : group_find(g, keys);
	if (!group)
		return -ENOMEM;
	group->count++;
	group->failed += (span->flags & CT_SPAN_FAILED) != 0;
	group->self += span->flags & CT_SPAN_TIMED ? span->self : 0;
	return group_measure(g, span, group);
}

void ct_group_free(struct ct_grouping *g)
{
	group_forget(g);
	free(g->list);
	ct_keys_free(&g->keys);
	g->list = NULL;
	g->room = 0;
}
