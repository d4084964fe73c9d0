// SPDX-License-Identifier: LGPL-2.1-or-later
/* See slice_tracks.h. */
#include "export/slices/slice_tracks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/grow.h"

enum ct_slice_track_kind ct_slice_track_kind_of(const struct ct_class *class, const struct ct_track *track)
{
	if (class->layer == CT_LAYER_GPU)
		return CT_SLICE_TRACK_GPU;
	if (ct_track_is_interrupts(track->key))
		return CT_SLICE_TRACK_INTERRUPTS;
	if (class->layer != CT_LAYER_USER || class->id == CT_CLASS_ioctl)
		return CT_SLICE_TRACK_DRIVER;
	return class->category == CT_CAT_MARKER ? CT_SLICE_TRACK_RANGES : CT_SLICE_TRACK_CALLS;
}

/* Interrupts of all kinds of a CPU lie in each other. */
static uint64_t tracks_key(enum ct_slice_track_kind kind, const struct ct_track *track)
{
	uint64_t which = kind == CT_SLICE_TRACK_INTERRUPTS ? (uint32_t)(track->key >> 8) :
			 kind == CT_SLICE_TRACK_OTHERS ? 0 : track->index;

	return (uint64_t)kind << 32 | which;
}

static void tracks_name(struct ct_slice_track *track)
{
	const char *thread = track->tid == track->pid ? "main" : "thread";
	char *name = track->name;
	size_t size = sizeof(track->name);
	int len = 0;

	switch (track->kind) {
	case CT_SLICE_TRACK_RANGES:
		len = snprintf(name, size, "%s %u: ranges", thread, track->tid);
		break;
	case CT_SLICE_TRACK_CALLS:
		len = snprintf(name, size, "%s %u", thread, track->tid);
		break;
	case CT_SLICE_TRACK_DRIVER:
		len = snprintf(name, size, "%s %u: driver", thread, track->tid);
		break;
	case CT_SLICE_TRACK_GPU:
		len = snprintf(name, size, "GPU %u: context %u, stream %llu", track->gpu, track->context,
			       (unsigned long long)track->stream);
		break;
	case CT_SLICE_TRACK_INTERRUPTS:
		len = snprintf(name, size, "CPU %d", (int)track->tid);
		break;
	case CT_SLICE_TRACK_OTHERS:
		len = snprintf(name, size, "other threads");
		break;
	}
	if (track->number)
		snprintf(name + len, size - len, " (%u)", track->number + 1);
}

static struct ct_slice_track *slice_tracks_add(struct ct_slice_tracks *tracks, const struct ct_slice_track *like)
{
	struct ct_slice_track *track = ct_room(tracks->list, tracks->count, tracks->capacity) ? malloc(sizeof(*track)) : NULL;

	if (!track)
		return NULL;
	*track = *like;
	track->index = tracks->count;
	tracks_name(track);
	tracks->list[tracks->count++] = track;
	return track;
}

struct ct_slice_track *ct_slice_tracks_get(const struct ct_slice_tracks *tracks, enum ct_slice_track_kind kind,
					   const struct ct_track *track)
{
	const struct ct_slice_track_of *of = ct_keyed_get(&tracks->by_key, tracks_key(kind, track));

	return of ? of->track : NULL;
}

struct ct_slice_track *ct_slice_tracks_find(const struct ct_slice_tracks *tracks, enum ct_slice_track_kind kind,
					    const struct ct_track *of, uint64_t op_id)
{
	struct ct_slice_track *track = ct_slice_tracks_get(tracks, kind, of);

	if (!track)
		track = ct_slice_tracks_get(tracks, CT_SLICE_TRACK_OTHERS, of);
	for (; track; track = track->next)
		for (uint32_t i = track->depth; i-- > 0;)
			if (track->slices[i].op_id == op_id)
				return track;
	return NULL;
}

struct ct_slice_track *ct_slice_tracks_make(struct ct_slice_tracks *tracks, enum ct_slice_track_kind kind,
					    const struct ct_track *on, const struct ct_record *r)
{
	struct ct_slice_track *track = ct_slice_tracks_get(tracks, kind, on);
	struct ct_slice_track_of *of;

	if (track)
		return track;
	if (tracks->count >= CT_SLICE_TRACKS_MAX && kind != CT_SLICE_TRACK_OTHERS)
		return ct_slice_tracks_make(tracks, CT_SLICE_TRACK_OTHERS, on, r);
	of = ct_keyed_put(&tracks->by_key, tracks_key(kind, on));
	if (!of)
		return NULL;
	track = slice_tracks_add(tracks, &(struct ct_slice_track){
		.kind = kind,
		.pid = kind == CT_SLICE_TRACK_INTERRUPTS || kind == CT_SLICE_TRACK_OTHERS ? 0 : r->pid,
		.tid = kind == CT_SLICE_TRACK_INTERRUPTS ? (uint32_t)r->cpu : kind == CT_SLICE_TRACK_OTHERS ? 0 : r->tid,
		.stream = kind == CT_SLICE_TRACK_GPU ? ct_record_gpu_stream(r) : 0,
		.gpu = kind == CT_SLICE_TRACK_GPU ? ct_record_known(r, CT_KNOWN_GPU) : 0,
		.context = kind == CT_SLICE_TRACK_GPU ? ct_record_known(r, CT_KNOWN_CONTEXT) : 0,
	});
	if (track)
		of->track = track;
	else
		ct_keyed_remove(&tracks->by_key, of);
	return track;
}

struct ct_slice_track *ct_slice_tracks_beside(struct ct_slice_tracks *tracks, struct ct_slice_track *track)
{
	track->next = slice_tracks_add(tracks, &(struct ct_slice_track){
		.kind = track->kind, .number = track->number + 1, .pid = track->pid, .tid = track->tid,
		.stream = track->stream, .gpu = track->gpu, .context = track->context,
	});
	return track->next;
}

int ct_slice_track_push(struct ct_slice_track *track, const struct ct_open_slice *slice)
{
	if (!ct_room(track->slices, track->depth, track->capacity))
		return -ENOMEM;
	track->slices[track->depth++] = *slice;
	track->ioctls += slice->ioctl;
	return 0;
}

const struct ct_open_slice *ct_slice_track_pop(struct ct_slice_track *track)
{
	const struct ct_open_slice *slice = &track->slices[--track->depth];

	track->ioctls -= slice->ioctl;
	return slice;
}

int ct_slice_track_arrow(struct ct_slice_track *track, uint64_t to)
{
	if (track->arrows_count == CT_SLICE_TRACK_ARROWS)
		return 1;
	if (!ct_room(track->arrows, track->arrows_count, track->arrows_capacity))
		return -ENOMEM;
	track->arrows[track->arrows_count++] = (struct ct_slice_arrow){
		.op_id = track->slices[track->depth - 1].op_id, .to = to,
	};
	return 0;
}

uint32_t ct_slice_track_drop_arrows(struct ct_slice_track *track, uint64_t op_id)
{
	uint32_t count = track->arrows_count;

	while (track->arrows_count && track->arrows[track->arrows_count - 1].op_id == op_id)
		track->arrows_count--;
	return count - track->arrows_count;
}

void ct_slice_tracks_free(struct ct_slice_tracks *tracks)
{
	for (uint32_t i = 0; i < tracks->count; i++) {
		free(tracks->list[i]->slices);
		free(tracks->list[i]->arrows);
		free(tracks->list[i]);
	}
	free(tracks->list);
	ct_keyed_free(&tracks->by_key);
	*tracks = (struct ct_slice_tracks){ 0 };
}
