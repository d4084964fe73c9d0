/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The questions that a client may ask of traces: each is a command of cudatrace that only reads, and
 * the options that the client may give it.  A new tool is a row of the table in tools.c.
 */
#ifndef CT_CLI_SERVE_TOOLS_H
#define CT_CLI_SERVE_TOOLS_H

#include <jansson.h>

#include "serve/bounded.h"
#include "serve/confined.h"

struct ct_tools {
	struct ct_confined confined;
	struct ct_bounds bounds;
	ct_bounded_command command;	/* argv[0] is the verb */
};

/* What the client is told of all tools: an array, with the JSON schema of each one's arguments. */
json_t *ct_tools_list(void);

/**
 * ct_tools_call() - what the tool @name answers to @arguments (may be NULL)
 *
 * An argument that is wrong, and a command that fails, are told in the result, so that an
 * assistant can mend its question.
 *
 * Return: a result with "content" and "isError"; NULL: there is no such tool.
 */
json_t *ct_tools_call(const struct ct_tools *tools, const char *name, const json_t *arguments);

#endif
