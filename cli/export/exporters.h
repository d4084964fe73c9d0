/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The formats of 'cudatrace export'.  A new one is a file (or a folder) with a function that
 * writes a trace, and a row of the table in exporters.c.
 */
#ifndef CT_CLI_EXPORTERS_H
#define CT_CLI_EXPORTERS_H

#include <stddef.h>

#include "base/error.h"
#include "export/export.h"

struct ct_exporter {
	const char *name;	/* as --format takes it */
	const char *summary;	/* a line for --help */
	enum ct_export_to to;
	/*
	 * Writes the whole trace.  0; -ENOMEM; -EPIPE if nobody reads any more; or another
	 * negative errno, with a line in @err if more is to be said than strerror() does.
	 */
	int (*export)(const struct ct_export *x, struct ct_error *err);
};

/* In the order of --help; the first is the default. */
extern const struct ct_exporter ct_exporters[];
extern const size_t ct_exporters_count;

/* NULL if there is no such format. */
const struct ct_exporter *ct_exporter_find(const char *name);

#endif
