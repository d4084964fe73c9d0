/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Grouping spans by keys, as a declaration says (spec.h).  Rows of a table are made by rows.h.
 *
 * Memory is bounded by the number of groups, of which there are CT_GROUPS_MAX at most: what is
 * beyond is one more, "(other)".
 */
#ifndef CT_CLI_GROUP_H
#define CT_CLI_GROUP_H

#include "group/histogram.h"
#include "group/keys.h"
#include "group/spec.h"
#include "spans/spans.h"
#include "spans/work.h"

#define CT_GROUPS_MAX	65536u

/* A group. */
struct ct_group_of_spans {
	uint64_t keys[CT_GROUP_KEYS];
	uint64_t count, failed, self;	/* self: ns */
	struct ct_histogram values;	/* of the measure */
	uint32_t next;			/* another group with the same hash, index + 1 */
};

struct ct_group_hash {
	uint64_t hash;
	uint32_t first;			/* its first group, index + 1 */
};

struct ct_grouping {
	const struct ct_group_spec *spec;
	struct ct_group_spec whose;		/* the caller's, with one key more */
	/* Set by the caller, before the first span. */
	struct ct_keys keys;
	struct ct_gpu_source source;		/* .measured */
	/* Internal. */
	struct ct_group_of_spans *list;
	unsigned int count, room;
	struct ct_group_of_spans other;		/* of groups beyond CT_GROUPS_MAX */
	CT_KEYED(struct ct_group_hash) by_hash;
	uint32_t *direct;			/* index + 1, by the only key, where that is at most CT_TEXTS_MAX */
	bool kernel;				/* of ioctls: the module saw some */
	uint64_t no_end;			/* ranges */
	uint64_t no_cause;			/* work of the GPU whose call is not known, where that is asked for */
	struct ct_group_column made[CT_GROUP_COLUMNS];
	struct ct_column columns[CT_GROUP_COLUMNS];
	unsigned int columns_count;
};

/* A group of nothing yet.  @g: zeros, but for what the caller sets. */
void ct_group_begin(struct ct_grouping *g, const struct ct_group_spec *spec);

/* Takes a span, in the order CT_SPANS_BY_END.  0 or -ENOMEM. */
int ct_group_span(struct ct_grouping *g, const struct ct_span *span);

void ct_group_free(struct ct_grouping *g);

#endif
