/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Can the patterns of --functions match anything?  Said before the program starts: afterwards its trace would lack calls. */
#ifndef CT_CLI_CHOSEN_FUNCTIONS_H
#define CT_CLI_CHOSEN_FUNCTIONS_H

#include <stdbool.h>

#include "base/error.h"

/*
 * @patterns: with commas or blanks between them, each as the library takes it: * and ?, and ! in front of those that are
 * not wanted.  @runtime: functions of libcudart are recorded, too.
 *
 * Return: 0; -EINVAL: one matches no function, with what may have been meant in @err; 1: one matches no function that is
 * known, but looks as those of a newer driver may: @err says so, and the recording goes on.
 */
int ct_chosen_functions_check(const char *patterns, bool runtime, struct ct_error *err);

#endif
