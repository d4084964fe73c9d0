/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Libraries among the frames of stacks: torch, importlib, libtorch_cpu.so.  Reports for people fold them, so that
 * lines of the program itself stand out.
 */
#ifndef CT_CLI_STACK_MODULES_H
#define CT_CLI_STACK_MODULES_H

#include "analysis/filter.h"
#include "trace/stacks/stacks.h"

/* Is the file one of a library, or of no file at all? */
bool ct_stack_foreign(const struct ct_stack_frame *f);

/*
 * The name of a frame's library: "torch" of site-packages, "importlib" of Python's own; not terminated.  @package:
 * it is none of Python's own.  "": generated code, or a file of the program.
 */
const char *ct_stack_module(const struct ct_stack_frame *f, int *len, bool *package);

/* Which name has more than half, if one has: of those with a value that came one by one. */
struct ct_module_vote {
	const char *name;
	int len;
	uint64_t value;
};

void ct_module_vote(struct ct_module_vote *v, const char *name, int len, uint64_t value);

/* Are the lines of this frame not shown one by one?  They are if the filter's modules match its library. */
bool ct_stack_folded(const struct ct_report_filter *filter, const struct ct_stack_frame *f);

#endif
