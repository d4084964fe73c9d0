/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The lines that cost most, for people: lines of the program itself, where a stack has some, and
 * not those of the libraries that it calls.
 */
#ifndef CT_CLI_STACK_HOT_H
#define CT_CLI_STACK_HOT_H

#include "analysis/stacks/costs.h"

struct ct_hot_line {
	uint64_t key;			/* function << 32 | line */
	uint32_t node;			/* one that is this line */
	uint64_t value;
};

struct ct_hot {
	CT_KEYED(struct ct_hot_line) lines;	/* the largest first */
	uint64_t all;			/* of those with a stack */
	uint64_t unknown;		/* of those without one */
};

/* Adds up the costs @which, bits, of @part.  0 or -ENOMEM; ct_keyed_free() the lines. */
int ct_hot_lines(struct ct_hot *hot, const struct ct_stack_costs *costs, const struct ct_registry *reg, uint64_t part,
		 unsigned int which);

/* Is the file one of a library of Python's, or of no file at all? */
bool ct_stack_foreign(const struct ct_stack_frame *f);

/* The innermost frame that is the program's own, or else the innermost of all; false: there is none. */
bool ct_stack_own(const struct ct_registry *reg, uint32_t node, struct ct_stack_frame *f, uint32_t *own);

/* "train.py:12 (step)" into @buf; of the file the name alone. */
const char *ct_stack_line(const struct ct_stack_frame *f, char *buf, size_t size);

/* "61 % train.py:12 (step), 20 % model.py:7 (forward)": at most @most lines; "" if there are none. */
const char *ct_hot_text(const struct ct_hot *hot, const struct ct_registry *reg, unsigned int most, char *buf, size_t size);

#endif
