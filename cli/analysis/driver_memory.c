// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * See driver_memory.h.  A block is known by the function that allocated it and by its
 * address or handle.  It is there from the return of that function until the one that
 * frees it is entered: what frees has freed before it returns, and the next to
 * allocate may get the same address.
 */
#include "analysis/driver_memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "trace/merge.h"
#include "analysis/processes.h"
#include "view/term.h"

static const struct {
	const char *alloc, *free;
} families[] = {
	{ "nv_alloc_pages", "nv_free_pages" },
	{ "nv_alloc_kernel_mapping", "nv_free_kernel_mapping" },
	{ "os_alloc_mem", "os_free_mem" },
};
#define FAMILIES	(sizeof(families) / sizeof(*families))

struct block {
	uint64_t ptr, size, ts;
	uint32_t pid;
	uint8_t  family;
	bool     held;
	const struct ct_class *user, *kernel;	/* the outermost calls around it */
};

/* Of a thread: its outermost open calls. */
struct outer {
	const struct ct_class *class;
	uint64_t op_id;
};

struct collector {
	struct ct_processes processes;
	struct ct_hash held;		/* by family and ptr; a: index + 1 into blocks */
	struct ct_hash outer[2];	/* by tid; a: class, b: op_id; the program's, the kernel's */
	struct block *blocks;
	size_t count, capacity;
	uint64_t allocated[FAMILIES], freed[FAMILIES];
};

static int blocks_family_of(const struct ct_class *class, bool *alloc)
{
	for (unsigned int i = 0; i < FAMILIES; i++) {
		*alloc = !strcmp(class->name, families[i].alloc);
		if (*alloc || !strcmp(class->name, families[i].free))
			return i;
	}
	return -1;
}

static const struct ct_class *blocks_around(struct collector *c, const struct ct_point *p,
					    int layer)
{
	struct ct_hash_slot *slot = ct_hash_get(&c->outer[layer], p->record.tid);

	return slot && slot->b != p->op_id ? (void *)(uintptr_t)slot->a : NULL;
}

static int blocks_alloc(struct collector *c, const struct ct_point *p, int family)
{
	uint64_t ptr = ct_record_quick(&p->record, CT_QUICK_PTR);
	struct ct_hash_slot *slot;
	struct block *more;

	if (!ptr)
		return 0;	/* it failed */
	if (c->count == c->capacity) {
		c->capacity = c->capacity ? 2 * c->capacity : 256;
		more = realloc(c->blocks, c->capacity * sizeof(*more));
		if (!more)
			return -ENOMEM;
		c->blocks = more;
	}
	slot = ct_hash_put(&c->held, ct_hash_mix(ptr, family + 1));
	if (!slot)
		return -ENOMEM;
	/* The same address was allocated before: the record of its free was lost. */
	if (slot->a)
		c->blocks[slot->a - 1].held = false;
	c->blocks[c->count++] = (struct block){
		.ptr = ptr,
		.size = ct_record_quick(&p->record, CT_QUICK_SIZE),
		.ts = p->ts,
		.pid = p->record.pid,
		.family = family,
		.held = true,
		.user = blocks_around(c, p, 0),
		.kernel = blocks_around(c, p, 1),
	};
	slot->a = c->count;
	c->allocated[family]++;
	return 0;
}

static void blocks_free(struct collector *c, const struct ct_point *p, int family)
{
	uint64_t ptr = ct_record_quick(&p->record, CT_QUICK_PTR);
	struct ct_hash_slot *slot = ct_hash_get(&c->held, ct_hash_mix(ptr, family + 1));

	if (!slot)
		return;		/* allocated before the recording began */
	c->blocks[slot->a - 1].held = false;
	ct_hash_remove(&c->held, slot);
	c->freed[family]++;
}

static int blocks_point(struct collector *c, const struct ct_point *p)
{
	int layer = p->record.class->layer != CT_LAYER_USER, family;
	struct ct_hash_slot *slot;
	bool allocates;

	if (ct_processes_point(&c->processes, p))
		return -ENOMEM;
	if (p->phase == 'I' || !p->record.tid || p->record.class->category == CT_CAT_SWITCH)
		return 0;
	slot = ct_hash_put(&c->outer[layer], p->record.tid);
	if (!slot)
		return -ENOMEM;
	if (p->phase == 'B' && !slot->a) {
		slot->a = (uintptr_t)p->record.class;
		slot->b = p->op_id;
	}
	family = layer ? blocks_family_of(p->record.class, &allocates) : -1;
	if (family >= 0 && p->record.fields) {
		if (allocates && p->phase == 'E' && blocks_alloc(c, p, family))
			return -ENOMEM;
		if (!allocates && p->phase == 'B')
			blocks_free(c, p, family);
	}
	slot = ct_hash_get(&c->outer[layer], p->record.tid);
	if (p->phase == 'E' && slot->b == p->op_id)
		ct_hash_remove(&c->outer[layer], slot);
	return 0;
}

