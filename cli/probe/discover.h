/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cudatrace probe discover: which of some functions a program calls. */
#ifndef CT_CLI_DISCOVER_H
#define CT_CLI_DISCOVER_H

#include <stddef.h>

/*
 * Runs @command (NULL after its last argument), counts the calls of each function that one of
 * the @count @globs matches, and prints the counts.  A function that is called more than @hot
 * times a second is no longer counted; 0: a default.  Returns the program's status, or 1 after a
 * line on stderr.
 */
int ct_discover(char **globs, size_t count, char **command, double hot);

#endif
