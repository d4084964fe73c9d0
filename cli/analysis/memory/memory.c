// SPDX-License-Identifier: LGPL-2.1-or-later
/* See memory.h.  Must never keep something for each record, only for what is held. */
#include "analysis/memory/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/program/process_ends.h"
#include "base/grow.h"

#define ROW(id, word)	[CT_MEMORY_##id] = word,
const char *const ct_memory_word[CT_MEMORY_SUMS] = { CT_MEMORY_KINDS(ROW) [CT_MEMORY_GPU] = "gpu" };
#undef ROW

enum { ACT_ALLOC, ACT_FREE, ACT_MAP, ACT_UNMAP, ACT_CONTEXT };

/* What a function does, and what it does it to. */
static const struct {
	const char *name;
	uint8_t action, kind, space;
} functions[] = {
	{ "cuMemAlloc", ACT_ALLOC, CT_MEMORY_DEVICE, CT_MEMORY_ADDRESSES },
	{ "cuMemAllocPitch", ACT_ALLOC, CT_MEMORY_DEVICE, CT_MEMORY_ADDRESSES },
	{ "cuMemAllocAsync", ACT_ALLOC, CT_MEMORY_POOL, CT_MEMORY_ADDRESSES },
	{ "cuMemAllocFromPoolAsync", ACT_ALLOC, CT_MEMORY_POOL, CT_MEMORY_ADDRESSES },
	{ "cuMemAllocManaged", ACT_ALLOC, CT_MEMORY_MANAGED, CT_MEMORY_ADDRESSES },
	{ "cuMemAllocHost", ACT_ALLOC, CT_MEMORY_HOST, CT_MEMORY_ADDRESSES },
	{ "cuMemHostAlloc", ACT_ALLOC, CT_MEMORY_HOST, CT_MEMORY_ADDRESSES },
	{ "cuMemHostRegister", ACT_ALLOC, CT_MEMORY_HOST, CT_MEMORY_ADDRESSES },
	{ "cuMemCreate", ACT_ALLOC, CT_MEMORY_VIRTUAL, CT_MEMORY_HANDLES },
	{ "cuArrayCreate", ACT_ALLOC, CT_MEMORY_ARRAY, CT_MEMORY_ARRAYS },
	{ "cuArray3DCreate", ACT_ALLOC, CT_MEMORY_ARRAY, CT_MEMORY_ARRAYS },
	{ "cuMipmappedArrayCreate", ACT_ALLOC, CT_MEMORY_ARRAY, CT_MEMORY_ARRAYS },
	{ "cuMemFree", ACT_FREE, 0, CT_MEMORY_ADDRESSES },
	{ "cuMemFreeAsync", ACT_FREE, 0, CT_MEMORY_ADDRESSES },
	{ "cuMemFreeHost", ACT_FREE, 0, CT_MEMORY_ADDRESSES },
	{ "cuMemHostUnregister", ACT_FREE, 0, CT_MEMORY_ADDRESSES },
	{ "cuMemRelease", ACT_FREE, 0, CT_MEMORY_HANDLES },
	{ "cuArrayDestroy", ACT_FREE, 0, CT_MEMORY_ARRAYS },
	{ "cuMipmappedArrayDestroy", ACT_FREE, 0, CT_MEMORY_ARRAYS },
	{ "cuMemMap", ACT_MAP, 0, CT_MEMORY_HANDLES },
	{ "cuMemUnmap", ACT_UNMAP, 0, CT_MEMORY_HANDLES },
	{ "cuCtxDestroy", ACT_CONTEXT, 0, 0 },
	{ "cuDevicePrimaryCtxRelease", ACT_CONTEXT, 0, 0 },
	{ "cuDevicePrimaryCtxReset", ACT_CONTEXT, 0, 0 },
};
#define FUNCTIONS	(sizeof(functions) / sizeof(*functions))

