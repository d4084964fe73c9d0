/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A trace in the user's browser: --open of several commands. */
#ifndef CT_CLI_SHOW_H
#define CT_CLI_SHOW_H

#include <stdbool.h>

#include "trace/reader.h"

/*
 * Opens the file @path in the browser, or says where it is if there is no browser.  Return: 0,
 * or 1 after a line on stderr.
 */
int ct_show_file(const char *path);

/* Makes the HTML report of a trace in the user's cache, and opens it.  As ct_show_file(). */
int ct_show_trace(struct ct_trace *t);

#endif
