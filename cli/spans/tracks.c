// SPDX-License-Identifier: LGPL-2.1-or-later
/* See tracks.h.  Memory is bounded, whatever a trace holds. */
#include "spans/tracks.h"

#include <errno.h>
#include <stdlib.h>

#include "base/grow.h"

static struct ct_track *tracks_add(struct ct_tracks *tracks, const struct ct_record *r, uint64_t key)
{
	struct ct_track *track = calloc(1, sizeof(*track));
	struct ct_track_of *of = track ? ct_keyed_put(tracks, key) : NULL;

	if (!of) {
		free(track);
		return NULL;
	}
	of->track = track;
	track->index = tracks->count - 1;
	track->key = key;
	track->pid = r->pid;
	track->tid = key >> 32 ? 0 : r->tid; /* also of the GPU's streams */
	tracks->threads += track->tid != 0;
	return r->pid && !ct_keyed_put(&tracks->pids, r->pid) ? NULL : track;
}

struct ct_track *ct_tracks_of(struct ct_tracks *tracks, const struct ct_record *r)
{
	uint64_t key = ct_track_key(r);
	struct ct_track **recent = &tracks->recent[key % CT_TRACKS_RECENT];
	struct ct_track_of *of;

	if (*recent && (*recent)->key == key)
		return *recent;
	of = ct_keyed_get(tracks, key);
	if (!of && tracks->count >= CT_TRACKS_MAX - 1) {
		/* One track for all of them, which no key of a record has. */
		tracks->left_out = true;
		of = ct_keyed_get(tracks, UINT64_MAX);
		return of ? of->track : tracks_add(tracks, &(struct ct_record){ .class = r->class }, UINT64_MAX);
	}
	*recent = of ? of->track : tracks_add(tracks, r, key);
	return *recent;
}

int ct_track_push(struct ct_track *track, const struct ct_frame *frame)
{
	if (track->depth == CT_TRACK_DEPTH_MAX)
		return 0;
	if (!ct_room(track->frames, track->depth, track->capacity))
		return -ENOMEM;
	track->frames[track->depth++] = *frame;
	track->nested[frame->category]++;
	track->ioctls[frame->class->layer != CT_LAYER_USER] += frame->ioctl;
	return 0;
}

struct ct_frame *ct_track_pop(struct ct_track *track)
{
	struct ct_frame *frame = &track->frames[--track->depth];

	track->nested[frame->category]--;
	track->ioctls[frame->class->layer != CT_LAYER_USER] -= frame->ioctl;
	return frame;
}

const struct ct_frame *ct_track_call(const struct ct_track *track)
{
	for (unsigned int i = 0; i < track->depth; i++)
		if (ct_class_is(track->frames[i].class, CT_IS_API))
			return &track->frames[i];
	return NULL;
}

void ct_tracks_free(struct ct_tracks *tracks)
{
	for (size_t i = 0; i < tracks->count; i++) {
		free(tracks->list[i].track->frames);
		free(tracks->list[i].track->ranges);
		free(tracks->list[i].track);
	}
	ct_keyed_free(tracks);
	ct_keyed_free(&tracks->pids);
	*tracks = (struct ct_tracks){ 0 };
}
