/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a format of 'cudatrace export' is given. */
#ifndef CT_CLI_EXPORT_H
#define CT_CLI_EXPORT_H

#include "base/error.h"
#include "trace/reader.h"

enum ct_export_to {
	CT_EXPORT_STREAM,	/* anything that can be written to: a file, a pipe, a terminal */
	CT_EXPORT_FILE,		/* a file that can be sought, never the standard output */
	CT_EXPORT_DIRECTORY,	/* files below a directory */
};

/* What is exported, and where to. */
struct ct_export {
	const struct ct_trace *trace;
	int fd;			/* of CT_EXPORT_STREAM */
	unsigned int weight;	/* of folded: CT_COST_BIT()s; 0: the time of calls, with the calls */
	const char *path;	/* of the others: the file, which is there and empty, or the directory */
};

#endif
