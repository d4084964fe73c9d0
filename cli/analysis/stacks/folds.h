/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A stack as people see it: lines of the program one by one, frames of libraries as "in torch: 7 frames". */
#ifndef CT_CLI_STACK_FOLDS_H
#define CT_CLI_STACK_FOLDS_H

#include "analysis/stacks/modules.h"

struct ct_fold {
	struct ct_stack_frame f;	/* the line; of several frames the innermost one */
	uint32_t node;			/* that of f */
	unsigned int frames;		/* of libraries that it stands for; 0: it is a line */
	const char *module;		/* of these: the package that was called; not terminated */
	int module_len;
};

/* The stack that ends at @node, the innermost first, into @folds of CT_STACK_DEPTH.  Returns how many there are. */
unsigned int ct_folds(const struct ct_report_filter *filter, const struct ct_registry *reg, uint32_t node,
		      struct ct_fold *folds);

/* "in torch: 7 frames", "train.py:12 (step)"; whole paths where the filter folds nothing. */
const char *ct_fold_words(const struct ct_report_filter *filter, const struct ct_fold *fold, char *buf, size_t size);

#endif
