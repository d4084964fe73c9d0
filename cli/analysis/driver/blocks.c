// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The report blocks: memory that the kernel driver allocated while it was recorded and did not
 * free.  A block is known by the function that allocated it and by its address or handle.  It
 * is there from the return of that function until the one that frees it is entered: what frees
 * has freed before it returns, and the next to allocate may get the same address.
 *
 * Memory is bounded by the number of blocks that are held at a moment.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/engine.h"

#define BLOCKS_AROUND	64	/* calls that may be around an allocation */
#define BLOCKS_MAX	(1u << 18)	/* held at once; a hostile trace frees none */

static const struct {
	const char *alloc, *free;
} families[] = {
	{ "nv_alloc_pages", "nv_free_pages" },
	{ "nv_alloc_kernel_mapping", "nv_free_kernel_mapping" },
	{ "os_alloc_mem", "os_free_mem" },
};
#define FAMILIES	(sizeof(families) / sizeof(*families))

enum { S_NAME, S_BLOCKS, S_BYTES, S_ALLOCATED, S_FREED, S_PID, S_PROCESS, S_CALL, S_IN, S_COLUMNS };

static const struct ct_column sum_columns[S_COLUMNS] = {
	[S_NAME] = { "Name", "function", CT_CELL_TEXT, 0 },
	[S_BLOCKS] = { "Blocks", "blocks", CT_CELL_COUNT, 0 },
	[S_BYTES] = { "Total (bytes)", "total", CT_CELL_BYTES, 0 },
	[S_ALLOCATED] = { "Allocated", "all allocated", CT_CELL_COUNT, 3 },
	[S_FREED] = { "Freed", "all freed", CT_CELL_COUNT, 3 },
	[S_PID] = { "Pid", "pid", CT_CELL_ID, 1 },
	[S_PROCESS] = { "Process", "process", CT_CELL_TEXT, 2 },
	[S_CALL] = { "Call", "in call", CT_CELL_TEXT, 0 },
	[S_IN] = { "Driver Function", "in driver function", CT_CELL_TEXT, 0 },
};

enum { B_ADDRESS, B_BYTES, B_TIME, B_NAME, B_PID, B_PROCESS, B_CALL, B_IN, B_COLUMNS };

static const struct ct_column block_columns[B_COLUMNS] = {
	[B_ADDRESS] = { "Address", "address", CT_CELL_HEX, 0 },
	[B_BYTES] = { "Size (bytes)", "size", CT_CELL_BYTES, 0 },
	[B_TIME] = { "Time (ns)", "at", CT_CELL_TIME, 0 },
	[B_NAME] = { "Name", "function", CT_CELL_TEXT, 0 },
	[B_PID] = { "Pid", "pid", CT_CELL_ID, 1 },
	[B_PROCESS] = { "Process", "process", CT_CELL_TEXT, 3 },
	[B_CALL] = { "Call", "in call", CT_CELL_TEXT, 2 },
	[B_IN] = { "Driver Function", "in driver function", CT_CELL_TEXT, 2 },
};

struct block {
	uint64_t address, size, ts;
	uint32_t pid;
	unsigned int family;
	const struct ct_class *user, *kernel;	/* the outermost calls around it, or NULL */
};

struct blocks {
	CT_KEYED(struct block) held[FAMILIES];
	uint64_t allocated[FAMILIES], freed[FAMILIES];
	uint64_t left_out;	/* allocations beyond BLOCKS_MAX */
	bool recorded;
};

static int blocks_family(const struct ct_class *class, bool *alloc)
{
	for (unsigned int i = 0; i < FAMILIES; i++) {
		*alloc = !strcmp(class->name, families[i].alloc);
		if (*alloc || !strcmp(class->name, families[i].free))
			return i;
	}
	return -1;
}

static bool blocks_wants(const struct ct_class *class)
{
	bool alloc;

	return class->layer == CT_LAYER_KERNEL && blocks_family(class, &alloc) >= 0;
}

/* The outermost calls of the program and of the kernel. */
static void blocks_around(struct block *b, const struct ct_track *track)
{
	b->user = b->kernel = NULL;
	for (uint32_t i = 0; i < track->depth && i < BLOCKS_AROUND && !b->kernel; i++) {
		const struct ct_class *class = track->frames[i].class;

		if (class->layer != CT_LAYER_USER)
			b->kernel = class;
		else if (!b->user)
			b->user = class;
	}
}

static int blocks_event(struct ct_analysis *a, const struct ct_trace_event *e)
{
	struct blocks *s = a->state;
	struct block *b;
	bool alloc;
	int family = blocks_family(e->class, &alloc);
	uint64_t address = e->record->fields ? ct_record_known(e->record, CT_KNOWN_PTR) : 0;

	s->recorded = true;
	if (!address || e->kind != (alloc ? CT_ON_END : CT_ON_BEGIN))
		return 0;
	b = ct_keyed_get(&s->held[family], address);
	if (!alloc) {
		if (b) {	/* if not, it was allocated before the recording began */
			ct_keyed_remove(&s->held[family], b);
			s->freed[family]++;
		}
		return 0;
	}
	if (!b && s->held[family].count >= BLOCKS_MAX) {
		s->left_out++;
		return 0;
	}
	/* If it is there already, the record of its free was lost. */
	if (!b)
		b = ct_keyed_put(&s->held[family], address);
	if (!b)
		return -ENOMEM;
	b->size = ct_record_known(e->record, CT_KNOWN_SIZE);
	b->ts = e->end;
	b->pid = e->record->pid;
	b->family = family;
	blocks_around(b, e->track);
	s->allocated[family]++;
	return 0;
}

