/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The spans of a trace as the records of an HTML report, each with its place: a track and a row.
 * In the order CT_SPANS_BY_BEGIN.
 *
 * Records about the trace itself are left out, and those of a range's begin and end.
 */
#ifndef CT_CLI_HTML_SOURCE_H
#define CT_CLI_HTML_SOURCE_H

#include "analysis/engine.h"
#include "base/keyed.h"
#include "export/html/html_tracks.h"

/* Bits of ct_html_item.flags. */
#define CT_HTML_FAILED		1u
#define CT_HTML_UNFINISHED	2u
#define CT_HTML_INSTANT		4u
#define CT_HTML_ABANDONED	8u
#define CT_HTML_BEGIN_LOST	16u

struct ct_html_item {
	int64_t  begin;		/* ns since the trace began */
	uint64_t duration;	/* ns; 0: not known */
	uint64_t op_id, parent;	/* op_ids; 0: none */
	uint32_t track;		/* index */
	uint32_t depth;		/* calls of its track around it */
	uint8_t  flags;		/* CT_HTML_* */
	/* Class, result, cpu and flags are set; fields: NULL where they are not known. */
	struct ct_record record;
	uint32_t stack;			/* node, 0: none */
};

#define CT_HTML_ROWS	64u	/* of a GPU track */

struct ct_html_rows {
	uint64_t track;
	uint64_t free[CT_HTML_ROWS];	/* ns */
};

struct ct_html_source {
	struct ct_html_tracks *tracks;
	bool make;		/* tracks are made; false: those that are not there are left out */
	/* Each record; valid until it returns.  0 or a negative errno. */
	int (*item)(void *arg, const struct ct_html_item *item);
	void *arg;
	/* Internal: by track, when each row of the GPU's work is free. */
	CT_KEYED(struct ct_html_rows) rows;
};

/* A moment as ns since the trace began; a damaged trace may have any. */
static inline int64_t ct_html_moment(const struct ct_trace *t, uint64_t ts)
{
	int64_t ns = (int64_t)(ts - t->reg.start), most = (1ll << 53) - 1;

	return ns > most ? most : ns < -most ? -most : ns;
}

/* The engine's options.arg must be a struct ct_html_source. */
extern const struct ct_analyser ct_html_source_analyser;

/* Frees what is internal. */
void ct_html_source_free(struct ct_html_source *s);

#endif
