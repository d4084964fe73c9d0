// SPDX-License-Identifier: LGPL-2.1-or-later
/* See perfetto_tracks.h. */
#include "export/perfetto/perfetto_tracks.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/*
 * Fields of TrackDescriptor, ProcessDescriptor, ThreadDescriptor, CounterDescriptor and
 * TraceAttributes.
 */
enum {
	TRACK_UUID = 1, TRACK_NAME = 2, TRACK_PROCESS = 3, TRACK_THREAD = 4, TRACK_PARENT = 5,
	TRACK_COUNTER = 8, TRACK_CHILDREN = 11, TRACK_RANK = 12,
	PROCESS_PID = 1, PROCESS_CMDLINE = 2, PROCESS_NAME = 6, PROCESS_LABEL = 8,
	THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5,
	COUNTER_UNIT = 3, COUNTER_UNIT_NAME = 6, UNIT_COUNT = 2, UNIT_BYTES = 3,
	ATTRIBUTES_ATTRIBUTE = 1, ATTRIBUTE_KEY = 1, ATTRIBUTE_TEXT = 3,
	CHILDREN_BY_RANK = 3,
};

/* A pid or tid, which the schema has as a signed number of 32 bits. */
static uint64_t tracks_id(uint32_t id)
{
	return (int64_t)(int32_t)id;
}

static int perfetto_tracks_add(struct ct_perfetto_tracks *t)
{
	ct_packets_add(t->packets, CT_PACKET_TRACK, &t->track);
	return ct_packets_error(t->packets);
}

/* Why there is no uuid. */
static int tracks_error(const struct ct_perfetto_tracks *t)
{
	int rc = ct_packets_error(t->packets);

	return rc ? rc : -ENOMEM;
}

/* Begins the description of a track; @parent 0: none. */
static void tracks_start(struct ct_perfetto_tracks *t, uint64_t uuid, uint64_t parent, const char *name)
{
	ct_proto_number(&t->track, TRACK_UUID, uuid);
	if (parent)
		ct_proto_number(&t->track, TRACK_PARENT, parent);
	if (name)
		ct_proto_text(&t->track, TRACK_NAME, name, strlen(name));
}

/* Kinds of tracks that have an id; TRACKS_COUNTER + n is the counter n, TRACKS_METRIC + n the figure n of a GPU. */
enum {
	TRACKS_PROCESS, TRACKS_THREAD, TRACKS_INTERRUPTS, TRACKS_GPU, TRACKS_COUNTER,
	TRACKS_METRIC = TRACKS_COUNTER + CT_COUNTER_COUNT,
};

/* The uuid of a track; @made: it is new.  0: tracks_error(). */
static uint64_t tracks_uuid(struct ct_perfetto_tracks *t, unsigned int kind, uint64_t id, bool *made)
{
	struct ct_perfetto_uuid *track = ct_keyed_put_pair(&t->known, kind, id);

	*made = track && !track->uuid;
	if (*made)
		track->uuid = ++t->uuids;
	return track ? track->uuid : 0;
}

int ct_perfetto_process(struct ct_perfetto_tracks *t, uint32_t pid, const char *name, size_t len)
{
	bool made;
	uint64_t uuid = tracks_uuid(t, TRACKS_PROCESS, pid, &made);

	if (!uuid)
		return -ENOMEM;
	tracks_start(t, uuid, 0, NULL);
	ct_proto_number(&t->part, PROCESS_PID, tracks_id(pid));
	if (len) {
		ct_proto_text(&t->part, PROCESS_CMDLINE, name, len);
		ct_proto_text(&t->part, PROCESS_NAME, name, len);
	}
	if (t->trace->simulated)
		ct_proto_text(&t->part, PROCESS_LABEL, "simulated GPU", 13);
	ct_proto_message(&t->track, TRACK_PROCESS, &t->part);
	return perfetto_tracks_add(t);
}

/* The uuid of a process, which may have no name yet; 0: tracks_error(). */
static uint64_t tracks_process(struct ct_perfetto_tracks *t, uint32_t pid)
{
	const struct ct_perfetto_uuid *process = ct_keyed_get_pair(&t->known, TRACKS_PROCESS, pid);

	if (!process && ct_perfetto_process(t, pid, NULL, 0))
		return 0;
	process = ct_keyed_get_pair(&t->known, TRACKS_PROCESS, pid);
	return process ? process->uuid : 0;
}

