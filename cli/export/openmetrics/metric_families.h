/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Counters and histograms of what a trace holds, as a monitoring system reads them: of a whole
 * trace, or of one that is still being recorded.  Memory and output are bounded whatever a program
 * calls its functions: each family has a limited number of rows, and one for all others.
 */
#ifndef CT_CLI_METRIC_FAMILIES_H
#define CT_CLI_METRIC_FAMILIES_H

#include <stdio.h>

#include "base/keyed.h"
#include "trace/record.h"

#define CT_METRICS_BUCKETS	8u	/* 1 us, 10 us ... 10 s; the last one has no bound and is the count */

struct ct_metrics_row {
	uint64_t key;
	char labels[200];		/* name="value",... */
	uint64_t value;			/* count; of seconds: ns; of bytes: bytes */
	uint64_t sum;			/* ns, of a histogram */
	uint64_t buckets[CT_METRICS_BUCKETS];
};

enum ct_metrics_family {
	CT_COUNT_CALLS, CT_COUNT_CALL_TIME, CT_COUNT_LAUNCHES, CT_COUNT_WAITING, CT_COUNT_IOCTLS,
	CT_COUNT_IOCTL_TIME, CT_COUNT_DRIVER, CT_COUNT_DRIVER_TIME, CT_COUNT_ALLOCATED, CT_COUNT_FREES,
	CT_COUNT_COPIED, CT_COUNT_XIDS, CT_COUNT_INTERRUPTS, CT_COUNT_GPU_WORK, CT_COUNT_GPU_TIME,
	CT_COUNT_RECORDS, CT_COUNT_LOST, CT_COUNT_FAMILIES
};

struct ct_metrics {
	CT_KEYED(struct ct_metrics_row) rows[CT_COUNT_FAMILIES];
};

/* A record counts where its call ended.  Return: 0 or -ENOMEM. */
int ct_metrics_record(struct ct_metrics *c, const struct ct_record *r);

/* A call of which only this is known; @ns: where timed. */
int ct_metrics_call(struct ct_metrics *c, const char *name, bool failed, bool timed, uint64_t ns);

/* So many records were lost until now. */
int ct_metrics_lost(struct ct_metrics *c, uint64_t lost);

/*
 * Prints all families, in OpenMetrics 1.0, or with @plain in Prometheus's older text format, which
 * calls a counter with its _total.  What is wrong with @out is seen by ferror().
 */
void ct_metrics_print(const struct ct_metrics *c, FILE *out, bool plain);

void ct_metrics_free(struct ct_metrics *c);

#endif