#define LIVE_MAX	(1u << 18)	/* allocations at a moment; a hostile trace never frees */

static bool memory_wants(const struct ct_class *class)
{
	return class->id == CT_CLASS_process || class->id == CT_CLASS_exit ||
	       ct_class_is(class, CT_IS_SWITCH | CT_IS_MEMORY) ||
	       (class->layer == CT_LAYER_USER && class->category == CT_CAT_CONTEXT);
}

/* The index of a function, or -1. */
static int memory_function(struct ct_memory *m, const struct ct_class *class)
{
	uint8_t *known = &m->actions[class->id];

	if (!*known) {
		*known = 1;
		for (unsigned int i = 0; i < FUNCTIONS; i++)
			if (!strcmp(functions[i].name, class->name))
				*known = i + 2;
	}
	return *known - 2;
}

/* ------------------------------------------------------------- over time --- */

/* Twice as long buckets: each takes two. */
static void memory_widen(struct ct_memory_process *p)
{
	for (unsigned int i = 0; i < CT_MEMORY_BUCKETS; i++) {
		struct ct_memory_bucket b = p->buckets[i], *into = &p->buckets[i / 2];

		p->buckets[i].used = false;
		if (!b.used)
			continue;
		if (!into->used || i % 2 == 0) {
			*into = b;
			continue;
		}
		if (b.peak > into->peak) {
			into->peak = b.peak;
			into->peak_at = b.peak_at;
		}
		into->after = b.after;
	}
	p->shift++;
}

static int memory_note_time(struct ct_memory_process *p, uint64_t ts)
{
	uint64_t held = p->sums[CT_MEMORY_GPU].held;
	struct ct_memory_bucket *b;

	if (!p->buckets) {
		p->buckets = calloc(CT_MEMORY_BUCKETS, sizeof(*p->buckets));
		if (!p->buckets)
			return -ENOMEM;
		p->first = ts;
		p->shift = CT_MEMORY_SHIFT;
	}
	if (ts < p->first)
		ts = p->first;
	while ((ts - p->first) >> p->shift >= CT_MEMORY_BUCKETS)
		memory_widen(p);
	b = &p->buckets[(ts - p->first) >> p->shift];
	if (!b->used || held > b->peak) {
		b->peak = held;
		b->peak_at = ts;
	}
	b->used = true;
	b->after = held;
	return 0;
}

/* -------------------------------------------------------------- sums --- */

static void memory_sum_add(struct ct_memory_sum *s, uint64_t size, uint64_t ts)
{
	s->allocations++;
	s->bytes += size;
	s->held += size;
	s->held_count++;
	if (s->held > s->peak) {
		s->peak = s->held;
		s->peak_at = ts;
	}
}

/* What it held at the last peak: since then it did not change, unless it says so. */
static void memory_stack_most(const struct ct_memory_process *p, struct ct_memory_stack *s)
{
	if (s->peaks != p->peaks)
		s->most = s->held;
	s->peaks = p->peaks;
}

static struct ct_memory_stack *memory_stack(struct ct_memory_process *p, uint32_t stack)
{
	/* A stack that is new held nothing before. */
	struct ct_memory_stack *s = ct_keyed_put(&p->stacks, stack);

	if (s)
		memory_stack_most(p, s);
	return s;
}

static int memory_add(struct ct_memory *m, struct ct_memory_process *p, const struct ct_memory_live *live)
{
	struct ct_memory_sum *gpu = &p->sums[CT_MEMORY_GPU];
	uint64_t peak = gpu->peak;
	struct ct_memory_stack *s;

	memory_sum_add(&p->sums[live->kind], live->bytes, live->ts);
	if (live->kind == CT_MEMORY_HOST)
		return 0;
	s = memory_stack(p, live->stack);
	if (!s)
		return -ENOMEM;
	s->held += live->bytes;
	m->change.allocations++;
	m->change.bytes += live->bytes;
	memory_sum_add(gpu, live->bytes, live->ts);
	p->peaks += gpu->peak > peak;
	return memory_note_time(p, live->ts);
}

