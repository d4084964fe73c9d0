/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The traces that a client may name: those below one directory. */
#ifndef CT_CLI_SERVE_CONFINED_H
#define CT_CLI_SERVE_CONFINED_H

#include <limits.h>
#include <stdio.h>

#include "base/error.h"

struct ct_confined {
	char root[PATH_MAX];		/* without links */
};

int ct_confined_open(struct ct_confined *c, const char *dir, struct ct_error *err);

/*
 * What a client called @name, as a path without links into @path; a name is relative to the directory, or
 * absolute and below it.  A link that leads out of it is refused, as if it were not there.
 */
int ct_confined_find(const struct ct_confined *c, const char *name, char path[PATH_MAX], struct ct_error *err);

/* Prints a line a trace, the newest first: name, date, MB.  Return: the exit status of a command. */
int ct_confined_list(const struct ct_confined *c, FILE *out);

#endif
