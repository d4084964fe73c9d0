/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Several traces read as one: of the hosts of a job, or of programs that were recorded one by one.  What
 * reads a trace needs nothing for it: struct ct_source says how numbers shift.
 */
#ifndef CT_CLI_SEVERAL_H
#define CT_CLI_SEVERAL_H

#include "trace/reader.h"

/**
 * ct_trace_several() - make one trace of several
 * @t: set to it
 * @of: open traces: what they have becomes @t's, and they are closed
 * @name: what messages call it
 *
 * Times are on the clock of the first one, the others are guessed by CLOCK_REALTIME.
 * Close with ct_trace_close(), also after an error.
 *
 * Return: 0 or -ENOMEM, -E2BIG with a line in @err.
 */
int ct_trace_several(struct ct_trace *t, struct ct_trace *of, unsigned int count, const char *name,
		     struct ct_error *err);

/* The clocks of t->sources were changed: times that are kept follow. */
void ct_trace_reclock(struct ct_trace *t);

#endif
