// SPDX-License-Identifier: LGPL-2.1-or-later
/* See tracks.h.  Memory is bounded, whatever a trace holds. */
#include "analysis/tracks.h"

#include <errno.h>
#include <stdlib.h>

static int tracks_count_process(struct ct_tracks *tracks, uint32_t pid)
{
	if (!pid || ct_hash_get(&tracks->pids, pid))
		return 0;
	if (!ct_hash_put(&tracks->pids, pid))
		return -ENOMEM;
	tracks->processes++;
	return 0;
}

static struct ct_track *tracks_add(struct ct_tracks *tracks, const struct ct_record *r, uint64_t key)
{
	struct ct_hash_slot *slot;
	struct ct_track *track;

	if (tracks->count == tracks->capacity) {
		unsigned int capacity = tracks->capacity ? 2 * tracks->capacity : 16;
		struct ct_track **more = realloc(tracks->list, capacity * sizeof(*more));

		if (!more)
			return NULL;
		tracks->list = more;
		tracks->capacity = capacity;
	}
	track = calloc(1, sizeof(*track));
	slot = track ? ct_hash_put(&tracks->by_key, key) : NULL;
	if (!slot) {
		free(track);
		return NULL;
	}
	track->index = tracks->count;
	track->key = key;
	track->pid = r->pid;
	track->tid = key >> 32 ? 0 : r->tid; /* also of the GPU's streams */
	tracks->list[tracks->count++] = track;
	slot->a = tracks->count;
	tracks->threads += track->tid != 0;
	return tracks_count_process(tracks, r->pid) ? NULL : track;
}

struct ct_track *ct_tracks_of(struct ct_tracks *tracks, const struct ct_record *r)
{
	uint64_t key = ct_track_key(r);
	struct ct_hash_slot *slot;

	if (tracks->last && tracks->last->key == key)
		return tracks->last;
	slot = ct_hash_get(&tracks->by_key, key);
	if (!slot && tracks->count >= CT_TRACKS_MAX - 1) {
		/* One track for all of them, which no key of a record has. */
		tracks->left_out = true;
		slot = ct_hash_get(&tracks->by_key, UINT64_MAX);
		if (!slot)
			return tracks_add(tracks, &(struct ct_record){ .class = r->class }, UINT64_MAX);
		return tracks->list[slot->a - 1];
	}
	tracks->last = slot ? tracks->list[slot->a - 1] : tracks_add(tracks, r, key);
	return tracks->last;
}

int ct_track_push(struct ct_track *track, const struct ct_frame *frame)
{
	if (track->depth == CT_TRACK_DEPTH_MAX)
		return 0;
	if (track->depth == track->capacity) {
		uint32_t capacity = track->capacity ? 2 * track->capacity : 16;
		struct ct_frame *more = realloc(track->frames, capacity * sizeof(*more));

		if (!more)
			return -ENOMEM;
		track->frames = more;
		track->capacity = capacity;
	}
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

void ct_tracks_free(struct ct_tracks *tracks)
{
	for (unsigned int i = 0; i < tracks->count; i++) {
		free(tracks->list[i]->frames);
		free(tracks->list[i]);
	}
	free(tracks->list);
	ct_hash_free(&tracks->by_key);
	ct_hash_free(&tracks->pids);
	*tracks = (struct ct_tracks){ 0 };
}
