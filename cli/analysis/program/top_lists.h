/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The lists of the summary: categories, functions, kernels. */
#ifndef CT_CLI_TOP_LISTS_H
#define CT_CLI_TOP_LISTS_H

#include "analysis/calls.h"
#include "analysis/program/page.h"
#include "base/keyed.h"

struct ct_top_kernel {
	uint64_t name;			/* a string of the registry */
	uint64_t launches;		/* or runs on the GPU, where that was recorded */
	uint64_t ns;			/* on the GPU */
};

struct ct_top_kernels {
	CT_KEYED(struct ct_top_kernel);
};

/**
 * ct_top_lists() - put them on what is left of a page
 * @kernels: are sorted
 * @graphs: kernels of graphs are not among them
 *
 * Return: 0 or -ENOMEM.
 */
int ct_top_lists(struct ct_page *page, const struct ct_calls *calls, struct ct_top_kernels *kernels,
		 struct ct_names *names, bool graphs);

#endif
