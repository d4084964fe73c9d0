/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A view of what is called now, by process and function, that is refreshed. */
#ifndef CT_CLI_TOP_H
#define CT_CLI_TOP_H

#include <stdio.h>

#include <stdbool.h>

#include "base/error.h"

enum ct_top_sort { CT_TOP_TIME, CT_TOP_CALLS, CT_TOP_P99, CT_TOP_FAILED, CT_TOP_BYTES, CT_TOP_SORTS };

/* "time", "calls", "p99", "failed", "bytes" */
extern const char *const ct_top_sort_word[CT_TOP_SORTS];

struct ct_top_options {
	double delay;			/* seconds between two views */
	unsigned long views;		/* ends after so many; 0: no end */
	unsigned int rows;		/* of a view; 0: as many as the terminal has lines */
	bool only_new;			/* without what was recorded before */
	enum ct_top_sort sort;		/* what is the most stands first */
	bool batch;			/* one view behind the other, also on a terminal, and no keys */
	unsigned int pid;		/* this process alone; 0: all */
	const char *names;		/* a pattern, as "cuMem*"; NULL: all functions */
	double stuck;			/* seconds, from which on a collective that waits for a rank is shown */
};

/* Of directory @dir, until its trace is finished. */
int ct_top_follow(const char *dir, const struct ct_top_options *options, FILE *out,
		  const volatile bool *stop, struct ct_error *err);

/*
 * Of this machine: which processes use libcuda, what records them, and what they do, of those that are recorded: into
 * directories, or by the module's session.  @fd: /dev/cudatrace, open without blocking; -1: there is none.
 */
int ct_top_machine(int fd, const struct ct_top_options *options, FILE *out, const volatile bool *stop, struct ct_error *err);

#endif
