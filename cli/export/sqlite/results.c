// SPDX-License-Identifier: LGPL-2.1-or-later
/* See results.h.  Memory is bounded by the numbers that have names. */
#include "export/sqlite/results.h"

#include <errno.h>
#include <string.h>

int ct_results_begin(struct ct_results *s, struct ct_db *db)
{
	*s = (struct ct_results){ 0 };
	return ct_insert_begin(&s->insert, db, "CUDATRACE_RESULTS", 3, false);
}

int ct_results_add(struct ct_results *s, enum ct_results_kind kind, int64_t code, const char *name)
{
	struct ct_value *row;

	if (!name || ct_results_known(s, kind, code))
		return 0;
	if (!ct_keyed_put(&s->known, ct_results_key(kind, code)))
		return -ENOMEM;
	row = ct_insert_row(&s->insert);
	ct_insert_text(&s->insert, &row[0], ct_results_word[kind], strlen(ct_results_word[kind]));
	ct_value_int(&row[1], code);
	ct_insert_text(&s->insert, &row[2], name, strlen(name));
	return s->insert.error;
}

int ct_results_end(struct ct_results *s)
{
	ct_keyed_free(&s->known);
	return ct_insert_end(&s->insert);
}
