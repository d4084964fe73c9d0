/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is recorded now, as counters that a monitoring system reads by HTTP. */
#ifndef CT_CLI_SERVE_SCRAPE_H
#define CT_CLI_SERVE_SCRAPE_H

#include <stdbool.h>

#include "base/error.h"
#include "serve/http.h"

/**
 * ct_scrape_serve() - count, and answer on @h, until @stop is set
 * @dir: the trace that is being recorded; NULL: the module's session
 *
 * After the recording has ended its counters are still answered.  Return: 0 or a negative errno with a line
 * in @err.
 */
int ct_scrape_serve(struct ct_http *h, const char *dir, const volatile bool *stop, struct ct_error *err);

#endif
