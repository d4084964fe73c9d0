/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The lines that cost most, for people: lines of the program itself, where a stack has some, and
 * not those of the libraries that it calls.
 */
#ifndef CT_CLI_STACK_HOT_H
#define CT_CLI_STACK_HOT_H

#include "analysis/stacks/costs.h"
#include "analysis/stacks/modules.h"

struct ct_hot_line {
	uint64_t key;			/* function << 32 | line */
	uint32_t node;			/* one that is this line */
	uint64_t value;
	uint64_t samples, states[CT_SAMPLE_STATES];
	uint64_t holds;			/* of these, those that waited for Python's lock, which this line held */
	/* What most of it is inside, of libraries, by majority: a folder of Python's packages. */
	struct ct_module_vote package;
};

struct ct_hot {
	CT_KEYED(struct ct_hot_line) lines;	/* the largest first */
	uint64_t all;			/* of those with a stack */
	uint64_t unknown;		/* of those without one */
};

/* Adds up the costs @which, bits, of @part.  0 or -ENOMEM; ct_keyed_free() the lines. */
int ct_hot_lines(struct ct_hot *hot, const struct ct_stack_costs *costs, const struct ct_registry *reg, uint64_t part,
		 unsigned int which);

/* The innermost frame that is the program's own, or else the innermost of all; false: there is none. */
bool ct_stack_own(const struct ct_registry *reg, uint32_t node, struct ct_stack_frame *f, uint32_t *own);

/* "train.py:12" into @buf, or "libfoo.so.1": the number is not to be cut with the end of a long path. */
const char *ct_stack_place(const struct ct_stack_frame *f, char *buf, size_t size);

/* "train.py:12 (step)" into @buf; of the file the name alone. */
const char *ct_stack_line(const struct ct_stack_frame *f, char *buf, size_t size);

/*
 * "62 % running, 38 % waiting for a lock": what samples of @part say, which are between calls, or before the
 * first one; "" if there are none.
 */
const char *ct_hot_states(const struct ct_stack_costs *costs, uint64_t part, bool before, char *buf, size_t size);

/*
 * The share of the samples of @part between calls in which a thread did no work of its own: it waited for another thread, for what
 * comes from outside the process, or for a time.  0 to 1; of few samples 0.  *@most: what most of them say.
 */
double ct_hot_elsewhere(const struct ct_stack_costs *costs, uint64_t part, enum ct_sample_state *most);

/*
 * "61 % train.py:12 (step) in torch, 20 % model.py:7 (forward) sleeping": at most @most lines, shares of what
 * has a line; "" if there are none.  A line that others waited for has "holding Python's lock (GIL)".  Without samples: "61 % before train.py:12 (step)".  @which: as for ct_hot_lines().
 */
const char *ct_hot_text(const struct ct_hot *hot, const struct ct_registry *reg, unsigned int which, unsigned int most,
			char *buf, size_t size);

#endif
