/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names and lines of the addresses of compiled code in a trace's stacks, written into its registry when it ends:
 * the machine that recorded has the files.
 */
#ifndef CT_CLI_NATIVE_RESOLVE_H
#define CT_CLI_NATIVE_RESOLVE_H

#include <stdbool.h>

/* Of the trace in @dir; @module: the module assigns ids of texts.  What is not found stays an address. */
void ct_native_resolve(const char *dir, bool module);

#endif
