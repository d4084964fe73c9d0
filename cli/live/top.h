/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A view of what is called now, by process and function, that is refreshed. */
#ifndef CT_CLI_TOP_H
#define CT_CLI_TOP_H

#include <stdio.h>

#include <stdbool.h>

#include "base/error.h"

struct ct_top_options {
	double delay;			/* seconds between two views */
	unsigned long views;		/* ends after so many; 0: no end */
	unsigned int rows;		/* of a view; 0: as many as the terminal has lines */
	bool only_new;			/* without what was recorded before */
	bool by_calls;			/* most called first, not most time */
	double stuck;			/* seconds, from which on a collective that waits for a rank is shown */
};

/* Of directory @dir, until its trace is finished. */
int ct_top_follow(const char *dir, const struct ct_top_options *options, FILE *out,
		  const volatile bool *stop, struct ct_error *err);

/* Of all processes, by /dev/cudatrace, which @fd is open for (without blocking). */
int ct_top_device(int fd, const struct ct_top_options *options, FILE *out, const volatile bool *stop,
		  struct ct_error *err);

#endif
