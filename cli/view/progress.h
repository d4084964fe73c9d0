/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How far a trace is read: a line on the terminal that is written again and again. */
#ifndef CT_CLI_PROGRESS_H
#define CT_CLI_PROGRESS_H

#include "trace/reader.h"

/*
 * From now on, until ct_progress_end(), reading of @t is shown on stderr if that is a terminal
 * and it takes more than a moment.  One trace at a time.
 */
void ct_progress_begin(struct ct_trace *t);
void ct_progress_end(struct ct_trace *t);

#endif