static int memory_take(struct ct_memory_process *p, const struct ct_memory_live *live, uint64_t ts)
{
	unsigned int kind = live->kind;
	uint64_t size = live->bytes;
	struct ct_memory_stack *s;

	p->sums[kind].held -= size;
	p->sums[kind].held_count--;
	if (kind == CT_MEMORY_HOST)
		return 0;
	s = memory_stack(p, live->stack);
	if (!s)
		return -ENOMEM;
	s->held -= size;
	p->sums[CT_MEMORY_GPU].held -= size;
	p->sums[CT_MEMORY_GPU].held_count--;
	return memory_note_time(p, ts);
}

static void memory_count_free(struct ct_memory *m, struct ct_memory_process *p, unsigned int kind)
{
	p->sums[kind].frees++;
	if (kind == CT_MEMORY_HOST)
		return;
	p->sums[CT_MEMORY_GPU].frees++;
	m->change.frees++;
}

/* --------------------------------------------------------- processes --- */

static struct ct_memory_process *memory_process(struct ct_memory *m, uint32_t pid)
{
	struct ct_memory_pid *of = ct_keyed_put(&m->pids, pid);
	struct ct_memory_process *p = ct_memory_now(m, pid);

	if (p)
		p->ended = false;	/* only its first thread had */
	if (p || !of)
		return p;
	if (!ct_room(m->processes, m->processes_count, m->room))
		return NULL;
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->pid = pid;
	p->generation = of->begun ? of->begun - 1 : 0;
	m->processes[m->processes_count++] = p;
	of->process = m->processes_count;
	return p;
}

static struct ct_memory_leak *memory_leak(struct ct_memory_process *p, const struct ct_class *class)
{
	for (unsigned int i = 0; i < p->leaks_count; i++)
		if (p->leaks[i].class == class)
			return &p->leaks[i];
	if (!ct_room(p->leaks, p->leaks_count, p->leaks_room))
		return NULL;
	p->leaks[p->leaks_count] = (struct ct_memory_leak){
		.class = class, .smallest = UINT64_MAX, .first = UINT64_MAX,
	};
	return &p->leaks[p->leaks_count++];
}

/* Nothing more comes of this process: what it holds was never freed. */
static int memory_finish(struct ct_memory_process *p)
{
	for (unsigned int space = 0; space < CT_MEMORY_SPACES; space++) {
		for (size_t i = 0; i < p->live[space].count; i++) {
			const struct ct_memory_live *live = &p->live[space].list[i];
			struct ct_memory_leak *leak = memory_leak(p, live->class);

			if (!leak)
				return -ENOMEM;
			leak->count++;
			leak->bytes += live->bytes;
			if (live->bytes < leak->smallest)
				leak->smallest = live->bytes;
			if (live->bytes > leak->largest)
				leak->largest = live->bytes;
			if (live->ts < leak->first)
				leak->first = live->ts;
			if (live->ts > leak->last)
				leak->last = live->ts;
		}
		ct_keyed_free(&p->live[space]);
	}
	for (size_t i = 0; i < p->stacks.count; i++)
		memory_stack_most(p, &p->stacks.list[i]);
	ct_keyed_free(&p->maps);
	return 0;
}

/* A program begins under this pid, or ends: what the one before it held was given back. */
static int memory_program(struct ct_analysis *a, const struct ct_trace_event *e)
{
	struct ct_memory *m = a->state;
	bool begins = ct_program_begins(e);
	struct ct_memory_pid *of = begins ? ct_keyed_put(&m->pids, e->record->pid) :
					    ct_keyed_get(&m->pids, e->record->pid);
	struct ct_memory_process *p = ct_memory_now(m, e->record->pid);
	int rc = 0;

	if (begins) {
		if (!of)
			return -ENOMEM;
		begins = of->begun++ > 0;
	}
	if (!p)
		return 0;
	if (begins || ct_program_exits(e)) {
		p->ended = true;
		rc = memory_finish(p);
		of->process = 0;
	} else if (ct_thread_leaves(e) && e->record->tid == p->pid) {
		p->ended = true;
	}
	return rc;
}

