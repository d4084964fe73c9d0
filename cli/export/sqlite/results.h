/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table CUDATRACE_RESULTS: names of the results that a trace has. */
#ifndef CT_CLI_SQLITE_RESULTS_H
#define CT_CLI_SQLITE_RESULTS_H

#include "base/keyed.h"
#include "export/sqlite/insert.h"
#include "trace/names.h"

struct ct_results {
	struct ct_insert insert;
	CT_KEYED(uint64_t) known;	/* keys of those that are in it */
};

int ct_results_begin(struct ct_results *s, struct ct_db *db);

static inline uint64_t ct_results_key(enum ct_results_kind kind, int64_t code)
{
	return ct_mix(code, kind);
}

/* It needs no ct_results_add() any more. */
static inline bool ct_results_known(const struct ct_results *s, enum ct_results_kind kind, int64_t code)
{
	return !kind || ct_keyed_get(&s->known, ct_results_key(kind, code));
}

/* Adds a code and its name; NULL: it has none, and is not kept.  0 or a negative errno. */
int ct_results_add(struct ct_results *s, enum ct_results_kind kind, int64_t code, const char *name);
int ct_results_end(struct ct_results *s);

#endif
