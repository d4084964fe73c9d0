// SPDX-License-Identifier: LGPL-2.1-or-later
/* See grow.h. */
#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

#define GROW_FIRST	4u	/* there may be an array for each of many things */

void *ct_grow(void *list, size_t *room, size_t size, size_t need, size_t most, bool zeros)
{
	size_t more = *room > most / 2 ? most : *room ? 2 * *room : GROW_FIRST;
	char *moved;

	if (more < need)
		more = need;
	if (more > most)
		return NULL;
	moved = reallocarray(list, more, size);
	if (moved && zeros)
		memset(moved + *room * size, 0, (more - *room) * size);
	if (moved)
		*room = more;
	return moved;
}
