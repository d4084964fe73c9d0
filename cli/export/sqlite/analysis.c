// SPDX-License-Identifier: LGPL-2.1-or-later
/* See analysis.h. */
#include "export/sqlite/analysis.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "analysis/reports.h"
#include "explain/explain.h"
#include "export/sqlite/insert.h"

/* ---------------------------------------------------------------- passes --- */

static int analysis_run(struct ct_sqlite_analysis *a)
{
	struct ct_analysers analysers = { 0 };
	struct ct_engine_options options = {
		.filter = { .layer = -1, .category = -1 }, .phases = &a->phases,
	};
	int rc = ct_phases_find(&a->phases, &a->trace);

	ct_explain_analysers(&analysers);
	ct_reports_add(&analysers);
	if (rc)
		return ct_fail(&a->err, -rc, "%s", strerror(-rc));
	a->engine = ct_engine_run(&a->trace, analysers.list, analysers.count, &options, &a->err);
	if (!a->engine)
		return -a->err.code;
	rc = ct_explain_tables(&a->trace, a->engine, &a->verdicts, &a->findings);
	a->explained = !rc;
	return rc ? ct_fail(&a->err, -rc, "%s", strerror(-rc)) : 0;
}

static void *analysis_thread(void *arg)
{
	struct ct_sqlite_analysis *a = arg;

	a->rc = analysis_run(a);
	return NULL;
}

void ct_sqlite_analysis_begin(struct ct_sqlite_analysis *a, const struct ct_trace *t)
{
	*a = (struct ct_sqlite_analysis){ .rc = 0 };
	a->rc = ct_trace_share(&a->trace, t);
	if (a->rc)
		return;
	a->running = !pthread_create(&a->thread, NULL, analysis_thread, a);
	if (!a->running)
		analysis_thread(a);
}

static void analysis_wait(struct ct_sqlite_analysis *a)
{
	if (a->running)
		pthread_join(a->thread, NULL);
	a->running = false;
}

void ct_sqlite_analysis_end(struct ct_sqlite_analysis *a)
{
	analysis_wait(a);
	if (a->explained) {
		ct_table_free(&a->verdicts);
		ct_table_free(&a->findings);
	}
	ct_engine_free(a->engine);
	ct_phases_free(&a->phases);
	ct_trace_unshare(&a->trace);
}

/* ---------------------------------------------------------------- tables --- */

static int analysis_create(struct ct_db *db, const struct ct_table *t, const char *name)
{
	sqlite3_str *sql = sqlite3_str_new(db->db);
	char *text;
	int rc;

	sqlite3_str_appendf(sql, "CREATE TABLE \"%w\" (", name);
	for (unsigned int i = 0; i < t->columns_count; i++) {
		enum ct_cell_type type = t->columns[i].type;

		sqlite3_str_appendf(sql, "%s\"%w\" %s", i ? ", " : "", t->columns[i].name,
				    ct_cell_is_text(type) || type == CT_CELL_HEX ? "TEXT" :
				    ct_cell_is_double(type) ? "REAL" : "INTEGER");
	}
	sqlite3_str_appendall(sql, ")");
	text = sqlite3_str_finish(sql);
	rc = text ? ct_db_exec(db, text) : -ENOMEM;
	sqlite3_free(text);
	return rc;
}

/* As in csv: MB and plain numbers with three decimals, means and percents with one. */
static double analysis_round(enum ct_cell_type type, double number)
{
	double scale = type == CT_CELL_MB || type == CT_CELL_NUMBER ? 1000 : 10;

	return round((type == CT_CELL_MB ? number / 1e6 : number) * scale) / scale;
}

static void analysis_cell(struct ct_insert *in, struct ct_value *value, enum ct_cell_type type,
			  const struct ct_cell *cell)
{
	char hex[24];

	if (!ct_cell_known(type, cell))
		return;
	if (ct_cell_is_text(type)) {
		ct_insert_text(in, value, cell->text, strlen(cell->text));
	} else if (type == CT_CELL_HEX) {
		snprintf(hex, sizeof(hex), "0x%llx", (unsigned long long)cell->u);
		ct_insert_text(in, value, hex, strlen(hex));
	} else if (ct_cell_is_double(type)) {
		ct_value_real(value, analysis_round(type, cell->d));
	} else {
		ct_value_int(value, cell->u);
	}
}

