// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Failed calls by function and result.  Memory is bounded by the number of different
 * failures: must never keep something for each record.
 */
#include "analysis/errors.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/stats.h"
#include "base/hash.h"
#include "decode/nv_decode.h"
#include "trace/merge.h"
#include "trace/names.h"
#include "view/term.h"

struct error {
	const struct ct_class *class;
	const char *result;		/* NULL: it has no name */
	int64_t number;
	uint64_t count, first;		/* ns */
};

struct errors {
	struct error *list;
	size_t count, room;
	struct ct_hash by_result;	/* class and result; a: index + 1 into list */
};

/* What a failed call returned: an ioctl's own error, or else its RM status. */
static int64_t errors_result(const struct ct_record *r, const char **name)
{
	int64_t result = r->result;

	*name = ct_name_result(r);
	if (ct_record_is_ioctl(r)) {
		result = ct_record_quick(r, CT_QUICK_RET);
		if (result >= 0) {
			result = ct_record_quick(r, CT_QUICK_STATUS);
			*name = nv_status_name(result);
		}
	}
	return result;
}

static int errors_point(struct errors *e, const struct ct_point *p)
{
	const struct ct_record *r = &p->record;
	struct ct_hash_slot *slot;
	const char *name;
	int64_t number;

	if (p->phase == 'B' || !ct_record_failed(r))
		return 0;
	number = errors_result(r, &name);
	slot = ct_hash_put(&e->by_result, ct_hash_mix(number, r->class->id));
	if (!slot)
		return -ENOMEM;
	if (!slot->a) {
		if (e->count == e->room) {
			size_t room = e->room ? 2 * e->room : 16;
			struct error *more = realloc(e->list, room * sizeof(*more));

			if (!more)
				return -ENOMEM;
			e->list = more;
			e->room = room;
		}
		e->list[e->count] = (struct error){ r->class, name, number, 0, p->ts };
		slot->a = ++e->count;
	}
	e->list[slot->a - 1].count++;
	return 0;
}

static int errors_by_count(const void *a, const void *b)
{
	const struct error *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

static void errors_print(struct errors *e, const struct ct_analysis_run *run)
{
	char name[160], result[160], a[CT_TERM_TEXT], number[24];

	qsort(e->list, e->count, sizeof(*e->list), errors_by_count);
	fprintf(run->out, "\nFAILED CALLS\n  %-23s %-33s %8s %11s\n", "name", "result", "calls",
		"first at");
	for (size_t i = 0; i < e->count && i < run->options->top; i++) {
		const struct error *error = &e->list[i];

		snprintf(number, sizeof(number), "%" PRId64, error->number);
		fprintf(run->out, "  %-23s %-33s %8s %8.3f ms\n",
			ct_term_clean(name, sizeof(name), error->class->name, 23),
			ct_term_clean(result, sizeof(result),
				      error->result ? error->result : number, 33),
			ct_term_count(a, error->count),
			(double)(int64_t)(error->first - run->trace->reg.start) / 1e6);
	}
}

int ct_errors_report(const struct ct_analysis_run *run)
{
	struct ct_merge *m = ct_merge_new(run->trace);
	struct errors e = { 0 };
	struct ct_point point;
	int rc = m ? 0 : -ENOMEM;

	while (!rc && (rc = ct_merge_next(m, &point)) > 0)
		rc = errors_point(&e, &point);
	if (!rc && e.count)
		errors_print(&e, run);
	free(e.list);
	ct_hash_free(&e.by_result);
	ct_merge_free(m);
	return rc;
}
