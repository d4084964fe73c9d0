/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A trace as folded stacks: one line a stack of calls, for flame graphs. */
#ifndef CT_CLI_FOLDED_H
#define CT_CLI_FOLDED_H

#include "export/export.h"

/**
 * ct_folded_export() - write the stacks of a trace
 *
 * A line is PROCESS;CALL;CALL;... NS: the calls from the outermost to the innermost, and
 * the time that the innermost spent without the calls inside it.  Lines of equal stacks are
 * added up.  A call that never returned has no time, and its inner calls have theirs.
 *
 * Return: 0; -ENOMEM; the error of write().
 */
int ct_folded_export(const struct ct_export *x, struct ct_error *err);

#endif
