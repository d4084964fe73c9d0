/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The largest of any number of things, of which only some are kept. */
#ifndef CT_CLI_LARGEST_H
#define CT_CLI_LARGEST_H

#include <stddef.h>

/**
 * ct_largest_keep() - keep @item if it is among the largest
 * @list: room for @most items of @size bytes; in no order until qsort() with @order sorts it
 * @count: how many are in it
 * @order: as of qsort(), the largest first; no two may be equal, or which one is kept is chance
 *
 * The time of one is the logarithm of @most.
 */
void ct_largest_keep(void *list, unsigned int *count, unsigned int most, size_t size, const void *item,
		     int (*order)(const void *a, const void *b));

#endif
