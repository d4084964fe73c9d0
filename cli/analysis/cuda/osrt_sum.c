// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The report osrt_sum: the driver's ioctls, a row for each kind.  Their Name is that of the
 * function, as in nsys; scripts that add up by Name get nsys's figures.  Must never count an
 * ioctl twice: once as the program saw it and once as the kernel did.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/cuda/distribution.h"
#include "analysis/cuda/groups.h"
#include "analysis/engine.h"

enum { NAME = CT_DIST_COLUMNS, IOCTL, FAILED, COLUMNS };

static const struct ct_column columns[COLUMNS] = {
	CT_DIST_OF_TIME("Num Calls", "calls"),
	[NAME] = { "Name", "name", CT_CELL_TEXT, 9 },
	[IOCTL] = { "Ioctl", "ioctl", CT_CELL_TEXT, 0 },
	[FAILED] = { "Failed", "failed", CT_CELL_COUNT, 1 },
};

struct osrt_command {
	uint64_t command;		/* and the kind of device */
	int group;			/* index */
};

struct osrt_layer {
	struct ct_text_groups groups;
	CT_KEYED(struct osrt_command) commands;
};

struct osrt_sum {
	struct osrt_layer layers[2];	/* the program's, the kernel's */
};

static bool osrt_wants(const struct ct_class *class)
{
	return ct_class_is(class, CT_IS_IOCTL);
}

/* The group of the record's command, or -ENOMEM. */
static int osrt_group(struct osrt_layer *layer, const struct ct_record *r)
{
	uint32_t cmd = ct_record_quick(r, CT_QUICK_CMD), device = ct_record_quick(r, CT_QUICK_DEVICE);
	/* All of a driver's devices have the same commands. */
	uint64_t key = (uint64_t)(device < CT_DEV_UVM ? 0 : device) << 32 | cmd;
	struct osrt_command *known = ct_keyed_get(&layer->commands, key);
	const char *name;
	char text[24];
	int group;

	if (known)
		return known->group;
	name = ct_name_ioctl(cmd, device);
	snprintf(text, sizeof(text), "0x%x", cmd);
	group = ct_groups_text(&layer->groups, name ? name : text, name ? strlen(name) : sizeof(text));
	if (group < 0 || ct_groups_full(&layer->groups))
		return group;
	known = ct_keyed_put(&layer->commands, key);
	if (!known)
		return -ENOMEM;
	known->group = group;
	return group;
}

static int osrt_event(struct ct_analysis *a, const struct ct_trace_event *e)
{
	struct osrt_sum *s = a->state;
	struct osrt_layer *layer = &s->layers[e->kernel];
	struct ct_text_group *group;
	int i;

	/* An entry function may call the next one, which is an ioctl's, too. */
	if (!e->timed || e->track->ioctls[e->kernel])
		return 0;
	i = osrt_group(layer, e->record);
	if (i < 0)
		return i;
	group = &layer->groups.list[i];
	group->failed += e->failed;
	return ct_histogram_add(&group->values, e->duration);
}

static int osrt_end(struct ct_analysis *a)
{
	struct osrt_sum *s = a->state;
	bool kernel = s->layers[1].groups.count > 0;
	struct ct_text_groups *groups = &s->layers[kernel].groups;
	struct ct_table *t = ct_analysis_table(a, "osrt_sum",
		kernel ? "OS runtime: ioctls of the driver, seen in the kernel" :
		groups->count ? "OS runtime: ioctls of the driver, seen by the program" :
				"OS runtime: ioctls of the driver", columns, COLUMNS);
	unsigned int count;
	struct ct_text_group **list = ct_groups_sorted(groups, &count);
	uint64_t total = 0;

	if (!list)
		return -ENOMEM;
	for (unsigned int i = 0; i < count; i++)
		total += list[i]->values.total;
	for (unsigned int i = 0; i < count; i++) {
		struct ct_cell *row = ct_table_row(t);

		ct_distribution_row(row, &list[i]->values, total);
		row[NAME] = ct_const("ioctl");
		row[IOCTL] = ct_const(list[i]->text);
		row[FAILED] = ct_u64(list[i]->failed);
	}
	if (ct_groups_full(groups))
		ct_table_note(t, "Ioctls beyond %u different ones are one row, (other).", CT_GROUPS_MAX);
	free(list);
	return 0;
}

static void osrt_free(struct ct_analysis *a)
{
	struct osrt_sum *s = a->state;

	for (unsigned int i = 0; i < 2; i++) {
		ct_groups_free(&s->layers[i].groups);
		ct_keyed_free(&s->layers[i].commands);
	}
}

const struct ct_analyser ct_report_osrt_sum = {
	.name = "osrt_sum",
	.summary = "ioctls of the driver as an OS runtime summary: by their kind",
	.single = true,
	.on = CT_ON_END,
	.wants = osrt_wants,
	.state_size = sizeof(struct osrt_sum),
	.event = osrt_event,
	.end = osrt_end,
	.free = osrt_free,
};
