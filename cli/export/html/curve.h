/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What changes over time, of which a report keeps a bounded number of points. */
#ifndef CT_CLI_HTML_CURVE_H
#define CT_CLI_HTML_CURVE_H

#include "export/html/blobs.h"
#include "trace/reader.h"

#define CT_HTML_CURVE_POINTS	16384u

/*
 * Pairs of points, each of as many changes that follow each other: the highest of them, and the last.  So
 * peaks are there, and the end, and all of the time is as finely told.
 */
struct ct_html_curve {
	struct ct_html_point { uint64_t ts, value; } *points;
	unsigned int count, capacity;
	unsigned int group;		/* changes of a pair; 0: 2 */
	unsigned int changes;		/* of the last pair, if it is not complete */
};

/* The value from @ts on.  0 or -ENOMEM. */
int ct_html_curve_add(struct ct_html_curve *c, uint64_t ts, uint64_t value);

/* Writes the columns PREFIXnumber.ts and PREFIXnumber.WORD.  0 or -ENOMEM. */
int ct_html_curve_write(const struct ct_html_curve *c, const struct ct_trace *t, struct ct_html_blobs *blobs,
			const char *prefix, unsigned int number, const char *word);
void ct_html_curve_free(struct ct_html_curve *c);

#endif
