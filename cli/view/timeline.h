/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A trace as a picture of characters: time runs to the right, a line for each
 * nesting depth of each thread, a letter for what most of a column's time went to.
 */
#ifndef CT_CLI_TIMELINE_H
#define CT_CLI_TIMELINE_H

#include <stdio.h>

#include "trace/reader.h"

struct ct_timeline_options {
	unsigned int width;	/* columns of a line, 40 at least */
	unsigned int threads;	/* those with the most time in calls */
	unsigned int depth;	/* lines of a thread */
	double from, to;	/* ms since the trace began; to <= from: all of it */
	bool colour;
};

/* Prints to @out.  0 or a negative errno. */
int ct_timeline(const struct ct_trace *t, FILE *out, const struct ct_timeline_options *options);

#endif
