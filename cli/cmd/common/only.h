/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The options that say what of a trace counts, the same in each command that reads one: --from,
 * --to, --pid, --tid, --name, and --layer, --type.
 *
 *	static const struct argp_child children[] = { CT_ONLY_CHILD, { 0 } };
 *
 * In the parser of the command: case ARGP_KEY_INIT: state->child_inputs[0] = &env->only.
 */
#ifndef CT_CLI_ONLY_H
#define CT_CLI_ONLY_H

#include <argp.h>

#include "analysis/selection.h"
#include "phases/phases.h"

struct ct_only {
	const char *from, *to;		/* as typed; NULL: not given */
	struct ct_report_filter filter;	/* .from and .to are set by ct_only_find() */
	/* Set by a command that reads two traces: --pid and --tid take A,B then. */
	bool pair;
	uint32_t other_pid, other_tid;	/* of the second trace; 0: not given */
	/* Set by ct_only_find(). */
	struct ct_phases phases;	/* of the trace, where they had to be found */
	bool phases_found;
	struct ct_selection selection;	/* of ct_only_select() */
};

#define CT_ONLY_INIT	{ .filter = { .layer = -1, .category = -1 }, .phases = { .main = -1 } }

extern const struct argp ct_only_argp;		/* --from, --to, --pid, --tid, --name */
extern const struct argp ct_only_kinds_argp;	/* these, and --layer, --type */

#define CT_ONLY_CHILD		{ &ct_only_argp, 0, "Only what counts:", 1 }
#define CT_ONLY_KINDS_CHILD	{ &ct_only_kinds_argp, 0, "Only what counts:", 1 }

/* The same options for the second trace. */
struct ct_only ct_only_other(const struct ct_only *o);

/**
 * ct_only_find() - what the options mean in a trace
 *
 * A process, a thread or a name that the trace does not have is an error, not an empty result.
 * With @phases the trace's phases are found in any case, and are those of the range alone.
 *
 * Return: 0 or a negative errno with a line in @err.  ct_only_free() frees, also after an error.
 */
int ct_only_find(struct ct_only *o, const struct ct_trace *t, bool phases, struct ct_error *err);

/*
 * Every pass over @t sees only what counts from now on, until ct_only_free().  @times: also
 * only what began in the range of time.
 */
void ct_only_select(struct ct_only *o, struct ct_trace *t, bool times);

/* Was any of these options given? */
bool ct_only_asked(const struct ct_only *o);

void ct_only_free(struct ct_only *o);

#endif
