// SPDX-License-Identifier: LGPL-2.1-or-later
/* See capture_range.h. */
#include "capture/capture_range.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/registry.h"

#define LONGEST	1000

int ct_capture_range_parse(struct ct_capture_range *range, const char *text)
{
	char option[LONGEST + 16] = "profiler";

	*range = (struct ct_capture_range){ .text = text };
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
