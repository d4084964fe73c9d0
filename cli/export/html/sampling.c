// SPDX-License-Identifier: LGPL-2.1-or-later
/* See sampling.h. */
#include "export/html/sampling.h"

#include <errno.h>
#include <stdlib.h>

/* Buckets are 3 % wide: exact up to 32 ns, then 32 of each power of two. */
static unsigned int sampling_bucket(uint64_t ns)
{
	unsigned int power;

	if (ns < 32)
		return ns;
	power = 63 - __builtin_clzll(ns);
	return (power - 4) * 32 + (ns >> (power - 5) & 31);
}

static bool sampling_is_mark(const struct ct_html_item *item)
{
	return item->record.class->category == CT_CAT_MARKER || item->record.class->category == CT_CAT_PROCESS;
}

void ct_html_sampling_count(struct ct_html_sampling *c, const struct ct_html_item *item)
{
	c->records++;
	if (item->flags & CT_HTML_UNFINISHED)
		c->unfinished++;
	else if (!(item->flags & CT_HTML_INSTANT))
		c->buckets[sampling_bucket(item->duration)]++;
	else if (sampling_is_mark(item))
		c->marks++;
	else
		c->instants++;
}

static uint64_t sampling_key(uint64_t op_id, int64_t ts, uint32_t tid)
{
	return op_id ? op_id : ct_mix(ts, tid) | 1ull << 63;
}

int ct_html_sampling_always(struct ct_html_sampling *c, uint64_t op_id, int64_t ts, uint32_t tid)
{
	return ct_keyed_put(&c->always, sampling_key(op_id, ts, tid)) ? 0 : -ENOMEM;
}

void ct_html_sampling_place(struct ct_html_sampling *c, uint64_t op_id, int64_t ts, uint32_t tid, uint32_t track)
{
	struct ct_html_place *place = c->always.count ? ct_keyed_get(&c->always, sampling_key(op_id, ts, tid)) : NULL;

	if (place)
		place->track = track + 1;
}

int ct_html_sampling_track(const struct ct_html_sampling *c, uint64_t op_id, int64_t ts, uint32_t tid)
{
	const struct ct_html_place *place = ct_keyed_get(&c->always, sampling_key(op_id, ts, tid));

	return place ? (int)place->track - 1 : -1;
}

static int sampling_by_count(const void *a, const void *b, void *arg)
{
	const struct ct_html_track *list = arg;
	uint64_t x = list[*(const uint32_t *)a].count, y = list[*(const uint32_t *)b].count;

	return x < y ? -1 : x > y;
}

/* A few ioctls among millions of calls are worth more than their time: small tracks are kept whole. */
static int sampling_whole(struct ct_html_tracks *tracks, uint64_t left)
{
	uint32_t *order = calloc(tracks->count + 1, sizeof(*order));

	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < tracks->count; i++)
		order[i] = i;
	qsort_r(order, tracks->count, sizeof(*order), sampling_by_count, tracks->list);
	for (uint32_t i = 0; i < tracks->count && tracks->list[order[i]].count <= left; i++) {
		left -= tracks->list[order[i]].count;
		tracks->list[order[i]].whole = true;
	}
	free(order);
	return 0;
}

int ct_html_sampling_decide(struct ct_html_sampling *c, struct ct_html_tracks *tracks)
{
	uint64_t left = c->limit - c->limit / 4;

	c->all = c->records <= c->limit;
	if (c->all)
		return 0;
	left -= c->unfinished < left ? c->unfinished : left;
	c->keep_marks = c->marks <= c->limit / 8 && c->marks <= left;
	left -= c->keep_marks ? c->marks : 0;
	c->keep_instants = c->instants <= c->limit / 8 && c->instants <= left;
	left -= c->keep_instants ? c->instants : 0;
	for (c->from = CT_HTML_BUCKETS - 1; c->from && c->buckets[c->from] <= left; c->from--)
		left -= c->buckets[c->from];
	c->every = left ? (c->buckets[c->from] + left - 1) / left : UINT64_MAX;
	return sampling_whole(tracks, c->limit / 4);
}

static bool sampling_keeps(struct ct_html_sampling *c, const struct ct_html_item *item)
{
	unsigned int bucket;

	if (item->flags & CT_HTML_UNFINISHED)
		return true;
	if (c->always.count && ct_keyed_get(&c->always, sampling_key(item->op_id, item->begin, item->record.tid)))
		return true;
	if (item->flags & CT_HTML_INSTANT)
		return sampling_is_mark(item) ? c->keep_marks : c->keep_instants;
	bucket = sampling_bucket(item->duration);
	return bucket > c->from || (bucket == c->from && c->every && ++c->next % c->every == 0);
}

bool ct_html_sampling_keeps(struct ct_html_sampling *c, const struct ct_html_track *track,
			    const struct ct_html_item *item)
{
	if (c->all || track->whole || sampling_keeps(c, item))
		return true;
	c->left_out++;
	c->left_out_instants += (item->flags & CT_HTML_INSTANT) != 0;
	if (item->duration > c->longest)
		c->longest = item->duration;
	return false;
}
