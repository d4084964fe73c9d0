/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A trace as counters and histograms, in the format of monitoring systems. */
#ifndef CT_CLI_OPENMETRICS_H
#define CT_CLI_OPENMETRICS_H

#include "export/export.h"

/* Writes the sums of the whole trace in OpenMetrics 1.0.  0; -ENOMEM; the error of write(). */
int ct_openmetrics_export(const struct ct_export *x, struct ct_error *err);

#endif