/* ---------------------------------------------------------------- calls --- */

static int memory_alloc(struct ct_memory *m, const struct ct_trace_event *e, unsigned int function)
{
	unsigned int space = functions[function].space, kind = functions[function].kind;
	struct ct_memory_process *p;
	struct ct_memory_live *live;
	uint64_t size = ct_record_known(e->record, CT_KNOWN_SIZE);
	uint64_t key = ct_record_known(e->record, space == CT_MEMORY_ADDRESSES ? CT_KNOWN_PTR : CT_KNOWN_HANDLE);

	if (!ct_record_has(e->record, CT_KNOWN_SIZE) || !key)
		return 0;
	if (m->processes_count == CT_MEMORY_PROCESSES && !ct_memory_now(m, e->record->pid)) {
		m->left_out++;
		return 0;
	}
	p = memory_process(m, e->record->pid);
	live = p ? ct_keyed_get(&p->live[space], key) : NULL;
	if (p && !live && p->live[space].count >= LIVE_MAX / m->processes_count) {
		p->left_out = true;
		m->left_out++;
		return 0;
	}
	if (p && !live)
		live = ct_keyed_put(&p->live[space], key);
	if (!live)
		return -ENOMEM;
	/* The call that freed it has not returned yet, or its record was lost. */
	if (live->class && memory_take(p, live, e->end))
		return -ENOMEM;
	*live = (struct ct_memory_live){ .key = key, .bytes = size, .ts = e->end, .class = e->class,
					.stack = e->point->stack, .kind = kind };
	return memory_add(m, p, live);
}

static int memory_gone(struct ct_memory *m, struct ct_memory_process *p, unsigned int space, struct ct_memory_live *live,
		       uint64_t ts)
{
	struct ct_memory_live gone = *live;

	ct_keyed_remove(&p->live[space], live);
	memory_count_free(m, p, gone.kind);
	return memory_take(p, &gone, ts);
}

static int memory_free_call(struct ct_memory *m, struct ct_memory_process *p,
			    const struct ct_trace_event *e, unsigned int space)
{
	uint64_t key = ct_record_known(e->record, space == CT_MEMORY_ADDRESSES ? CT_KNOWN_PTR : CT_KNOWN_HANDLE);
	struct ct_memory_live *live;

	if (!key)
		return 0;	/* cuMemFree(0) is allowed */
	live = p ? ct_keyed_get(&p->live[space], key) : NULL;
	if (!live || live->released) {
		m->unknown_frees++;
		return 0;
	}
	/* Another thread was given the same address before this call returned. */
	if (live->ts > e->begin) {
		memory_count_free(m, p, live->kind);
		return 0;
	}
	if (live->mapped) {
		live->released = true;
		return 0;
	}
	return memory_gone(m, p, space, live, e->end);
}

static int memory_map(struct ct_memory_process *p, const struct ct_trace_event *e)
{
	uint64_t handle = ct_record_known(e->record, CT_KNOWN_HANDLE);
	struct ct_memory_live *live = ct_keyed_get(&p->live[CT_MEMORY_HANDLES], handle);
	struct ct_memory_map *map;

	if (!live || p->maps.count >= LIVE_MAX || live->mapped == UINT32_MAX)
		return 0;
	map = ct_keyed_put(&p->maps, ct_record_known(e->record, CT_KNOWN_PTR));
	if (!map)
		return -ENOMEM;
	if (map->handle)
		return 0;	/* the record of its unmapping was lost */
	map->bytes = ct_record_known(e->record, CT_KNOWN_SIZE);
	map->handle = handle;
	live->mapped++;
	return 0;
}

