/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How long at least one of several intervals lasts, which come in the order of their ends: what calls
 * of several threads take of the wall time.  Must never count a moment twice.
 */
#ifndef CT_CLI_UNION_H
#define CT_CLI_UNION_H

#include <stdint.h>
#include <string.h>

/* Parts that an interval may still join; it would have to begin before all of them. */
#define CT_UNION_PARTS	32u

struct ct_union {
	uint64_t total;
	unsigned int count;
	uint64_t floor;			/* what lies before it counts already, or does not any more */
	struct { uint64_t begin, end; } part[CT_UNION_PARTS];
};

static inline void ct_union_add(struct ct_union *u, uint64_t begin, uint64_t end)
{
	begin = begin > u->floor ? begin : u->floor;
	if (end <= begin)
		return;
	while (u->count && u->part[u->count - 1].end >= begin) {
		u->count--;
		u->total -= u->part[u->count].end - u->part[u->count].begin;
		begin = u->part[u->count].begin < begin ? u->part[u->count].begin : begin;
		end = u->part[u->count].end > end ? u->part[u->count].end : end;
	}
	if (u->count == CT_UNION_PARTS) {
		u->floor = u->part[0].end;
		memmove(u->part, u->part + 1, --u->count * sizeof(u->part[0]));
	}
	u->part[u->count].begin = begin;
	u->part[u->count++].end = end;
	u->total += end - begin;
}

#endif
