/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The columns that nsys gives a summary by time, made of a histogram: share, total, count,
 * mean, median, smallest, largest, standard deviation.  A report's own columns come behind
 * them.  Scripts rely on their names: must never rename one.
 */
#ifndef CT_CLI_DISTRIBUTION_H
#define CT_CLI_DISTRIBUTION_H

#include "group/histogram.h"
#include "table/table.h"

enum {
	CT_DIST_TIME, CT_DIST_TOTAL, CT_DIST_COUNT, CT_DIST_AVG, CT_DIST_MED, CT_DIST_MIN,
	CT_DIST_MAX, CT_DIST_DEVIATION,
	CT_DIST_COLUMNS
};

/* The first columns of a table; @name and @head are those of the count. */
#define CT_DIST_OF_TIME(name, head)					\
	[CT_DIST_TIME] = { "Time (%)", "time", CT_CELL_PERCENT, 0 },	\
	[CT_DIST_TOTAL] = { "Total Time (ns)", "total", CT_CELL_NS, 0 }, \
	[CT_DIST_COUNT] = { name, head, CT_CELL_COUNT, 0 },		\
	[CT_DIST_AVG] = { "Avg (ns)", "avg", CT_CELL_NS_MEAN, 4 },	\
	[CT_DIST_MED] = { "Med (ns)", "median", CT_CELL_NS_MEAN, 2 },	\
	[CT_DIST_MIN] = { "Min (ns)", "min", CT_CELL_NS, 7 },		\
	[CT_DIST_MAX] = { "Max (ns)", "max", CT_CELL_NS, 3 },		\
	[CT_DIST_DEVIATION] = { "StdDev (ns)", "stddev", CT_CELL_NS_MEAN, 8 }

/* Fills them.  @total: ns of all rows.  Where @h is empty, only the count (0) is known. */
void ct_distribution_row(struct ct_cell *row, struct ct_histogram *h, uint64_t total);

#endif