static int analysis_table(struct ct_db *db, const struct ct_table *t, const char *name)
{
	struct ct_insert in = { 0 };
	struct ct_value *row;
	int rc = analysis_create(db, t, name), ended;

	if (rc)
		return rc;
	rc = ct_insert_begin(&in, db, name, t->columns_count, false);
	for (size_t i = 0; i < t->rows && !rc; i++) {
		row = ct_insert_row(&in);
		for (unsigned int k = 0; k < t->columns_count; k++)
			analysis_cell(&in, &row[k], t->columns[k].type, &t->cells[i * t->columns_count + k]);
		rc = in.error;
	}
	ended = ct_insert_end(&in);
	return rc ? rc : ended;
}

/* ------------------------------------------------------ stages, iterations --- */

static int analysis_phases(const struct ct_sqlite_analysis *a, struct ct_db *db)
{
	static const struct ct_column stage_columns[] = {
		{ "pid", NULL, CT_CELL_ID, 0 }, { "generation", NULL, CT_CELL_COUNT, 0 },
		{ "stage", NULL, CT_CELL_TEXT, 0 }, { "start", NULL, CT_CELL_TIME, 0 }, { "end", NULL, CT_CELL_TIME, 0 },
	}, iteration_columns[] = {
		{ "pid", NULL, CT_CELL_ID, 0 }, { "generation", NULL, CT_CELL_COUNT, 0 }, { "tid", NULL, CT_CELL_ID, 0 },
		{ "iteration", NULL, CT_CELL_COUNT, 0 }, { "start", NULL, CT_CELL_TIME, 0 },
		{ "end", NULL, CT_CELL_TIME, 0 }, { "launches", NULL, CT_CELL_COUNT, 0 },
	};
	struct ct_table stages, iterations;
	uint64_t start = a->trace.reg.start;
	int rc;

	ct_table_begin(&stages, "CUDATRACE_STAGES", "", stage_columns, 5);
	ct_table_begin(&iterations, "CUDATRACE_ITERATIONS", "", iteration_columns, 7);
	for (unsigned int i = 0; i < a->phases.processes_count; i++) {
		const struct ct_process_phases *p = &a->phases.processes[i];
		struct ct_cell *row;

		for (unsigned int k = 0; k < p->stages_count; k++) {
			row = ct_table_row(&stages);
			row[0] = ct_u64(p->pid);
			row[1] = ct_u64(p->generation);	/* the how manyth process of this pid, from 0 */
			row[2] = ct_const(ct_stage_word[p->stages[k].stage]);
			row[3] = ct_u64(p->stages[k].begin - start);
			row[4] = ct_u64(p->stages[k].end - start);
		}
		for (uint32_t k = 0; k < p->iterations_count; k++) {
			row = ct_table_row(&iterations);
			row[0] = ct_u64(p->pid);
			row[1] = ct_u64(p->generation);
			row[2] = ct_u64(p->tid);
			row[3] = ct_u64(k + 1);
			row[4] = ct_u64(p->iterations[k].begin - start);
			row[5] = ct_u64(p->iterations[k].end - start);
			row[6] = ct_u64(p->iterations[k].launches);
		}
	}
	rc = ct_table_end(&stages);
	rc = rc ? rc : ct_table_end(&iterations);
	rc = rc ? rc : analysis_table(db, &stages, stages.name);
	rc = rc ? rc : analysis_table(db, &iterations, iterations.name);
	ct_table_free(&stages);
	ct_table_free(&iterations);
	return rc;
}

static int analysis_reports(const struct ct_sqlite_analysis *a, struct ct_db *db)
{
	char name[80];
	int rc = 0;

	for (unsigned int i = 0; i < ct_reports_count; i++) {
		const struct ct_analysis *report = ct_engine_result(a->engine, ct_reports[i]);

		for (unsigned int k = 0; report && k < report->tables_count && !rc; k++) {
			snprintf(name, sizeof(name), "report_%s", report->tables[k].name);
			rc = analysis_table(db, &report->tables[k], name);
		}
	}
	return rc;
}

int ct_sqlite_analysis_write(struct ct_sqlite_analysis *a, struct ct_db *db)
{
	int rc;

	analysis_wait(a);
	if (a->rc)
		return ct_fail(db->err, -a->rc, "%s", *a->err.text ? a->err.text : strerror(-a->rc));
	rc = analysis_phases(a, db);
	rc = rc ? rc : analysis_reports(a, db);
	rc = rc ? rc : analysis_table(db, &a->verdicts, "CUDATRACE_VERDICTS");
	return rc ? rc : analysis_table(db, &a->findings, "CUDATRACE_FINDINGS");
}
