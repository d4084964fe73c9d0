/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The ends of a range of time, as users write them. */
#ifndef CT_CLI_RANGE_H
#define CT_CLI_RANGE_H

#include "base/error.h"
#include "phases/phases.h"

/* Does a moment of this form need the trace's phases? */
bool ct_range_needs_phases(const char *text);

/**
 * ct_range_parse() - a moment
 * @text: "12.5" (ms since the trace began), a stage ("steady"), or "iteration:12" (from 1)
 * @phases: of the trace; may be NULL if ct_range_needs_phases() says no
 * @pid: the process whose stages and iterations are meant, 0: the one that launches most
 * @end: the end of the stage or iteration is meant, not its begin
 * @ns: set to the moment, as records have it
 *
 * Return: 0, or -EINVAL with a line in @err.
 */
int ct_range_parse(const char *text, const struct ct_trace *t, const struct ct_phases *phases,
		   uint32_t pid, bool end, uint64_t *ns, struct ct_error *err);

#endif
