/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The zoom levels of a track: bins of records that are too short to be drawn each. */
#ifndef CT_CLI_HTML_LEVELS_H
#define CT_CLI_HTML_LEVELS_H

#include <stddef.h>

#include "export/html/html_tracks.h"

/* What is in a bin at one depth. */
struct ct_html_cell {
	int64_t  bin;
	uint64_t busy;			/* ns */
	uint64_t weight;		/* internal: of the class, less that of others */
	uint32_t count;
	uint16_t class, depth;
};

struct ct_html_level {
	unsigned int level;		/* bins are 1 << CT_HTML_BIN(level) ns wide */
	struct ct_html_cell *cells;
	size_t count, capacity;
	size_t sorted;			/* cells after the last ct_html_level_sort() */
	bool disordered;
};

struct ct_html_levels {
	struct ct_html_level *list;
	unsigned int count;
};

/* Chooses the levels of a track that was counted whole.  0 or -ENOMEM. */
int ct_html_levels_choose(struct ct_html_levels *l, const struct ct_html_track *track);

/**
 * ct_html_levels_add() - a record
 * @kept: it is drawn by itself where it is as long as a bin
 *
 * Return: 0 or -ENOMEM.
 */
int ct_html_levels_add(struct ct_html_levels *l, int64_t begin, uint64_t duration, unsigned int class,
		       uint32_t depth, bool kept);

/* Puts the cells into their order, each bin and depth once. */
void ct_html_level_sort(struct ct_html_level *l);
void ct_html_levels_free(struct ct_html_levels *l);

#endif
