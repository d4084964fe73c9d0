/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How a subcommand opens the trace that it was given. */
#ifndef CT_CLI_OPEN_TRACE_H
#define CT_CLI_OPEN_TRACE_H

#include "trace/reader.h"

/* Set by a command that must not write: a trace that is not finished stays as it is. */
extern bool ct_open_read_only;

/**
 * ct_open_traces() - open traces that are read as one
 * @dirs: of traces, or of folders that hold nothing but traces (one of each host of a job)
 *
 * Finishes one first where that is possible, and says on stderr what a reader of an unfinished trace has
 * to know.  Where there are several, the clocks of their hosts are fitted, and stderr is told how exactly.
 *
 * Return: 0, or 1 after a line on stderr.  Close @t in both cases.
 */
int ct_open_traces(struct ct_trace *t, const char *const *dirs, unsigned int count);

/* The same for a command that takes summaries in place of traces, too: t->summaries is set. */
int ct_open_job(struct ct_trace *t, const char *const *dirs, unsigned int count);

#endif
