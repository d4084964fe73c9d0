/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The ends of a range of time, as users write them. */
#ifndef CT_CLI_RANGE_H
#define CT_CLI_RANGE_H

#include "base/error.h"
#include "phases/phases.h"

/* A range of time, as records have it. */
struct ct_range {
	uint64_t from, to;	/* ns; to 0: no end */
};

/**
 * ct_range_check() - is a word a moment, whatever the trace has?
 *
 * Return: 0, or -EINVAL with a line in @err, of a wrong command line.
 */
int ct_range_check(const char *text, struct ct_error *err);

/* Does a moment of this form need the trace's phases? */
bool ct_range_needs_phases(const char *text);

/**
 * ct_range_parse() - a moment
 * @text: a time since the trace began, "start" or "end" (of the trace), a stage ("steady"), or
 *	"iteration:12" (from 1).  A time is in ms ("12.5"), or as tables and pages show it:
 *	"1,234.567 ms", "1.2 s", "300 us"
 * @phases: of the trace; may be NULL if ct_range_needs_phases() says no
 * @pid: the process whose stages and iterations are meant, 0: the main one of the phases
 * @end: the end of the stage or iteration is meant, not its begin
 * @ns: set to the moment, as records have it
 *
 * Return: 0, or -EINVAL with a line in @err.
 */
int ct_range_parse(const char *text, const struct ct_trace *t, const struct ct_phases *phases,
		   uint32_t pid, bool end, uint64_t *ns, struct ct_error *err);

/**
 * ct_range_clip() - the phases of a range of time
 * @phases: stages are cut to the range; iterations that are not wholly in it are dropped
 * @pid: the process that counts, 0: all.  The others have no stages then
 *
 * What looks at stages alone (accounts, findings) looks at the range alone then.
 */
void ct_range_clip(struct ct_phases *phases, const struct ct_range *range, uint32_t pid);

#endif
