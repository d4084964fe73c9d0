// SPDX-License-Identifier: LGPL-2.1-or-later
/* See capture_range.h. */
#include "capture/capture_range.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/registry.h"

#define LONGEST	1000

/* "100-120", or "100". */
static int capture_range_iterations(struct ct_capture_range *range, const char *text)
{
	char *end;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	range->first = range->last = strtoull(text, &end, 10);
	if (*end == '-' && end[1] >= '0' && end[1] <= '9')
		range->last = strtoull(end + 1, &end, 10);
	if (*end || !range->first || range->last < range->first)
		return -EINVAL;
	/* Whole packets are dropped: smaller ones end closer to the range. */
	return setenv("CUDATRACE_PACKET", "4096", 1) ? -ENOMEM : 0;
}

int ct_capture_range_parse(struct ct_capture_range *range, const char *text)
{
	char option[LONGEST + 16] = "profiler";

	*range = (struct ct_capture_range){ .text = text };
	if (!strncmp(text, "iteration:", 10))
		return capture_range_iterations(range, text + 10);
	if (strlen(text) > LONGEST)
		return -E2BIG;
	range->nvtx = !strncmp(text, "nvtx:", 5);
	range->profiler = !strcmp(text, "cudaProfilerApi");
	if ((range->nvtx || !strncmp(text, "mark:", 5)) && text[5]) {
		range->name = text + 5;
		snprintf(option, sizeof(option), "range:%s", range->name);
	} else if (!range->profiler) {
		return -EINVAL;
	}
	return setenv("CUDATRACE_RANGE", option, 1) ? -ENOMEM : 0;
}

void ct_capture_range_info(const struct ct_capture_range *range, struct ct_registry_writer *w)
{
	if (range->text)
		ct_registry_add_info(w, CT_RANGE_INFO, range->text);
}
