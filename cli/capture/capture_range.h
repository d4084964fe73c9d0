/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * record --capture-range: which part of a process's time is recorded.  The preload library finds its
 * begin and end, inside the process; iterations are found by the recorder.
 */
#ifndef CT_CLI_CAPTURE_RANGE_H
#define CT_CLI_CAPTURE_RANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "write/write_registry.h"

struct ct_capture_range {
	const char *text;		/* as it was asked for; NULL: there is none */
	bool profiler;			/* cuProfilerStart() to cuProfilerStop() */
	bool nvtx;			/* a range of NVTX, which its plugin has to tell */
	const char *name;		/* of NVTX or of the program; NULL: none */
	uint64_t first, last;		/* iterations, from 1; 0: none.  The recorder finds them */
};

/*
 * "cudaProfilerApi", "nvtx:NAME", "mark:NAME", "iteration:FIRST-LAST".  Tells the library by its environment, CUDATRACE_RANGE, that of this
 * process.  Return: 0; -EINVAL: it is none of these; -E2BIG: too long.
 */
int ct_capture_range_parse(struct ct_capture_range *range, const char *text);

/* What the trace says of it, if there is one. */
void ct_capture_range_info(const struct ct_capture_range *range, struct ct_registry_writer *w);

#endif
