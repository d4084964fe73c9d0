// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The report ioctl_sum: ioctls of the driver by what they ask for: the escape or UVM ioctl, and
 * the RM control command or the class of the object that it allocates.
 *
 * The module sees an ioctl in the kernel and the library sees it in the program: one side is
 * shown, the kernel's where there is one.  An ioctl whose entry function calls the next one is
 * counted once.  Must never keep more than SUM_MAX kinds.
 */
#include <errno.h>
#include <stdlib.h>

#include "analysis/engine.h"
#include "group/histogram.h"
#include "base/hash.h"

/* Kinds of ioctls of a side: a damaged trace may have any number. */
#define SUM_MAX		4096

enum { TIME, TOTAL, CALLS, AVG, MED, MAX, FAILED, DEVICE, IOCTL, COMMAND, COLUMNS };

static const struct ct_column columns[COLUMNS] = {
	[TIME] = { "Time (%)", "time", CT_CELL_PERCENT, 0 },
	[TOTAL] = { "Total Time (ns)", "total", CT_CELL_NS, 0 },
	[CALLS] = { "Num Calls", "calls", CT_CELL_COUNT, 0 },
	[AVG] = { "Avg (ns)", "avg", CT_CELL_NS_MEAN, 3 },
	[MED] = { "Med (ns)", "median", CT_CELL_NS_MEAN, 4 },
	[MAX] = { "Max (ns)", "max", CT_CELL_NS, 2 },
	[FAILED] = { "Failed", "failed", CT_CELL_COUNT, 1 },
	[DEVICE] = { "Device", "device", CT_CELL_TEXT, 5 },
	[IOCTL] = { "Ioctl", "ioctl", CT_CELL_TEXT, 0 },
	[COMMAND] = { "Command", "command or class", CT_CELL_TEXT, 0 },
};

struct ioctl_kind {
	uint64_t key;			/* of the next four */
	uint32_t device, cmd, code, have;
	uint64_t failed;
	struct ct_histogram durations;
};

struct ioctl_side {
	CT_KEYED(struct ioctl_kind);
	struct ioctl_kind others;	/* of kinds beyond SUM_MAX */
};

struct ioctl_sum {
	struct ioctl_side sides[2];	/* the program's, the kernel's */
};

static bool ioctl_sum_wants(const struct ct_class *class)
{
	return ct_class_is(class, CT_IS_IOCTL);
}

/* The same escape comes with parameter blocks of several sizes: its number tells its name. */
static uint32_t ioctl_sum_command(uint32_t cmd, uint32_t device)
{
	return (cmd >> 8 & 0xff) == 'F' && ct_name_ioctl(cmd, device) ? cmd & 0xffff : cmd;
}

static int ioctl_sum_event(struct ct_analysis *a, const struct ct_trace_event *e)
{
	struct ioctl_side *side = &((struct ioctl_sum *)a->state)->sides[e->kernel];
	const struct ct_record *r = e->record;
	uint32_t device = ct_record_quick(r, CT_QUICK_DEVICE), cmd, have, code;
	struct ioctl_kind *found;
	uint64_t key;

	if (!e->timed || e->track->ioctls[e->kernel])
		return 0;
	cmd = ioctl_sum_command(ct_record_quick(r, CT_QUICK_CMD), device);
	have = ct_record_quick(r, CT_QUICK_HAVE) & (CT_IOCTL_CONTROL | CT_IOCTL_CLASS);
	code = have ? ct_record_quick(r, CT_QUICK_CODE) : 0;
	key = ct_mix((uint64_t)device << 32 | cmd, (uint64_t)have << 32 | code);
	found = ct_keyed_get(side, key);
	if (!found)
		found = side->count == SUM_MAX ? &side->others : ct_keyed_put(side, key);
	if (!found)
		return -ENOMEM;
	if (found != &side->others) {
		found->device = device;
		found->cmd = cmd;
		found->have = have;
		found->code = code;
	}
	found->failed += e->failed;
	return ct_histogram_add(&found->durations, e->duration);
}

static int ioctl_sum_compare(const void *a, const void *b)
{
	const struct ioctl_kind *x = a, *y = b;

	if (x->durations.total != y->durations.total)
		return x->durations.total > y->durations.total ? -1 : 1;
	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	if (x->cmd != y->cmd)
		return x->cmd < y->cmd ? -1 : 1;
	return x->code < y->code ? -1 : x->code > y->code;
}

static struct ct_cell *ioctl_sum_figures(struct ct_table *t, struct ioctl_kind *kind,
					 uint64_t total)
{
	struct ct_histogram *h = &kind->durations;
	struct ct_cell *row = ct_table_row(t);

	row[TIME] = ct_double(total ? 100.0 * h->total / total : 0);
	row[TOTAL] = ct_u64(h->total);
	row[CALLS] = ct_u64(h->count);
	row[AVG] = ct_double(h->mean);
	row[MED] = ct_double(ct_histogram_median(h));
	row[MAX] = ct_u64(h->max);
	row[FAILED] = ct_u64(kind->failed);
	return row;
}

static void ioctl_sum_row(struct ct_table *t, struct ioctl_kind *kind, uint64_t total)
{
	const char *name = ct_name_ioctl(kind->cmd, kind->device);
	const char *code = ct_name_code(kind->code, kind->have);
	struct ct_cell *row = ioctl_sum_figures(t, kind, total);
	char buf[24];

	row[DEVICE] = ct_text(t, ct_name_device(kind->device, buf));
	row[IOCTL] = name ? ct_const(name) : ct_format(t, "0x%x", kind->cmd);
	if (kind->have)
		row[COMMAND] = code ? ct_const(code) : ct_format(t, "0x%x", kind->code);
}

static int ioctl_sum_end(struct ct_analysis *a)
{
	struct ioctl_sum *s = a->state;
	bool kernel = s->sides[1].count > 0;
	struct ioctl_side *side = &s->sides[kernel];
	struct ct_table *t = ct_analysis_table(a, "ioctl_sum", kernel ?
		"Ioctls of the driver by command, as the kernel module saw them" :
		"Ioctls of the driver by command, as the programs saw them",
		columns, COLUMNS);
	uint64_t total = side->others.durations.total;

	for (size_t i = 0; i < side->count; i++)
		total += side->list[i].durations.total;
	ct_keyed_sort(side, ioctl_sum_compare);
	for (size_t i = 0; i < side->count; i++)
		ioctl_sum_row(t, &side->list[i], total);
	if (side->others.durations.count) {
		ioctl_sum_figures(t, &side->others, total)[IOCTL] = ct_const("(others)");
		ct_table_note(t, "Only the first %u kinds of ioctls have rows.", SUM_MAX);
	}
	return 0;
}

static void ioctl_sum_free(struct ct_analysis *a)
{
	struct ioctl_sum *s = a->state;

	for (unsigned int i = 0; i < 2; i++) {
		for (size_t k = 0; k < s->sides[i].count; k++)
			ct_histogram_free(&s->sides[i].list[k].durations);
		ct_histogram_free(&s->sides[i].others.durations);
		ct_keyed_free(&s->sides[i]);
	}
}

const struct ct_analyser ct_report_ioctl_sum = {
	.name = "ioctl_sum",
	.summary = "ioctls of the driver: escapes, RM control commands, classes, UVM commands",
	.single = true,
	.on = CT_ON_END,
	.wants = ioctl_sum_wants,
	.state_size = sizeof(struct ioctl_sum),
	.event = ioctl_sum_event,
	.end = ioctl_sum_end,
	.free = ioctl_sum_free,
};
