/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * All streams of a trace as one sequence of points in time order: B where a call
 * begins, E where it ends, I where something has no duration.
 *
 * The order is exact.  Memory is bounded by one packet of each stream that is
 * active at a moment, plus the open calls.  At one ns an outer call begins before
 * and ends after an inner one, and a call of the program begins before and ends
 * after what the kernel does for it.
 *
 * A call that never returned has a B and no E.  A call whose begin was recorded and
 * lost (the flight recorder overwrote it) has an E and no B; that E says begin_lost.
 */
#ifndef CT_CLI_MERGE_H
#define CT_CLI_MERGE_H

#include "trace/order.h"
#include "trace/reader.h"

struct ct_merge;

/* NULL: no memory. */
struct ct_merge *ct_merge_new(const struct ct_trace *t);

/* Samples of threads are points, too; else they are left out. */
void ct_merge_samples(struct ct_merge *m);

/* Return: 1: @point is set (valid until the next call); 0: the end; -ENOMEM. */
int ct_merge_next(struct ct_merge *m, struct ct_point *point);
void ct_merge_free(struct ct_merge *m);

#endif
