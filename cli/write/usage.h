/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which numbers the records of a trace hold, so that metadata names those and not
 * the thousands that exist: babeltrace2's time to open grows with the square of
 * an enumeration's labels.
 */
#ifndef CT_CLI_USAGE_H
#define CT_CLI_USAGE_H

#include "base/keyed.h"
#include "trace/reader.h"

#define CT_USAGE_LABELS	8192	/* of one kind; further ones get no name */

struct ct_usage_number {
	uint64_t number;
	uint32_t have;			/* of a code: the have bits of its records */
};

struct ct_usage_numbers {
	CT_KEYED(struct ct_usage_number);
};

struct ct_usage {
	uint8_t *classes;		/* by id: bits 1 << kind of stream */
	struct ct_usage_numbers strings, codes, statuses;	/* ids of strings; NVIDIA's numbers */
};

/* 0 or -ENOMEM.  Free also after an error. */
int ct_usage_collect(struct ct_usage *usage, const struct ct_trace *t);
void ct_usage_free(struct ct_usage *usage);

#endif
