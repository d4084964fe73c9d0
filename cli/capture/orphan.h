/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An orphaned session: the module keeps the records that a killed recorder had not
 * copied yet.
 */
#ifndef CT_CLI_ORPHAN_H
#define CT_CLI_ORPHAN_H

#include "base/error.h"
#include "trace/reader.h"

/**
 * ct_orphan_complete() - append the unread records of its killed recorder to trace @t
 *
 * For an unfinished trace that no process writes.  Does nothing where the module has no
 * orphaned session, or one of another trace, or this user may not open the device.
 *
 * Return: packets appended (then @t has to be opened again), or a negative errno.
 */
int ct_orphan_complete(const struct ct_trace *t, struct ct_error *err);

#endif
