/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Histograms by text: of kernels, of ranges, of ioctls.  Memory is bounded: beyond
 * CT_GROUPS_MAX different texts, all others are one group "(other)".
 */
#ifndef CT_CLI_GROUPS_H
#define CT_CLI_GROUPS_H

#include "group/histogram.h"
#include "base/keyed.h"
#include "trace/names.h"

#define CT_GROUPS_MAX	65536u

struct ct_text_group {
	char *text;
	struct ct_histogram values;
	uint64_t failed;
	uint32_t next;			/* another group with the same hash, index + 1 */
};

struct ct_text_hash {
	uint64_t hash;
	uint32_t first;			/* its first group, index + 1 */
};

/* Zeros are no groups. */
struct ct_text_groups {
	struct ct_text_group *list;		/* moves when a group is made */
	unsigned int count, capacity;
	CT_KEYED(struct ct_text_hash) by_hash;
	uint32_t *by_string;		/* index + 1 by the id of a string of the registry */
	unsigned int strings;
};

/* The index of the group of these bytes, or -ENOMEM.  What follows a NUL does not count. */
int ct_groups_text(struct ct_text_groups *g, const char *text, size_t len);

/* The same of string @id of the registry, in its readable form; "(unknown)" if there is none. */
int ct_groups_string(struct ct_text_groups *g, struct ct_names *names, uint64_t id);

/* Whether texts were put together as "(other)", which is then the last group of the list. */
static inline bool ct_groups_full(const struct ct_text_groups *g)
{
	return g->count > CT_GROUPS_MAX;
}

/*
 * All groups that have values, those with the largest total first and "(other)" last:
 * *@count of them, freed with free().  NULL: no memory.
 */
struct ct_text_group **ct_groups_sorted(struct ct_text_groups *g, unsigned int *count);
void ct_groups_free(struct ct_text_groups *g);

#endif
