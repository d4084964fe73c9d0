/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A trace as a picture of characters: time runs to the right, a line for each
 * nesting depth of each thread, a letter for what most of a column's time went to: a capital
 * where calls take half of the column or more, else a small one.
 */
#ifndef CT_CLI_TIMELINE_H
#define CT_CLI_TIMELINE_H

#include <stdio.h>

#include "trace/reader.h"

struct ct_timeline_options {
	unsigned int width;	/* columns of a line, 40 at least */
	unsigned int threads;	/* those with the most time in calls, and as many streams of the GPU */
	unsigned int depth;	/* lines of a thread */
	uint64_t from, to;	/* ns, as records have them; 0: from the first record, to the last */
	bool colour;
};

/* Prints to @out.  0 or a negative errno. */
int ct_timeline(const struct ct_trace *t, FILE *out, const struct ct_timeline_options *options);

#endif
