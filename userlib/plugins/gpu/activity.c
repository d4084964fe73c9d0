// SPDX-License-Identifier: LGPL-2.1-or-later
/* CUPTI's records as ours. */
#include <stdlib.h>
#include <string.h>

#include "plugins/gpu/activity.h"
#include "plugins/gpu/clock.h"

/* A clock that is a little off; nothing has happened before or after. */
#define SLACK	1000000ull	/* ns */

/* -------------------------------------------------------- kernels' names --- */
#define NAMES	16384u		/* a power of two; twice as many as are kept */

static struct name {
	const char *text;	/* CUPTI's: one for all records of a kernel */
	u64 hash;
	u32 id;
} names[NAMES];
static u32 names_used;

static u64 name_hash(const char *text, size_t *len)
{
	u64 hash = 0xcbf29ce484222325;
	size_t n = 0;

	for (; text[n]; n++)
		hash = (hash ^ (u8)text[n]) * 0x100000001b3;
	*len = n;
	return hash ? hash : 1;
}

/* The id of a text; texts are known by their hash, as their memory may come again as another's. */
static u32 name_id(const char *text)
{
	size_t len;
	u64 hash;
	u32 i;

	if (!text || !*text)
		return 0;
	hash = name_hash(text, &len);
	for (i = (u32)hash & (NAMES - 1); names[i].hash; i = (i + 1) & (NAMES - 1))
		if (names[i].hash == hash)
			return names[i].id;
	if (names_used == NAMES / 2)
		return host->string(text, len);
	names[i].id = host->string(text, len);
	if (names[i].id) {
		names[i].hash = hash;
		names_used++;
		return names[i].id;
	}
	return 0;
}

static bool leaving;

void activity_leaves(void)
{
	leaving = true;
}

void activity_forget(void)
{
	leaving = false;
	memset(names, 0, sizeof(names));
	names_used = 0;
}

/* --------------------------------------------------------------- records --- */
static void activity_kernel(struct entry *e, const struct cupti_kernel *r)
{
	e->class = CT_CLASS_gpu_kernel;
	e->size = sizeof(e->kernel);
	e->kernel = (struct ct_gpu_kernel){
		.kernel = name_id(r->name), .context_id = r->context, .stream_id = r->stream,
		.correlation = r->correlation, .graph_node = r->graph_node, .graph = r->graph,
		.grid_x = r->grid[0], .grid_y = r->grid[1], .grid_z = r->grid[2],
		.block_x = r->block[0], .block_y = r->block[1], .block_z = r->block[2],
		.shared = r->shared, .shared_static = r->shared_static,
		.gpu = (u16)r->device, .registers = r->registers,
	};
}

static const u8 directions[] = {
	CT_DIR_UNKNOWN, CT_DIR_H2D, CT_DIR_D2H, CT_DIR_H2A, CT_DIR_A2H, CT_DIR_A2A, CT_DIR_A2D,
	CT_DIR_D2A, CT_DIR_D2D, CT_DIR_H2H, CT_DIR_P2P,
};

static u32 direction(u8 kind)
{
	return kind < sizeof(directions) ? directions[kind] : CT_DIR_UNKNOWN;
}

static void activity_copy(struct entry *e, const struct cupti_copy *r)
{
	e->class = CT_CLASS_gpu_copy;
	e->size = sizeof(e->copy);
	e->copy = (struct ct_gpu_copy){
		.size = r->bytes, .context_id = r->context, .stream_id = r->stream,
		.correlation = r->correlation, .graph_node = r->graph_node, .graph = r->graph,
		.direction = direction(r->copy_kind), .src_kind = r->src_kind,
		.dst_kind = r->dst_kind, .gpu = (u16)r->device, .dst_gpu = (u16)r->device,
		.async = r->flags & CUPTI_ASYNC,
	};
}

static void activity_peer_copy(struct entry *e, const struct cupti_peer_copy *r)
{
	e->class = CT_CLASS_gpu_copy;
	e->size = sizeof(e->copy);
	e->copy = (struct ct_gpu_copy){
		.size = r->bytes, .context_id = r->context, .stream_id = r->stream,
		.correlation = r->correlation, .graph_node = r->graph_node, .graph = r->graph,
		.direction = direction(r->copy_kind), .src_kind = r->src_kind,
		.dst_kind = r->dst_kind, .gpu = (u16)r->src_device,
		.dst_gpu = (u16)r->dst_device, .async = r->flags & CUPTI_ASYNC,
	};
}

static void activity_set(struct entry *e, const struct cupti_set *r)
{
	e->class = CT_CLASS_gpu_set;
	e->size = sizeof(e->set);
	e->set = (struct ct_gpu_set){
		.size = r->bytes, .context_id = r->context, .stream_id = r->stream,
		.correlation = r->correlation, .graph_node = r->graph_node, .graph = r->graph,
		.value = r->value, .gpu = (u16)r->device, .dst_kind = r->memory_kind,
	};
}

static void activity_graph(struct entry *e, const struct cupti_graph *r)
{
	e->class = CT_CLASS_gpu_graph;
	e->size = sizeof(e->graph);
	e->graph = (struct ct_gpu_graph){
		.graph = r->graph, .context_id = r->context, .stream_id = r->stream,
		.correlation = r->correlation, .gpu = (u16)r->device,
	};
}

/* The kind begins every record; where the times are depends on it. */
#define OF(type, fill)							\
	do {								\
		const struct type *r = record;				\
									\
		begin = r->start;					\
		end = r->end;						\
		fill(e, r);						\
	} while (0)

bool activity_entry(struct entry *e, const void *record)
{
	u64 begin = 0, end = 0;

	switch (*(const u32 *)record) {
	case CUPTI_KERNEL:
		OF(cupti_kernel, activity_kernel);
		break;
	case CUPTI_MEMCPY:
		OF(cupti_copy, activity_copy);
		break;
	case CUPTI_PEER_COPY:
		OF(cupti_peer_copy, activity_peer_copy);
		break;
	case CUPTI_MEMSET:
		OF(cupti_set, activity_set);
		break;
	case CUPTI_GRAPH:
		OF(cupti_graph, activity_graph);
		break;
	default:
		return false;
	}
	e->begin = clock_ns(begin);
	e->end = clock_ns(end);
	/* Not finished when it was asked for by force, or CUPTI has no time for it. */
	if (!begin || !end || e->end < e->begin || e->end > host->clock() + SLACK ||
	    e->end - e->begin > CT_DURATION_MAX) {
		/* What the program still waits for when it is left, as a kernel that hangs and all behind it, is not lost. */
		if (!leaving || (begin && end))
			host->lose(1);
		return false;
	}
	return true;
}
