/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A folder of copies of traces, which is read as one. */
#ifndef CT_CLI_GATHER_H
#define CT_CLI_GATHER_H

#include "base/error.h"

/**
 * ct_gather_copy() - copy the files of a finished trace
 * @dir: of the trace
 * @to: folder that is made for it
 *
 * Return: 0 or a negative errno with a line in @err; what was copied until then stays.
 */
int ct_gather_copy(const char *dir, const char *to, struct ct_error *err);

#endif
