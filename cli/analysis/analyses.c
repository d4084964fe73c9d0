// SPDX-License-Identifier: LGPL-2.1-or-later
/* See analyses.h.  The rows are printed in this order. */
#include "analysis/analyses.h"

#include <errno.h>
#include <string.h>

#include "analysis/driver_memory.h"
#include "analysis/errors.h"
#include "analysis/handles.h"
#include "analysis/losses.h"
#include "analysis/stats.h"
#include "analysis/summary.h"
#include "analysis/unseen.h"

static bool analyses_always(const struct ct_report_options *options)
{
	(void)options;
	return true;
}

static bool analyses_handles(const struct ct_report_options *options)
{
	return options->handles && !options->summary_only;
}

static const struct ct_analysis analyses[] = {
	{ "head", ct_report_head, analyses_always },
	{ "summary", ct_report_totals, analyses_always },
	{ "losses", ct_losses_report, analyses_always },
	{ "processes that are not recorded", ct_unseen_report, analyses_always },
	{ "categories", ct_report_categories, NULL },
	{ "operations by time", ct_report_top_by_time, NULL },
	{ "operations by count", ct_report_top_by_count, NULL },
	{ "failed calls", ct_errors_report, NULL },
	{ "driver memory", ct_driver_memory_report, NULL },
	{ "RM objects", ct_handles_report, analyses_handles },
	{ "precision", ct_report_precision, NULL },
};

int ct_report(const struct ct_trace *t, FILE *out, const struct ct_report_options *options,
	      struct ct_error *err)
{
	struct ct_stats stats;
	struct ct_analysis_run run = {
		.trace = t, .stats = &stats, .options = options, .out = out,
	};
	int rc = ct_stats_collect(&stats, t);

	for (size_t i = 0; i < sizeof(analyses) / sizeof(*analyses) && !rc; i++) {
		const struct ct_analysis *a = &analyses[i];

		if (a->wanted ? a->wanted(options) : !options->summary_only)
			rc = a->print(&run);
	}
	ct_stats_free(&stats);
	if (!rc && (fflush(out) || ferror(out)))
		rc = errno ? -errno : -EIO;
	return rc ? ct_fail(err, -rc, "%s", strerror(-rc)) : 0;
}

int ct_report_summary(const char *dir, FILE *out, struct ct_error *err)
{
	struct ct_report_options options = { .summary_only = true };
	struct ct_trace t;
	int rc;

	rc = ct_trace_open(&t, dir, err);
	if (!rc)
		rc = ct_report(&t, out, &options, err);
	ct_trace_close(&t);
	return rc;
}
