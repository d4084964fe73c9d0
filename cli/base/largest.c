// SPDX-License-Identifier: LGPL-2.1-or-later
/* See largest.h.  A heap with the smallest first. */
#include "base/largest.h"

#include <string.h>

void ct_largest_keep(void *list, unsigned int *count, unsigned int most, size_t size, const void *item,
		     int (*order)(const void *a, const void *b))
{
	char *heap = list;
	size_t at = *count, child, parent;

	if (at < most) {
		++*count;
		for (; at && order(heap + (parent = (at - 1) / 2) * size, item) < 0; at = parent)
			memcpy(heap + at * size, heap + parent * size, size);
	} else {
		if (!most || order(item, heap) >= 0)
			return;
		for (at = 0; (child = 2 * at + 1) < most; at = child) {
			if (child + 1 < most && order(heap + child * size, heap + (child + 1) * size) < 0)
				child++;
			if (order(item, heap + child * size) >= 0)
				break;
			memcpy(heap + at * size, heap + child * size, size);
		}
	}
	memcpy(heap + at * size, item, size);
}
