// SPDX-License-Identifier: LGPL-2.1-or-later
/* See lanes.h. */
#include "export/slices/lanes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/grow.h"

#define KEY_OTHERS	UINT64_MAX

enum ct_lane_kind ct_lane_kind_of(const struct ct_record *r)
{
	const struct ct_class *class = r->class;

	if (class->layer == CT_LAYER_GPU)
		return CT_LANE_GPU;
	if (ct_track_is_interrupts(ct_track_key(r)))
		return CT_LANE_INTERRUPTS;
	if (class->layer != CT_LAYER_USER || class->id == CT_CLASS_ioctl)
		return CT_LANE_DRIVER;
	return class->category == CT_CAT_MARKER ? CT_LANE_RANGES : CT_LANE_CALLS;
}

static uint64_t lanes_key(enum ct_lane_kind kind, const struct ct_record *r)
{
	switch (kind) {
	case CT_LANE_INTERRUPTS:
		return ct_mix((uint64_t)kind << 32, (uint32_t)r->cpu);
	case CT_LANE_GPU:
		return ct_mix((uint64_t)kind << 32 | r->pid, ct_track_key(r));
	case CT_LANE_OTHERS:
		return KEY_OTHERS;
	default:
		return ct_mix((uint64_t)kind << 32 | r->pid, r->tid);
	}
}

static void lanes_name(struct ct_lane *lane)
{
	const char *thread = lane->tid == lane->pid ? "main" : "thread";
	char *name = lane->name;
	size_t size = sizeof(lane->name);
	int len = 0;

	switch (lane->kind) {
	case CT_LANE_RANGES:
		len = snprintf(name, size, "%s %u: ranges", thread, lane->tid);
		break;
	case CT_LANE_CALLS:
		len = snprintf(name, size, "%s %u", thread, lane->tid);
		break;
	case CT_LANE_DRIVER:
		len = snprintf(name, size, "%s %u: driver", thread, lane->tid);
		break;
	case CT_LANE_GPU:
		len = snprintf(name, size, "GPU %u: context %u, stream %llu", lane->gpu, lane->context,
			       (unsigned long long)lane->stream);
		break;
	case CT_LANE_INTERRUPTS:
		len = snprintf(name, size, "CPU %d", (int)lane->tid);
		break;
	case CT_LANE_OTHERS:
		len = snprintf(name, size, "other threads");
		break;
	}
	if (lane->number)
		snprintf(name + len, size - len, " (%u)", lane->number + 1);
}

static struct ct_lane *lanes_add(struct ct_lanes *lanes, const struct ct_lane *like)
{
	struct ct_lane *lane = ct_room(lanes->list, lanes->count, lanes->capacity) ? malloc(sizeof(*lane)) : NULL;

	if (!lane)
		return NULL;
	*lane = *like;
	lane->index = lanes->count;
	lanes_name(lane);
	lanes->list[lanes->count++] = lane;
	return lane;
}

struct ct_lane *ct_lanes_get(struct ct_lanes *lanes, enum ct_lane_kind kind, const struct ct_record *r)
{
	uint64_t key = lanes_key(kind, r);
	const struct ct_lane_of *of;

	if (lanes->last && lanes->last_key == key)
		return lanes->last;
	of = ct_keyed_get(&lanes->by_key, key);
	if (!of)
		return NULL;
	lanes->last_key = key;
	lanes->last = of->lane;
	return lanes->last;
}

struct ct_lane *ct_lanes_make(struct ct_lanes *lanes, enum ct_lane_kind kind, const struct ct_record *r)
{
	struct ct_lane *lane = ct_lanes_get(lanes, kind, r);
	struct ct_lane_of *of;

	if (lane)
		return lane;
	if (lanes->count >= CT_LANES_MAX && kind != CT_LANE_OTHERS)
		return ct_lanes_make(lanes, CT_LANE_OTHERS, r);
	of = ct_keyed_put(&lanes->by_key, lanes_key(kind, r));
	if (!of)
		return NULL;
	lane = lanes_add(lanes, &(struct ct_lane){
		.kind = kind,
		.pid = kind == CT_LANE_INTERRUPTS || kind == CT_LANE_OTHERS ? 0 : r->pid,
		.tid = kind == CT_LANE_INTERRUPTS ? (uint32_t)r->cpu : kind == CT_LANE_OTHERS ? 0 : r->tid,
		.stream = kind == CT_LANE_GPU ? ct_record_gpu_stream(r) : 0,
		.gpu = kind == CT_LANE_GPU ? ct_record_quick(r, CT_QUICK_GPU) : 0,
		.context = kind == CT_LANE_GPU ? ct_record_quick(r, CT_QUICK_CONTEXT) : 0,
	});
	if (lane)
		of->lane = lane;
	else
		ct_keyed_remove(&lanes->by_key, of);
	return lane;
}

struct ct_lane *ct_lanes_beside(struct ct_lanes *lanes, struct ct_lane *lane)
{
	lane->next = lanes_add(lanes, &(struct ct_lane){
		.kind = lane->kind, .number = lane->number + 1, .pid = lane->pid, .tid = lane->tid,
		.stream = lane->stream, .gpu = lane->gpu, .context = lane->context,
	});
	return lane->next;
}

int ct_lane_push(struct ct_lane *lane, const struct ct_lane_slice *slice)
{
	if (!ct_room(lane->slices, lane->depth, lane->capacity))
		return -ENOMEM;
	lane->slices[lane->depth++] = *slice;
	lane->ioctls += slice->ioctl;
	return 0;
}

const struct ct_lane_slice *ct_lane_pop(struct ct_lane *lane)
{
	const struct ct_lane_slice *slice = &lane->slices[--lane->depth];

	lane->ioctls -= slice->ioctl;
	return slice;
}

int ct_lane_arrow(struct ct_lane *lane, uint64_t to)
{
	if (lane->arrows_count == CT_LANE_ARROWS)
		return 1;
	if (!ct_room(lane->arrows, lane->arrows_count, lane->arrows_capacity))
		return -ENOMEM;
	lane->arrows[lane->arrows_count++] = (struct ct_lane_arrow){
		.op_id = lane->slices[lane->depth - 1].op_id, .to = to,
	};
	return 0;
}

uint32_t ct_lane_drop_arrows(struct ct_lane *lane, uint64_t op_id)
{
	uint32_t count = lane->arrows_count;

	while (lane->arrows_count && lane->arrows[lane->arrows_count - 1].op_id == op_id)
		lane->arrows_count--;
	return count - lane->arrows_count;
}

void ct_lanes_free(struct ct_lanes *lanes)
{
	for (uint32_t i = 0; i < lanes->count; i++) {
		free(lanes->list[i]->slices);
		free(lanes->list[i]->arrows);
		free(lanes->list[i]);
	}
	free(lanes->list);
	ct_keyed_free(&lanes->by_key);
	*lanes = (struct ct_lanes){ 0 };
}
