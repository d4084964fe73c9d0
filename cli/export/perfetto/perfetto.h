/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A trace in Perfetto's own format: Protocol Buffers, for https://ui.perfetto.dev. */
#ifndef CT_CLI_PERFETTO_H
#define CT_CLI_PERFETTO_H

#include "export/export.h"

/**
 * ct_perfetto_export() - write the whole trace
 *
 * Fields of a record are debug annotations, and so are its op_id and, where a call failed or
 * returned something, its result.
 *
 * Return: 0; -EINVAL with a line in @err if the output is a terminal; -ENOMEM; the error of
 * write().
 */
int ct_perfetto_export(const struct ct_export *x, struct ct_error *err);

#endif
