/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A command of cudatrace whose output goes to a client: in a process of its own, which may take
 * a limited time and answer a limited number of bytes.
 */
#ifndef CT_CLI_SERVE_BOUNDED_H
#define CT_CLI_SERVE_BOUNDED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* Parses argv[1..] and prints its result, as main() does; returns the exit status. */
typedef int (*ct_bounded_command)(int argc, char **argv);

struct ct_bounds {
	size_t bytes;			/* of the answer */
	unsigned int seconds;
	unsigned long long lines;	/* of the answer; 0: as many as there are */
	/* Which lines count; NULL: all. */
	bool (*keep)(const char *line, void *arg);
	/* Makes a line that is shown shorter, in its place; returns its new length.  NULL: none. */
	size_t (*shorten)(char *line, size_t len);
	void *arg;
};

struct ct_bounded {
	char *text;			/* whole lines, or a part of the first one; never NULL after 0 */
	size_t size;
	unsigned long long shown, lines;	/* shown, and that there are */
	unsigned long long bytes;		/* of all of them, those that are shown as they are shown */
	char *told;			/* what it said on stderr, cut at some KB */
	int status;			/* as in a shell */
	bool too_long;			/* it was ended after so many seconds */
};

/* Return: 0, or a negative errno with a line in @err.  ct_bounded_free() frees after 0. */
int ct_bounded_run(struct ct_bounded *b, const struct ct_bounds *bounds, ct_bounded_command command, int argc,
		   char **argv, struct ct_error *err);

void ct_bounded_free(struct ct_bounded *b);

#endif
