// SPDX-License-Identifier: LGPL-2.1-or-later
/* See diff_processes.h. */
#include "explain/diff/diff_processes.h"

#include <errno.h>
#include <math.h>

#include "explain/diff/roles.h"

enum { P_ROLE, P_PID_A, P_PID_B, P_ITERATIONS_A, P_ITERATIONS_B, P_A, P_B, P_CHANGE, P_PERCENT, P_NOISE, P_VERDICT,
       P_COLUMNS };

static const struct ct_column columns[P_COLUMNS] = {
	[P_ROLE] = { "Process", "process", CT_CELL_TEXT, 0 },
	[P_PID_A] = { "Pid A", "pid A", CT_CELL_ID, 2 },
	[P_PID_B] = { "Pid B", "pid B", CT_CELL_ID, 2 },
	[P_ITERATIONS_A] = { "Iterations A", "iter. A", CT_CELL_COUNT, 3 },
	[P_ITERATIONS_B] = { "Iterations B", "iter. B", CT_CELL_COUNT, 3 },
	[P_A] = { "Median A (ns)", "median A", CT_CELL_NS_MEAN, 0 },
	[P_B] = { "Median B (ns)", "median B", CT_CELL_NS_MEAN, 0 },
	[P_CHANGE] = { "Change (ns)", "change", CT_CELL_NS_MEAN, 1 },
	[P_PERCENT] = { "Change (%)", "%", CT_CELL_PERCENT, 0 },
	[P_NOISE] = { "Noise (ns)", "noise", CT_CELL_NS_MEAN, 4 },
	[P_VERDICT] = { "Verdict", "verdict", CT_CELL_TEXT, 0 },
};

/* The steady iterations of a process. */
static struct ct_per_iteration processes_per(const struct ct_process_phases *p)
{
	uint32_t warmup = ct_phases_warmup(p);

	return (struct ct_per_iteration){
		.process = p, .list = p->iterations + warmup, .iterations = p->iterations_count - warmup,
	};
}

static int processes_compare(struct ct_cell *row, const struct ct_per_iteration per[2], double *worst)
{
	struct ct_diff_pair pair = { .side = { { .per = &per[0] }, { .per = &per[1] } }, .iterations = true };
	double median[2], error[2], noise, change, percent;
	int rc = 0;

	for (unsigned int s = 0; s < 2 && !rc; s++)
		rc = ct_diff_iteration(&pair.side[s], &median[s], &error[s]);
	if (rc)
		return rc;
	if (per[0].iterations)
		row[P_A] = ct_double(median[0]);
	if (per[1].iterations)
		row[P_B] = ct_double(median[1]);
	if (!per[0].iterations || !per[1].iterations)
		return 0;
	change = median[1] - median[0];
	percent = median[0] > 0 ? 100 * change / median[0] : 0;
	row[P_CHANGE] = ct_double(change);
	row[P_PERCENT] = ct_double(percent);
	if (fabs(change) < 0.5) {
		row[P_VERDICT] = ct_const("same");
		return 0;
	}
	if (per[0].iterations < 3 || per[1].iterations < 3) {
		row[P_VERDICT] = ct_const(change > 0 ? "slower" : "faster");
		return 0;
	}
	noise = ct_diff_noise(&pair, error[0], error[1]);
	row[P_NOISE] = ct_double(noise);
	row[P_VERDICT] = ct_const(fabs(change) <= noise ? "noise" : change > 0 ? "slower" : "faster");
	if (change > noise && percent > *worst)
		*worst = percent;
	return 0;
}

int ct_diff_processes(struct ct_table *t, const struct ct_analysis *const a[2], double *worst)
{
	struct ct_roles roles;
	int rc = ct_roles_find(&roles, a), count;
	char name[96];

	ct_table_begin(t, "diff_processes", "Processes: of the same role side by side, by their median iteration",
		       columns, P_COLUMNS);
	for (unsigned int i = 0; i < roles.count && !rc; i++) {
		struct ct_cell *row = ct_table_row(t);
		struct ct_per_iteration per[2] = { 0 };

		row[P_ROLE] = ct_text(t, ct_role_name(&roles, i, a, name, sizeof(name)));
		for (unsigned int s = 0; s < 2; s++) {
			const struct ct_process_phases *p;

			if (roles.list[i].index[s] < 0) {
				row[P_VERDICT] = ct_const(s ? "gone" : "new");
				continue;
			}
			p = &a[s]->phases->processes[roles.list[i].index[s]];
			per[s] = processes_per(p);
			row[s ? P_PID_B : P_PID_A] = ct_u64(p->pid);
			row[s ? P_ITERATIONS_B : P_ITERATIONS_A] = ct_u64(per[s].iterations);
		}
		if (per[0].process && per[1].process)
			rc = processes_compare(row, per, worst);
	}
	for (unsigned int s = 0; s < 2; s++)
		if (a[s]->phases->processes_count > CT_ROLES_MAX)
			ct_table_note(t, "%c: processes that began after the first %u are left out: %u.", "AB"[s],
				      CT_ROLES_MAX, a[s]->phases->processes_count - CT_ROLES_MAX);
	ct_table_note(t, "What follows is of one process of each; --pid A,B takes others.");
	count = roles.count;
	ct_roles_free(&roles);
	return rc ? rc : count;
}
