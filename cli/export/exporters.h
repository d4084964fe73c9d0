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
	const char *endings;	/* of a file's name that mean this format: "html htm" */
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

/*
 * The format that the ending of a file's name means, from @after on (NULL: the first); NULL: no
 * other one.
 */
const struct ct_exporter *ct_exporter_of_file(const char *path, const struct ct_exporter *after);

/* The ending of a file's name, without its dot; "" if it has none. */
const char *ct_export_ending(const char *path);

#endif
