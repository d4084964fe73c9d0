/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The keys by which spans are grouped. */
#ifndef CT_CLI_GROUP_KEYS_H
#define CT_CLI_GROUP_KEYS_H

#include "group/spec.h"
#include "group/texts.h"
#include "phases/phases.h"
#include "spans/processes.h"
#include "spans/spans.h"

#define CT_KEY_NONE	UINT64_MAX	/* a span has none */

struct ct_keys_ioctl {
	uint64_t command;		/* and the kind of device */
	int text;			/* index */
};

struct ct_keys_node {
	uint64_t node;			/* << 1 | with all that called it */
	uint64_t text;			/* index */
};

/* What the keys of a grouping need, and remember. */
struct ct_keys {
	/* Set by the caller, before the first span. */
	struct ct_names *names;
	const struct ct_phases *phases;		/* of keys that need them */
	const struct ct_processes *processes;
	/* Internal. */
	struct ct_texts texts;
	CT_KEYED(struct ct_keys_ioctl) ioctls;
	CT_KEYED(struct ct_keys_node) nodes;	/* of stacks */
	uint64_t range;				/* the number of the range that was looked up last, and its text */
	uint64_t range_text;
	const char **functions;			/* names by class id, while rows are made */
	int error;				/* 0 or -ENOMEM */
};

/* What of a span its keys are taken from. */
struct ct_group_subject {
	const struct ct_span *span;
	/* Those of the span, or of the call that caused the GPU's work. */
	const struct ct_class *class;
	uint32_t pid, tid;
	uint64_t begin;
};

struct ct_group_key {
	enum ct_group_of of;		/* what is grouped by it if nobody says it */
	bool text;			/* the value is the index of a text */
	bool phases;
	struct ct_column column;
	/* A number for the key, or CT_KEY_NONE.  Sets k->error where there is no memory. */
	uint64_t (*value)(struct ct_keys *k, const struct ct_group_subject *s);
	/*
	 * The name of a value, for a column of texts.  NULL: a text's is the text, and what has no name is
	 * shown as a hexadecimal number.
	 */
	const char *(*name)(const struct ct_keys *k, uint64_t value);
};

/* The cell of a value. */
struct ct_cell ct_group_key_cell(const struct ct_keys *k, enum ct_group_by by, struct ct_table *t, uint64_t value);

extern const struct ct_group_key ct_group_keys[CT_BY_COUNT];

/* Does a grouping need the phases of the processes? */
bool ct_group_phases(const struct ct_group_spec *spec);

void ct_keys_free(struct ct_keys *k);

#endif
