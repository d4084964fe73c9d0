// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * See levels.h.  Records come nearly in the order of their begins.  A cell is looked for among
 * the last ones only: one that comes late gets a second cell, which sorting joins.
 */
#include "export/html/levels.h"

#include <errno.h>
#include <stdlib.h>

#include "base/grow.h"

#define LEVELS_LEAST	4096u	/* records: tracks with fewer are drawn from their records */
#define LEVELS_FILL	16u	/* records in a bin of the finest level, at least, on the average */
#define LEVELS_FEW	256u	/* bins: no coarser level is needed */
#define LEVELS_LOOK	12u	/* cells that are looked at */

int ct_html_levels_choose(struct ct_html_levels *l, const struct ct_html_track *track)
{
	unsigned int first = 0, last;

	*l = (struct ct_html_levels){ 0 };
	if (track->count < LEVELS_LEAST)
		return 0;
	while (first < CT_HTML_LEVELS - 1 && track->occupied[first] > track->count / LEVELS_FILL)
		first++;
	for (last = first; last < CT_HTML_LEVELS - 1 && track->occupied[last] > LEVELS_FEW; last++)
		;
	l->list = calloc(last - first + 1, sizeof(*l->list));
	if (!l->list)
		return -ENOMEM;
	for (unsigned int i = first; i <= last; i++)
		l->list[l->count++].level = i;
	return 0;
}

/* The class that has more than half of all weights keeps the cell. */
static void cell_class(struct ct_html_cell *cell, unsigned int class, uint64_t weight)
{
	if (cell->class == class) {
		cell->weight += weight;
	} else if (weight > cell->weight) {
		cell->class = class;
		cell->weight = weight - cell->weight;
	} else {
		cell->weight -= weight;
	}
}

static int cell_compare(const void *a, const void *b)
{
	const struct ct_html_cell *x = a, *y = b;

	if (x->bin != y->bin)
		return x->bin < y->bin ? -1 : 1;
	return (int)x->depth - (int)y->depth;
}

void ct_html_level_sort(struct ct_html_level *l)
{
	size_t kept = 0;

	if (l->disordered && l->count)
		qsort(l->cells, l->count, sizeof(*l->cells), cell_compare);
	for (size_t i = 1; l->disordered && i < l->count; i++) {
		struct ct_html_cell *into = &l->cells[kept], *from = &l->cells[i];

		if (cell_compare(into, from)) {
			l->cells[++kept] = *from;
			continue;
		}
		into->busy += from->busy;
		into->count += from->count;
		cell_class(into, from->class, from->weight);
	}
	if (l->disordered && l->count)
		l->count = kept + 1;
	l->disordered = false;
	l->sorted = l->count;
}

static struct ct_html_cell *level_cell(struct ct_html_level *l, int64_t bin, uint32_t depth, unsigned int class)
{
	struct ct_html_cell *cell;

	for (size_t i = 0; i < LEVELS_LOOK && i < l->count; i++) {
		cell = &l->cells[l->count - 1 - i];
		if (cell->bin == bin && cell->depth == depth)
			return cell;
	}
	/* Cells that came late are joined before they take much memory. */
	if (l->disordered && l->count == l->capacity && l->count > 2 * l->sorted)
		ct_html_level_sort(l);
	if (!ct_room(l->cells, l->count, l->capacity))
		return NULL;
	cell = &l->cells[l->count++];
	*cell = (struct ct_html_cell){ .bin = bin, .depth = depth, .class = class };
	if (l->count > 1 && cell_compare(cell - 1, cell) > 0)
		l->disordered = true;
	return cell;
}

int ct_html_levels_add(struct ct_html_levels *l, int64_t begin, uint64_t duration, unsigned int class,
		       uint32_t depth, bool kept)
{
	for (unsigned int i = l->count; i-- > 0;) {
		struct ct_html_level *level = &l->list[i];
		unsigned int shift = CT_HTML_BIN(level->level);
		struct ct_html_cell *cell;

		if (kept && duration >= 1ull << shift)
			continue;
		cell = level_cell(level, begin >> shift, depth > UINT16_MAX ? UINT16_MAX : depth, class);
		if (!cell)
			return -ENOMEM;
		cell->busy += duration;
		cell->count++;
		cell_class(cell, class, duration + 1);
	}
	return 0;
}

void ct_html_levels_free(struct ct_html_levels *l)
{
	for (unsigned int i = 0; i < l->count; i++)
		free(l->list[i].cells);
	free(l->list);
	*l = (struct ct_html_levels){ 0 };
}
