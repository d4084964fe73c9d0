// SPDX-License-Identifier: LGPL-2.1-or-later
/* See machines.h.  Must never call a difference what only one trace knows: it may be of an older recorder. */
#include "explain/diff/machines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/about/machine.h"

enum { WHAT, A, B, COLUMNS };

static const struct ct_column columns[COLUMNS] = {
	[WHAT] = { "What", "", CT_CELL_TEXT, 0 },
	[A] = { "A", NULL, CT_CELL_TEXT, 0 },
	[B] = { "B", NULL, CT_CELL_TEXT, 0 },
};

static void machines_row(struct ct_table *t, struct ct_cell what, const char *a, const char *b)
{
	struct ct_cell *row;

	if (a && b && !strcmp(a, b))
		return;
	row = ct_table_row(t);
	row[WHAT] = what;
	row[A] = ct_text(t, a);
	row[B] = ct_text(t, b);
}

/* Only where both know it. */
static void machines_known(struct ct_table *t, const char *what, const char *a, const char *b)
{
	if (a && *a && b && *b)
		machines_row(t, ct_const(what), a, b);
}

/* The length of the name that a line of @list begins with: up to @end. */
static size_t machines_name(const char *line, char end)
{
	return strcspn(line, (char[]){ end, 0 });
}

/* What stands behind this name in @list; NULL: it is not there. */
static const char *machines_value(const char *const *list, unsigned int count, const char *name, size_t n, char end)
{
	for (unsigned int i = 0; i < count; i++)
		if (machines_name(list[i], end) == n && !strncmp(list[i], name, n))
			return list[i] + n + (list[i][n] == end);
	return NULL;
}

/* Lines of names and values, as "torch 2.5.1" or "NAME=VALUE".  @absent: what is not there is a difference. */
static void machines_lists(struct ct_table *t, const char *const *a, unsigned int a_count, const char *const *b,
			   unsigned int b_count, char end, const char *absent)
{
	for (unsigned int i = 0; i < a_count + b_count; i++) {
		const char *line = i < a_count ? a[i] : b[i - a_count];
		size_t n = machines_name(line, end);
		const char *x = machines_value(a, a_count, line, n, end);
		const char *y = machines_value(b, b_count, line, n, end);

		/* Those of both lists once. */
		if ((i >= a_count && x) || (!absent && (!x || !y)))
			continue;
		machines_row(t, ct_format(t, "%.*s", (int)n, line), x ? x : absent, y ? y : absent);
	}
}

/* Whether the recorder noted the environment and the GPUs. */
static bool machines_new(const struct ct_machine *m)
{
	return m->env_count || m->threads_count;
}

int ct_diff_machines(struct ct_table *t, const struct ct_registry *a, const struct ct_registry *b)
{
	struct ct_machine *m = calloc(2, sizeof(*m));
	char gpus[2][600];
	int rc = m ? 0 : -ENOMEM, ended;

	ct_table_begin(t, "diff_machines", "Machine and versions: what differs", columns, COLUMNS);
	for (unsigned int s = 0; s < 2 && !rc; s++) {
		rc = ct_machine_read(&m[s], s ? b : a);
		if (!rc)
			ct_machine_gpus(&m[s], gpus[s], sizeof(gpus[s]));
	}
	if (!rc) {
		machines_known(t, "host", m[0].host, m[1].host);
		machines_known(t, "GPU", gpus[0], gpus[1]);
		machines_known(t, "driver", m[0].driver, m[1].driver);
		machines_known(t, "CUDA", m[0].cuda, m[1].cuda);
		machines_known(t, "Linux", m[0].linux_release, m[1].linux_release);
		machines_lists(t, m[0].versions, m[0].versions_count, m[1].versions, m[1].versions_count, ' ', NULL);
		if (machines_new(&m[0]) && machines_new(&m[1]))
			machines_lists(t, m[0].env, m[0].env_count, m[1].env, m[1].env_count, '=', "(not set)");
	}
	for (unsigned int s = 0; m && s < 2; s++)
		ct_machine_free(&m[s]);
	free(m);
	ended = ct_table_end(t);
	return rc ? rc : ended;
}
