/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The clocks of several hosts as one: each collective ends on all of its ranks at one moment, so its ends are the
 * same event on each host's clock.  Offset and drift of a host are fitted to them, robustly: a wrong pair, or
 * a rank that was slow to end, is left out.  What the ends still differ by is the uncertainty of every
 * comparison between hosts.
 */
#ifndef CT_CLI_CLOCKS_H
#define CT_CLI_CLOCKS_H

#include "ranks/collectives.h"
#include "trace/several.h"

#define CT_CLOCKS_LEAST	8	/* collectives: by fewer no clock is fitted */

/**
 * ct_clocks_fit() - fit the clocks of the sources of a trace
 * @t: of several sources, with the first guess of their clocks
 *
 * A pass over the trace where it has collectives of several hosts.  A clock that can't be fitted stays as it was
 * guessed; its uncertainty is UINT64_MAX.
 *
 * Return: 0 or -ENOMEM.
 */
int ct_clocks_fit(struct ct_trace *t);

/**
 * ct_clocks_fit_to() - the same by collectives that are there
 * @sources: with the first guess, by which the times of @c are
 *
 * The times of @c stay.  Return: 0 or -ENOMEM.
 */
int ct_clocks_fit_to(struct ct_source *sources, unsigned int count, const struct ct_collectives *c);

/* "node-b: clock fitted by 512 collectives, exact to 3.1 us (4.20 s ahead, 20.0 ppm fast)" */
const char *ct_clocks_text(const struct ct_source *s, char *buf, size_t size);

#endif