/* A range of whole mappings is unmapped. */
static int memory_unmap(struct ct_memory *m, struct ct_memory_process *p, const struct ct_trace_event *e)
{
	uint64_t at = ct_record_known(e->record, CT_KNOWN_PTR), size, handle;
	uint64_t left = ct_record_known(e->record, CT_KNOWN_SIZE);
	struct ct_memory_live *live;
	struct ct_memory_map *map;
	int rc = 0;

	while (left && !rc && (map = ct_keyed_get(&p->maps, at))) {
		size = map->bytes;
		handle = map->handle;
		ct_keyed_remove(&p->maps, map);
		live = ct_keyed_get(&p->live[CT_MEMORY_HANDLES], handle);
		if (live && live->mapped) {
			live->mapped--;
			if (!live->mapped && live->released)
				rc = memory_gone(m, p, CT_MEMORY_HANDLES, live, e->end);
		}
		if (!size || size > left)
			break;
		at += size;
		left -= size;
	}
	return rc;
}

static int memory_event(struct ct_analysis *a, const struct ct_trace_event *e)
{
	struct ct_memory *m = a->state;
	struct ct_memory_process *p;
	int function;

	m->change = (struct ct_memory_change){ 0 };
	if (!e->api)
		return memory_program(a, e);
	if (e->failed || !e->timed || !e->record->fields)
		return 0;
	function = memory_function(m, e->class);
	/* A call inside a call of the same kind is a part of it. */
	if (function < 0 || (e->point->depth && e->track->nested[e->category]))
		return 0;
	if (functions[function].action == ACT_ALLOC)
		return memory_alloc(m, e, function);
	p = ct_memory_now(m, e->record->pid);
	switch (functions[function].action) {
	case ACT_FREE:
		return memory_free_call(m, p, e, functions[function].space);
	case ACT_MAP:
		return p ? memory_map(p, e) : 0;
	case ACT_UNMAP:
		return p ? memory_unmap(m, p, e) : 0;
	}
	if (p)
		p->context_gone = e->end;
	return 0;
}

static int memory_begin(struct ct_analysis *a)
{
	struct ct_memory *m = a->state;

	m->actions = calloc(CT_CLASS_MAX + 1, sizeof(*m->actions));
	return m->actions ? 0 : -ENOMEM;
}

static int memory_end(struct ct_analysis *a)
{
	struct ct_memory *m = a->state;
	int rc = 0;

	for (unsigned int i = 0; i < m->processes_count && !rc; i++)
		rc = memory_finish(m->processes[i]);
	return rc;
}

static void memory_free(struct ct_analysis *a)
{
	struct ct_memory *m = a->state;

	for (unsigned int i = 0; i < m->processes_count; i++) {
		struct ct_memory_process *p = m->processes[i];

		for (unsigned int space = 0; space < CT_MEMORY_SPACES; space++)
			ct_keyed_free(&p->live[space]);
		ct_keyed_free(&p->maps);
		free(p->buckets);
		free(p->leaks);
		ct_keyed_free(&p->stacks);
		free(p);
	}
	free(m->processes);
	free(m->actions);
	ct_keyed_free(&m->pids);
}

const struct ct_memory_process *ct_memory_of(const struct ct_memory *m, uint32_t pid,
					     uint32_t generation)
{
	for (unsigned int i = 0; i < m->processes_count; i++)
		if (m->processes[i]->pid == pid && m->processes[i]->generation == generation)
			return m->processes[i];
	return NULL;
}

const struct ct_analyser ct_memory_analyser = {
	.on = CT_ON_END | CT_ON_INSTANT,
	.wants = memory_wants,
	.state_size = sizeof(struct ct_memory),
	.begin = memory_begin,
	.event = memory_event,
	.end = memory_end,
	.free = memory_free,
};
