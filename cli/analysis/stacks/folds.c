// SPDX-License-Identifier: LGPL-2.1-or-later
/* See folds.h. */
#include "analysis/stacks/folds.h"

#include <stdio.h>

#include "analysis/stacks/hot.h"

/* A frame further outside.  Of Python's own modules (importlib, runpy) none names what was called if a package does. */
static void folds_name(struct ct_fold *fold, const struct ct_stack_frame *f, bool *package)
{
	bool its_package;
	int len;
	const char *module = ct_stack_module(f, &len, &its_package);

	fold->frames++;
	if (!len || (*package && !its_package))
		return;
	fold->module = module;
	fold->module_len = len;
	*package = its_package;
}

unsigned int ct_folds(const struct ct_report_filter *filter, const struct ct_registry *reg, uint32_t node,
		      struct ct_fold *folds)
{
	struct ct_stack_frame f = { .parent = node };
	unsigned int count = 0;
	bool package = false;

	for (unsigned int i = 0; i < CT_STACK_DEPTH; i++) {
		uint32_t at = f.parent;
		bool folded;

		if (!ct_stack_frame(reg, at, &f))
			break;
		folded = ct_stack_folded(filter, &f);
		if (!folded || !count || !folds[count - 1].frames) {
			folds[count++] = (struct ct_fold){ .f = f, .node = at, .module = "" };
			package = false;
		}
		if (folded)
			folds_name(&folds[count - 1], &f, &package);
	}
	return count;
}

const char *ct_fold_words(const struct ct_report_filter *filter, const struct ct_fold *fold, char *buf, size_t size)
{
	if (!fold->frames)
		return filter->fold ? ct_stack_line(&fold->f, buf, size) : ct_stack_words(&fold->f, buf, size);
	if (fold->module_len)
		snprintf(buf, size, "in %.*s: %u frame%s", fold->module_len, fold->module, fold->frames,
			 fold->frames == 1 ? "" : "s");
	else
		snprintf(buf, size, "in generated code: %u frame%s", fold->frames, fold->frames == 1 ? "" : "s");
	return buf;
}
