/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The lists of the summary: categories, functions, kernels. */
#ifndef CT_CLI_TOP_LISTS_H
#define CT_CLI_TOP_LISTS_H

#include "analysis/calls.h"
#include "analysis/program/page.h"

/**
 * ct_top_lists() - put them on what is left of a page
 * @kernels: by a string of the registry, their name; a: how many launches, b: ns on the GPU, where
 *	that was recorded
 * @graphs: kernels of graphs are not among them
 *
 * Return: 0 or -ENOMEM.
 */
int ct_top_lists(struct ct_page *page, const struct ct_calls *calls, const struct ct_hash *kernels,
		 struct ct_names *names, bool graphs);

#endif
