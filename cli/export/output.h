/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where an export goes: must never leave a file that looks complete and is not. */
#ifndef CT_CLI_EXPORT_OUTPUT_H
#define CT_CLI_EXPORT_OUTPUT_H

#include <stdbool.h>

#include "export/exporters.h"

/**
 * ct_export_write() - a trace in a format
 * @output: the file or directory; NULL or "-": the standard output
 * @force: a file that is there is replaced
 * @weight: as in struct ct_export
 *
 * A file is written beside @output, under a name that begins with a dot, and gets its own name
 * when it is complete.  What is no file (a device, a pipe) is written to as it is.  A directory
 * may be there: the format adds to it.
 *
 * Return: 0; -EPIPE if nobody reads any more; another negative errno with a line in @err.
 */
int ct_export_write(const struct ct_exporter *format, const struct ct_trace *trace, const char *output,
		    bool force, unsigned int weight, struct ct_error *err);

#endif
