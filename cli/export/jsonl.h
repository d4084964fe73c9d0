/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * JSON Lines: one object a line for every point of a trace.
 *
 * Words: event_id, ts (ms since the trace began), ts_ns (CLOCK_MONOTONIC), layer,
 * type, op, name, symbol (where it isn't the name), phase, pid, tid, cpu where
 * known, for calls op_id and depth; an E has duration_us and result (the name of
 * the code, or the number where it has no name) with result_code.  What a call is
 * about (type, op, size, direction, threads, kernel and an ioctl's cmd) stands on
 * E and I lines, so that each call is counted once; a B has its layer's type.
 * details has the arguments: on a B those that were known then.
 */
#ifndef CT_CLI_JSONL_H
#define CT_CLI_JSONL_H

#include "export/export.h"

/* Writes the whole trace.  0; -ENOMEM; the error of write(). */
int ct_jsonl_export(const struct ct_export *x, struct ct_error *err);

#endif