/* ---------------------------------------------------------------- tables --- */

static int blocks_compare_rows(const struct block *x, const struct block *y)
{
	if (x->family != y->family)
		return x->family < y->family ? -1 : 1;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->kernel != y->kernel)
		return (x->kernel ? x->kernel->id : 0) - (y->kernel ? y->kernel->id : 0);
	return (x->user ? x->user->id : 0) - (y->user ? y->user->id : 0);
}

static int blocks_compare(const void *a, const void *b)
{
	const struct block *x = a, *y = b;
	int order = blocks_compare_rows(x, y);

	if (order)
		return order;
	if (x->ts != y->ts)
		return x->ts < y->ts ? -1 : 1;
	return x->address < y->address ? -1 : x->address > y->address;
}

/* All that are held, in the order of the rows.  NULL: no memory. */
static struct block *blocks_list(const struct ct_analysis *a, size_t *count)
{
	const struct blocks *s = a->state;
	struct block *list;
	size_t held = 0;

	for (unsigned int i = 0; i < FAMILIES; i++)
		held += s->held[i].count;
	list = calloc(held + 1, sizeof(*list));
	*count = 0;
	for (unsigned int family = 0; list && family < FAMILIES; family++)
		for (size_t i = 0; i < s->held[family].count; i++)
			list[(*count)++] = s->held[family].list[i];
	if (list)
		qsort(list, *count, sizeof(*list), blocks_compare);
	return list;
}

static void blocks_sums(struct ct_analysis *a, struct ct_table *t, const struct block *list,
			size_t count)
{
	const struct blocks *s = a->state;
	size_t n;

	for (size_t i = 0; i < count; i += n) {
		const struct block *b = &list[i];
		struct ct_cell *row = ct_table_row(t);
		uint64_t bytes = 0;

		for (n = 0; i + n < count && !blocks_compare_rows(b, b + n); n++)
			bytes += b[n].size;
		row[S_NAME] = ct_const(families[b->family].alloc);
		row[S_BLOCKS] = ct_u64(n);
		row[S_BYTES] = ct_u64(bytes);
		row[S_ALLOCATED] = ct_u64(s->allocated[b->family]);
		row[S_FREED] = ct_u64(s->freed[b->family]);
		row[S_PID] = ct_u64(b->pid);
		row[S_PROCESS] = ct_const(ct_processes_word(a->processes, b->pid));
		row[S_CALL] = ct_const(b->user ? b->user->name : NULL);
		row[S_IN] = ct_const(b->kernel ? b->kernel->name : NULL);
	}
}

static void blocks_each(struct ct_analysis *a, struct ct_table *t, const struct block *list,
			size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct block *b = &list[i];
		struct ct_cell *row = ct_table_row(t);

		row[B_ADDRESS] = ct_u64(b->address);
		row[B_BYTES] = ct_u64(b->size);
		row[B_TIME] = ct_moment(a, b->ts);
		row[B_NAME] = ct_const(families[b->family].alloc);
		row[B_PID] = ct_u64(b->pid);
		row[B_PROCESS] = ct_const(ct_processes_word(a->processes, b->pid));
		row[B_CALL] = ct_const(b->user ? b->user->name : NULL);
		row[B_IN] = ct_const(b->kernel ? b->kernel->name : NULL);
	}
}

static int blocks_end(struct ct_analysis *a)
{
	const struct blocks *s = a->state;
	struct ct_table *t;
	size_t count;
	struct block *list = blocks_list(a, &count);

	if (!list)
		return -ENOMEM;
	t = ct_analysis_table(a, "blocks_sum",
		"Memory that the kernel driver allocated while recorded and did not free", sum_columns,
		S_COLUMNS);
	blocks_sums(a, t, list, count);
	if (!s->recorded)
		ct_table_note(t, "No function that allocates or frees the driver's memory was recorded.");
	else if (count)
		ct_table_note(t, "It is a leak if nothing uses it any more.");
	if (s->left_out)
		ct_table_note(t, "%llu allocations are left out: too many blocks were held at once.",
			      (unsigned long long)s->left_out);
	blocks_each(a, ct_analysis_table(a, "blocks", "Each block of them", block_columns, B_COLUMNS),
		    list, count);
	free(list);
	return 0;
}

static void blocks_free(struct ct_analysis *a)
{
	struct blocks *s = a->state;

	for (unsigned int i = 0; i < FAMILIES; i++)
		ct_keyed_free(&s->held[i]);
}

const struct ct_analyser ct_report_blocks = {
	.name = "blocks",
	.summary = "memory that the kernel driver allocated while recorded and did not free",
	.on = CT_ON_BEGIN | CT_ON_END,
	.wants = blocks_wants,
	.state_size = sizeof(struct blocks),
	.event = blocks_event,
	.end = blocks_end,
	.free = blocks_free,
};