/* The uuid of a thread; 0: tracks_error(). */
static uint64_t tracks_thread(struct ct_perfetto_tracks *t, const struct ct_slice_track *track)
{
	uint64_t process = tracks_process(t, track->pid), uuid;
	const char *name = track->pid == track->tid ? "main" : "thread";
	bool made;

	uuid = process ? tracks_uuid(t, TRACKS_THREAD, (uint64_t)track->pid << 32 | track->tid, &made) : 0;
	if (!uuid || !made)
		return uuid;
	tracks_start(t, uuid, process, NULL);
	ct_proto_number(&t->part, THREAD_PID, tracks_id(track->pid));
	ct_proto_number(&t->part, THREAD_TID, tracks_id(track->tid));
	ct_proto_text(&t->part, THREAD_NAME, name, strlen(name));
	ct_proto_message(&t->track, TRACK_THREAD, &t->part);
	ct_proto_number(&t->track, TRACK_CHILDREN, CHILDREN_BY_RANK);
	return perfetto_tracks_add(t) ? 0 : uuid;
}

/* The uuid of a track at the top, below which others are; 0: tracks_error(). */
static uint64_t tracks_top(struct ct_perfetto_tracks *t, unsigned int kind, uint64_t id, const char *name)
{
	bool made;
	uint64_t uuid = tracks_uuid(t, kind, id, &made);

	if (!uuid || !made)
		return uuid;
	tracks_start(t, uuid, 0, name);
	return perfetto_tracks_add(t) ? 0 : uuid;
}

int ct_perfetto_track(struct ct_perfetto_tracks *t, struct ct_slice_track *track)
{
	const char *name = track->name;
	uint64_t parent;

	switch (track->kind) {
	case CT_SLICE_TRACK_RANGES:
	case CT_SLICE_TRACK_CALLS:
	case CT_SLICE_TRACK_DRIVER:
		parent = tracks_thread(t, track);
		if (!track->number && track->kind == CT_SLICE_TRACK_CALLS) {
			track->id = parent;
			return parent ? 0 : tracks_error(t);
		}
		/* Below its thread, whose name need not be said again. */
		name = strstr(name, ": ") ? strstr(name, ": ") + 2 : name;
		break;
	case CT_SLICE_TRACK_GPU:
		parent = tracks_process(t, track->pid);
		break;
	default:
		parent = tracks_top(t, TRACKS_INTERRUPTS, 0, "interrupts");
	}
	if (!parent)
		return tracks_error(t);
	track->id = ++t->uuids;
	tracks_start(t, track->id, parent, name);
	ct_proto_number(&t->track, TRACK_RANK, CT_SLICE_TRACKS_ALIKE * track->kind + track->number);
	return perfetto_tracks_add(t);
}

/* A counter below @parent, with a unit of the schema or with a name for it; 0: tracks_error(). */
static uint64_t tracks_counter(struct ct_perfetto_tracks *t, unsigned int kind, uint64_t id, uint64_t parent,
			       const char *name, uint64_t unit, const char *unit_name)
{
	bool made = false;
	uint64_t uuid = parent ? tracks_uuid(t, kind, id, &made) : 0;

	if (!made)
		return uuid;
	tracks_start(t, uuid, parent, name);
	if (unit)
		ct_proto_number(&t->part, COUNTER_UNIT, unit);
	else if (*unit_name)
		ct_proto_text(&t->part, COUNTER_UNIT_NAME, unit_name, strlen(unit_name));
	ct_proto_message(&t->track, TRACK_COUNTER, &t->part);
	return perfetto_tracks_add(t) ? 0 : uuid;
}

uint64_t ct_perfetto_counter(struct ct_perfetto_tracks *t, enum ct_slice_counter which, uint32_t pid)
{
	return tracks_counter(t, TRACKS_COUNTER + which, pid, tracks_process(t, pid), ct_counter_name[which],
			      which == CT_COUNTER_MEMORY ? UNIT_BYTES : UNIT_COUNT, NULL);
}

uint64_t ct_perfetto_metric(struct ct_perfetto_tracks *t, enum ct_slice_metric which, uint32_t gpu)
{
	char name[64];

	snprintf(name, sizeof(name), "GPU %u of the machine (NVML)", gpu);
	return tracks_counter(t, TRACKS_METRIC + which, gpu, tracks_top(t, TRACKS_GPU, gpu, name),
			      ct_slice_metric_name[which], 0, ct_slice_metric_unit[which]);
}

int ct_perfetto_attributes(struct ct_perfetto_tracks *t)
{
	const struct ct_registry *reg = &t->trace->reg;

	for (unsigned int i = 0; i < reg->infos_count; i++) {
		const struct ct_info *info = &reg->infos[i];

		if (ct_registry_info(reg, info->key) != info->text)
			continue;
		ct_proto_text(&t->part, ATTRIBUTE_KEY, info->key, strlen(info->key));
		ct_proto_text(&t->part, ATTRIBUTE_TEXT, info->text, strlen(info->text));
		ct_proto_message(&t->track, ATTRIBUTES_ATTRIBUTE, &t->part);
	}
	ct_packets_add(t->packets, CT_PACKET_ATTRIBUTES, &t->track);
	return ct_packets_error(t->packets);
}

void ct_perfetto_tracks_free(struct ct_perfetto_tracks *t)
{
	ct_keyed_free(&t->known);
	ct_proto_free(&t->track);
	ct_proto_free(&t->part);
}
