/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The report: the figures of a trace as text for people, one analysis after another.
 */
#ifndef CT_CLI_ANALYSES_H
#define CT_CLI_ANALYSES_H

#include <stdio.h>

#include "analysis/analysis.h"
#include "base/error.h"

/* Prints to @out, which stays open.  0 or a negative errno, with a line in @err. */
int ct_report(const struct ct_trace *t, FILE *out, const struct ct_report_options *options,
	      struct ct_error *err);

/**
 * ct_report_summary() - what record prints at its end
 * @dir: a trace, finished or not; it isn't changed
 */
int ct_report_summary(const char *dir, FILE *out, struct ct_error *err);

#endif
