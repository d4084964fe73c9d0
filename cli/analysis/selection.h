/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What of a trace a pass sees: the filter of reports for everything else that reads points
 * (exports, the timeline, diff).  A call counts if it began in the range of time; then its end
 * counts, too, and the end of a range if its begin does.  Names of processes always count.
 */
#ifndef CT_CLI_SELECTION_H
#define CT_CLI_SELECTION_H

#include "analysis/filter.h"
#include "trace/reader.h"

struct ct_selection {
	struct ct_points_filter points;		/* for ct_trace.filter */
	struct ct_report_filter filter;
	bool no_queries;			/* without getters of a few ns */
};

/* @s->filter and .no_queries are set by the caller. */
void ct_selection_begin(struct ct_selection *s);

/**
 * ct_selection_known() - does a trace have what a filter names?
 *
 * Return: 0; -ESRCH or -ENOENT with a line in @err: it has no such process, thread or name;
 * -ENOMEM.
 */
int ct_selection_known(const struct ct_report_filter *filter, const struct ct_trace *t, struct ct_error *err);

#endif
