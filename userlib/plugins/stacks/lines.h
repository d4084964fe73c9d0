/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lines of instructions, from the tables of code objects. */
#ifndef CT_STACKS_LINES_H
#define CT_STACKS_LINES_H

#include "layout.h"

/*
 * The line of the instruction at byte "at" of the code (negative: it has not begun), as
 * PyCode_Addr2Line() says it; -1: it has none.
 */
int lines_find(enum line_format format, const uint8_t *table, size_t size, int first, int64_t at);

#endif
