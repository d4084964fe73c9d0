/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A server of the Model Context Protocol: an assistant asks about traces, on stdin and stdout. */
#ifndef CT_CLI_SERVE_MCP_H
#define CT_CLI_SERVE_MCP_H

#include "serve/bounded.h"

struct ct_mcp {
	const char *dir;		/* no path outside of it is read */
	struct ct_bounds bounds;	/* of each answer */
	ct_bounded_command command;	/* argv[0] is the verb */
};

/* Answers until stdin ends.  Return: 0 or a negative errno with a line in @err. */
int ct_mcp_serve(const struct ct_mcp *m, struct ct_error *err);

#endif
