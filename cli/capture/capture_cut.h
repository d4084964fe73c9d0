/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Cutting a finished trace at the ends of a capture range.  A thread's records end with the packets that
 * the range has something of; what the GPU did stays if a call that is left caused it, so that it may end
 * behind the range.  What names no call stays from the process's first call that is left to the end of its last one.
 */
#ifndef CT_CLI_CAPTURE_CUT_H
#define CT_CLI_CAPTURE_CUT_H

#include <stdint.h>

#include "base/error.h"

/* Threads' packets that begin behind @until, ns, go; 0: none.  0, or a negative errno with @err set. */
int ct_cut(const char *dir, uint64_t until, struct ct_error *err);

#endif
