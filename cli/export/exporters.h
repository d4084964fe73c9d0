/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The formats of 'cudatrace export'.  A new one is a file with a function that writes
 * a trace to a file descriptor, and a row of the table in exporters.c.
 */
#ifndef CT_CLI_EXPORTERS_H
#define CT_CLI_EXPORTERS_H

#include <stddef.h>

#include "trace/reader.h"

struct ct_exporter {
	const char *name;	/* as --format takes it */
	const char *summary;	/* a line for --help */
	/* Writes the whole of @t to @fd.  0; -ENOMEM; the error of write(). */
	int (*export)(const struct ct_trace *t, int fd);
};

/* In the order of --help; the first is the default. */
extern const struct ct_exporter ct_exporters[];
extern const size_t ct_exporters_count;

/* NULL if there is no such format. */
const struct ct_exporter *ct_exporter_find(const char *name);

#endif
