/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The smallest server that a Prometheus reads: one answer a connection, GET and HEAD of one path,
 * on an address of this machine or a unix socket.
 */
#ifndef CT_CLI_SERVE_HTTP_H
#define CT_CLI_SERVE_HTTP_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"

struct ct_http {
	int fd;
	char address[PATH_MAX];		/* as text: 127.0.0.1:9464, or a path */
	bool unix_socket;
};

/*
 * @listen: "ADDRESS:PORT" (port 0: one that is free) or "/PATH" of a unix socket.  Return: 0 or a negative errno
 * with a line in @err.
 */
int ct_http_open(struct ct_http *h, const char *listen, struct ct_error *err);

/*
 * Answers one connection, if there is one within @ms.  @print writes the body; @plain: the client does
 * not know OpenMetrics.  A client that is slow is dropped.  Return: 0 or a negative errno that ends it all.
 */
int ct_http_answer(struct ct_http *h, int ms, int (*print)(void *arg, FILE *out, bool plain), void *arg);

void ct_http_close(struct ct_http *h);

#endif
