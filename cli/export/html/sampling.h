/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which records of a large trace an HTML report keeps: the longest, and small tracks whole. */
#ifndef CT_CLI_HTML_SAMPLING_H
#define CT_CLI_HTML_SAMPLING_H

#include "base/keyed.h"
#include "export/html/html_source.h"

#define CT_HTML_KEPT	1200000u	/* records, unless CUDATRACE_HTML_RECORDS says otherwise */

#define CT_HTML_BUCKETS	1920u

/* A record that a finding points to. */
struct ct_html_place {
	uint64_t key;
	uint32_t track;			/* in the order of drawing, + 1; 0: not known */
};

struct ct_html_sampling {
	uint64_t limit;
	/* Counted in the first pass. */
	uint64_t records, instants, marks, unfinished;
	uint64_t buckets[CT_HTML_BUCKETS];	/* records by duration */
	CT_KEYED(struct ct_html_place) always;
	/* Decided after it. */
	bool all, keep_instants, keep_marks;
	unsigned int from;			/* the bucket from which on records are kept */
	uint64_t every, next;			/* of that bucket only each of so many */
	/* Counted in the second pass. */
	uint64_t left_out, left_out_instants;
	uint64_t longest;			/* ns, of those left out */
};

void ct_html_sampling_count(struct ct_html_sampling *c, const struct ct_html_item *item);

/* A record that is kept in any case; @op_id 0: the instant of @tid at @ts.  0 or -ENOMEM. */
int ct_html_sampling_always(struct ct_html_sampling *c, uint64_t op_id, int64_t ts, uint32_t tid);

/* Notes on which track (in the order of drawing) a record lies; and what was noted, -1: nothing. */
void ct_html_sampling_place(struct ct_html_sampling *c, uint64_t op_id, int64_t ts, uint32_t tid, uint32_t track);
int ct_html_sampling_track(const struct ct_html_sampling *c, uint64_t op_id, int64_t ts, uint32_t tid);

/* Decides, after the first pass.  0 or -ENOMEM. */
int ct_html_sampling_decide(struct ct_html_sampling *c, struct ct_html_tracks *tracks);

/* Is it kept?  In the second pass, once for each record. */
bool ct_html_sampling_keeps(struct ct_html_sampling *c, const struct ct_html_track *track,
			    const struct ct_html_item *item);

#endif
