// SPDX-License-Identifier: LGPL-2.1-or-later
/* See html_tracks.h. */
#include "export/html/html_tracks.h"

#include <errno.h>
#include <stdlib.h>

const char *const ct_html_track_kind_word[CT_HTML_TRACK_KINDS] = {
	"nvtx", "api", "ioctl", "driver", "switch", "gpu", "interrupt",
};

enum ct_html_track_kind ct_html_track_kind_of(const struct ct_class *class, const struct ct_track *track)
{
	if (ct_track_is_interrupts(track->key))
		return CT_HTML_INTERRUPT;
	if (class->layer == CT_LAYER_GPU)
		return CT_HTML_GPU;
	if (ct_class_is(class, CT_IS_SWITCH))
		return CT_HTML_SWITCH;
	if (class->category == CT_CAT_IOCTL || class->id == CT_CLASS_ioctl)
		return CT_HTML_IOCTL;
	if (class->layer == CT_LAYER_KERNEL)
		return CT_HTML_DRIVER;
	return class->category == CT_CAT_MARKER || class->category == CT_CAT_PROCESS ? CT_HTML_NVTX : CT_HTML_API;
}

/* The order of a process or thread: of its first appearance. */
static int tracks_order(struct ct_html_tracks *t, uint64_t key, unsigned int *next, unsigned int *order)
{
	struct ct_html_order *o = ct_keyed_put(&t->order, key);

	if (!o)
		return -ENOMEM;
	if (!o->order)
		o->order = ++*next;
	*order = o->order;
	return 0;
}

static int html_tracks_add(struct ct_html_tracks *t, const struct ct_record *r, enum ct_html_track_kind kind, uint64_t key)
{
	struct ct_html_track *track = ct_keyed_put(t, key);

	if (!track)
		return -ENOMEM;
	*track = (struct ct_html_track){ .key = key, .kind = kind, .cpu = CT_NO_CPU, .bin = INT64_MIN, .depth = 1 };
	if (kind == CT_HTML_INTERRUPT) {
		track->cpu = r->cpu;
		track->context = r->flags & CT_F_CONTEXT;
		track->process = UINT32_MAX;
	} else {
		track->pid = r->pid;
		track->tid = r->tid;
		if (kind == CT_HTML_GPU) {
			track->gpu = ct_record_known(r, CT_KNOWN_GPU);
			track->gpu_context = ct_record_known(r, CT_KNOWN_CONTEXT);
			track->stream = ct_record_gpu_stream(r);
		}
		if (tracks_order(t, r->pid, &t->processes, &track->process) ||
		    tracks_order(t, 1ull << 63 | (uint64_t)r->pid << 31 | (r->tid & 0x7fffffff), &t->threads,
				 &track->thread))
			return -ENOMEM;
	}
	return 0;
}

int ct_html_track(struct ct_html_tracks *t, const struct ct_track *of, const struct ct_record *r,
		  enum ct_html_track_kind kind, bool make, int *error)
{
	uint64_t key = (uint64_t)of->index << 3 | kind;
	const struct ct_html_track *track = ct_keyed_get(t, key);

	if (!track && make && t->count < CT_HTML_TRACKS_MAX) {
		*error = html_tracks_add(t, r, kind, key);
		track = *error ? NULL : ct_keyed_get(t, key);
	}
	return track ? track - t->list : -1;
}

void ct_html_track_count(struct ct_html_track *t, int64_t begin, uint32_t depth)
{
	int64_t bin = begin >> CT_HTML_BIN(0), last = t->bin;

	t->count++;
	if (depth >= t->depth)
		t->depth = depth + 1;
	for (unsigned int i = 0; i < CT_HTML_LEVELS && (last == INT64_MIN || bin >> 2 * i != last >> 2 * i); i++)
		t->occupied[i]++;
	t->bin = bin;
}

static int tracks_compare(const void *a, const void *b, void *arg)
{
	const struct ct_html_track *x = (const struct ct_html_track *)arg + *(const uint32_t *)a;
	const struct ct_html_track *y = (const struct ct_html_track *)arg + *(const uint32_t *)b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if ((x->tid == x->pid) != (y->tid == y->pid))
		return x->tid == x->pid ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->gpu != y->gpu || x->gpu_context != y->gpu_context)
		return x->gpu != y->gpu ? x->gpu < y->gpu ? -1 : 1 : x->gpu_context < y->gpu_context ? -1 : 1;
	if (x->stream != y->stream)
		return x->stream < y->stream ? -1 : 1;
	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	if (x->context != y->context)
		return x->context > y->context ? -1 : 1;
	return (int)x->kind - (int)y->kind;
}

void ct_html_tracks_sort(const struct ct_html_tracks *t, uint32_t *order)
{
	for (uint32_t i = 0; i < t->count; i++)
		order[i] = i;
	if (t->count)
		qsort_r(order, t->count, sizeof(*order), tracks_compare, t->list);
}

void ct_html_tracks_free(struct ct_html_tracks *t)
{
	ct_keyed_free(t);
	ct_keyed_free(&t->order);
	*t = (struct ct_html_tracks){ 0 };
}
