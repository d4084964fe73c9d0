/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the module keeps of a recorder that was killed: the records that it had not
 * copied yet.
 */
#ifndef CT_CLI_ORPHAN_H
#define CT_CLI_ORPHAN_H

#include "base/error.h"
#include "trace/reader.h"

/**
 * ct_orphan_complete() - append to trace @t what its killed recorder left
 *
 * For an unfinished trace that nobody writes.  Nothing where the module keeps
 * nothing, or that of another recording, or may not be asked.
 *
 * Return: packets appended (then @t has to be opened anew), or a negative errno.
 */
int ct_orphan_complete(const struct ct_trace *t, struct ct_error *err);

/**
 * ct_orphan_save() - make a trace of what any recorder left, before it is dropped
 * @dir: the trace's directory; with a "-left" behind it that becomes the name of the
 *       new one
 *
 * Says in a line on stderr what was saved and where.  Nothing if nothing was left.
 */
void ct_orphan_save(const char *dir);

#endif
