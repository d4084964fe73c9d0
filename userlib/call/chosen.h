/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which functions are to be recorded: all, or those that CUDATRACE_ONLY names, by words with a
 * blank between them:
 *
 *   PATTERN	with * and ?, of a name as users know it (cuMemAlloc, not cuMemAlloc_v2)
 *   !PATTERN	not these
 *   -queries	no getters of a few ns
 *   types:HEX	a bit mask of enum ct_category
 */
#ifndef CT_CHOSEN_H
#define CT_CHOSEN_H

#include "base/sys.h"

/*
 * Is it to be recorded?  cuInit() and those that give functions their names always are: without
 * them launches would have no kernel.
 */
bool ct_function_chosen(const char *symbol);

#endif