/* ---------------------------------------------------------------- printing --- */

static int blocks_by_row(const void *a, const void *b)
{
	const struct block *x = a, *y = b;

	if (x->family != y->family)
		return x->family - y->family;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->kernel != y->kernel)
		return x->kernel < y->kernel ? -1 : 1;
	if (x->user != y->user)
		return x->user < y->user ? -1 : 1;
	return x->ts < y->ts ? -1 : x->ts > y->ts;
}

static bool blocks_same_row(const struct block *x, const struct block *y)
{
	return x->family == y->family && x->pid == y->pid && x->kernel == y->kernel &&
	       x->user == y->user;
}

static void blocks_print_where(const struct block *b, FILE *out)
{
	char clean[80];

	if (b->user)
		fprintf(out, "%s%s", ct_term_clean(clean, sizeof(clean), b->user->name, 40),
			b->kernel ? ", " : "");
	fprintf(out, "%s\n", b->kernel ? ct_term_clean(clean, sizeof(clean), b->kernel->name, 40) :
		b->user ? "" : "-");
}

static void blocks_print(const struct collector *c, const struct ct_trace *t, FILE *out, bool each)
{
	char a[CT_TERM_TEXT], d[CT_TERM_TEXT], e[CT_TERM_TEXT], f[CT_TERM_TEXT], name[80];
	size_t i, n;

	fprintf(out, "\nDRIVER MEMORY allocated while recorded and not freed at the end: a leak, if nothing uses it\n"
		"  %-24s %8s %12s %9s %9s  %-24s %s\n", "function", "blocks", "bytes", "allocated",
		"freed", "process", "in");
	for (i = 0; i < c->count; i += n) {
		const struct block *b = &c->blocks[i];
		uint64_t bytes = 0;

		for (n = 0; i + n < c->count && blocks_same_row(b, b + n); n++)
			bytes += b[n].size;
		fprintf(out, "  %-24s %8s %12s %9s %9s  %-24s ", families[b->family].alloc,
			ct_term_count(a, n), ct_term_bytes(d, bytes),
			ct_term_count(e, c->allocated[b->family]), ct_term_count(f, c->freed[b->family]),
			ct_processes_name(&c->processes, b->pid, name, sizeof(name)));
		blocks_print_where(b, out);
		for (size_t k = 0; each && k < n; k++)
			fprintf(out, "    0x%-18llx %22s  at %.6f ms\n", (unsigned long long)b[k].ptr,
				ct_term_bytes(d, b[k].size),
				((double)b[k].ts - (double)t->reg.start) / 1e6);
	}
}

/* Is any of these functions a class of the trace?  If not, there is nothing to report. */
static bool blocks_is_recorded(const struct ct_trace *t)
{
	const struct ct_class *class;
	bool allocates;

	for (unsigned int id = CT_CLASS_DYNAMIC; id <= CT_CLASS_MAX; id++) {
		class = ct_registry_class(&t->reg, id);
		if (class && class->layer == CT_LAYER_KERNEL &&
		    blocks_family_of(class, &allocates) >= 0)
			return true;
	}
	return false;
}

int ct_driver_memory_report(const struct ct_analysis_run *run)
{
	const struct ct_trace *t = run->trace;
	struct collector c = { 0 };
	struct ct_merge *m;
	struct ct_point p;
	size_t i, held = 0;
	int rc = -ENOMEM;

	if (!blocks_is_recorded(t))
		return 0;
	m = ct_merge_new(t);
	while (m && (rc = ct_merge_next(m, &p)) > 0) {
		rc = blocks_point(&c, &p);
		if (rc)
			break;
	}
	for (i = 0; i < c.count; i++)
		if (c.blocks[i].held)
			c.blocks[held++] = c.blocks[i];
	c.count = held;
	if (!rc && held) {
		qsort(c.blocks, held, sizeof(*c.blocks), blocks_by_row);
		blocks_print(&c, t, run->out, run->options->blocks);
	}
	free(c.blocks);
	ct_hash_free(&c.held);
	ct_hash_free(&c.outer[0]);
	ct_hash_free(&c.outer[1]);
	ct_processes_free(&c.processes);
	ct_merge_free(m);
	return rc;
}
