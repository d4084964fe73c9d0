// SPDX-License-Identifier: LGPL-2.1-or-later
/* The rows of a trace directory that is being written, sorted by time as far as they are there. */
#include <errno.h>
#include <stdlib.h>

#include "base/grow.h"
#include "live/follow.h"
#include "live/live.h"

/* A row that waits to be sorted with those of other streams. */
struct row {
	uint64_t ts;
	char *text;
};

struct rows {
	struct row *list;
	size_t count, capacity;
	struct ct_live live;
	bool only_new, begun;
	FILE *out;
};

static int rows_keep(struct rows *rows, uint64_t ts, char *text)
{
	if (!ct_room(rows->list, rows->count, rows->capacity))
		return -ENOMEM;
	rows->list[rows->count++] = (struct row){ ts, text };
	return 0;
}

static int rows_record(void *arg, const struct ct_registry *reg, const struct ct_record *r, bool old)
{
	struct rows *rows = arg;
	char *text = NULL;
	size_t size = 0;
	FILE *out;
	int rc;

	rows->live.reg = reg;
	out = open_memstream(&text, &size);
	if (!out)
		return -ENOMEM;
	ct_live_record(&rows->live, r, out);
	rc = fclose(out) ? -ENOMEM : 0;
	if (!rc && size && !(old && rows->only_new)) {
		rc = rows_keep(rows, r->end, text);
		text = rc ? text : NULL;
	}
	free(text);
	return rc;
}

static int rows_by_time(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return x->ts < y->ts ? -1 : x->ts > y->ts;
}

static int rows_print(void *arg, bool *more)
{
	struct rows *rows = arg;

	/* Not before the directory was read: what is none has no table. */
	if (!rows->begun)
		ct_live_head(&rows->live, rows->out);
	rows->begun = true;
	*more = rows->count > 0;
	if (rows->count)
		qsort(rows->list, rows->count, sizeof(*rows->list), rows_by_time);
	for (size_t i = 0; i < rows->count; i++) {
		fputs(rows->list[i].text, rows->out);
		free(rows->list[i].text);
	}
	rows->count = 0;
	return fflush(rows->out) || ferror(rows->out) ? -EPIPE : 0;
}

int ct_live_follow(const char *dir, bool only_new, FILE *out, const volatile bool *stop,
		   struct ct_error *err)
{
	struct rows rows = { .only_new = only_new, .out = out };
	struct ct_follow_sink sink = { .arg = &rows, .record = rows_record, .idle = rows_print };
	int rc;

	ct_live_init(&rows.live, NULL, out);
	rc = ct_follow(dir, &sink, stop, err);
	for (size_t i = 0; i < rows.count; i++)
		free(rows.list[i].text);
	free(rows.list);
	ct_live_free(&rows.live);
	return rc;
}
