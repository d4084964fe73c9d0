// SPDX-License-Identifier: LGPL-2.1-or-later
/* See findings.h. */
#include "explain/findings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/gpu/coverage.h"
#include "analysis/ranks/job_verdict.h"
#include "table/format.h"
#include "view/term.h"

const char *const ct_certainty_word[] = { "sure", "likely", "possible" };
const char *const ct_scope_word[] = { "startup", "steady" };

enum ct_limit ct_findings_verdict(const struct ct_explain *x, char *text, size_t size)
{
	struct ct_verdict v;

	ct_verdict_of(&v, x->analysis, x->index);
	return ct_verdict_steady(&v, text, size);
}

/* ------------------------------------------------------------------ tables --- */

enum { PID, SCOPE, RULE, COST, BOUND, SHARE, SURE, WHAT, ADVICE, OP, OP_NAME, OP_TIME, OP_NS, OP_TID,
       GAIN, GAIN_SHARE, PART_OF, LINES, LEAST, COLUMNS };

static const struct ct_column columns[COLUMNS] = {
	[PID] = { "Pid", NULL, CT_CELL_ID, 0 },
	[SCOPE] = { "Scope", NULL, CT_CELL_TEXT, 0 },
	[RULE] = { "Rule", NULL, CT_CELL_TEXT, 0 },
	[COST] = { "Cost (ns)", "cost", CT_CELL_NS, 0 },
	[BOUND] = { "Bound", NULL, CT_CELL_TEXT, 0 },
	[SHARE] = { "Share (%)", "share", CT_CELL_PERCENT, 0 },
	[SURE] = { "Certainty", NULL, CT_CELL_TEXT, 0 },
	[WHAT] = { "Finding", NULL, CT_CELL_TEXT, 0 },
	[ADVICE] = { "Try", NULL, CT_CELL_TEXT, 0 },
	[OP] = { "OpId", NULL, CT_CELL_ID, 0 },
	[OP_NAME] = { "Call", NULL, CT_CELL_TEXT, 0 },
	[OP_TIME] = { "Start (ns)", NULL, CT_CELL_TIME, 0 },
	[OP_NS] = { "Duration (ns)", NULL, CT_CELL_NS, 0 },
	[OP_TID] = { "Tid", NULL, CT_CELL_ID, 0 },
	[GAIN] = { "Gain (ns)", NULL, CT_CELL_NS, 0 },
	[GAIN_SHARE] = { "Gain (%)", NULL, CT_CELL_PERCENT, 0 },
	[PART_OF] = { "Part Of", NULL, CT_CELL_TEXT, 0 },
	[LINES] = { "Lines", NULL, CT_CELL_TEXT, 0 },
	[LEAST] = { "Gain At Least (ns)", NULL, CT_CELL_NS, 0 },
};

static const struct ct_column verdict_columns[] = {
	{ "Pid", NULL, CT_CELL_ID, 0 },
	{ "Scope", NULL, CT_CELL_TEXT, 0 },
	{ "Limit", NULL, CT_CELL_TEXT, 0 },
	{ "Verdict", NULL, CT_CELL_TEXT, 0 },
};

static void findings_verdict_table(struct ct_explain *x, struct ct_table *t)
{
	const struct ct_job *job = ct_explain_state(x, &ct_job_analyser);
	char text[1200];

	for (unsigned int i = 0; x->trace->summaries && ct_job_verdict(x->analysis, job, i, text, sizeof(text)); i++) {
		struct ct_cell *row = ct_table_row(t);

		row[1] = ct_const(ct_scope_word[CT_SCOPE_STEADY]);
		row[3] = ct_text(t, text);
	}
	for (unsigned int i = 0; i < x->phases->processes_count && !x->trace->summaries; i++) {
		const struct ct_process_phases *p = &x->phases->processes[i];
		struct ct_cell *row;
		enum ct_limit limit;

		if (!p->stages_count)
			continue;
		ct_explain_choose(x, i);
		limit = ct_findings_verdict(x, text, sizeof(text));
		row = ct_table_row(t);
		row[0] = ct_u64(p->pid);
		row[1] = ct_const(ct_scope_word[CT_SCOPE_STEADY]);
		row[2] = ct_const(ct_limit_word(limit));
		row[3] = ct_text(t, text);
		ct_verdict_startup(x->process, text, sizeof(text));
		if (!*text)
			continue;
		row = ct_table_row(t);
		row[0] = ct_u64(p->pid);
		row[1] = ct_const(ct_scope_word[CT_SCOPE_STARTUP]);
		row[3] = ct_text(t, text);
	}
}

static void findings_table(const struct ct_explain *x, struct ct_table *t)
{
	const char *whole = NULL;

	for (unsigned int i = 0; i < x->count; i++) {
		const struct ct_finding *f = &x->list[i];
		const struct ct_evidence *e = &f->evidence[0];
		struct ct_cell *row = ct_table_row(t);

		row[PID] = ct_u64(f->pid);
		row[SCOPE] = ct_const(ct_scope_word[f->scope]);
		row[RULE] = ct_const(f->rule->name);
		row[COST] = ct_u64(f->cost);
		row[BOUND] = ct_const(f->estimate ? "estimate" : f->at_most ? "at most" : "measured");
		row[SHARE] = ct_double(f->share);
		row[SURE] = ct_const(ct_certainty_word[f->certainty]);
		row[WHAT] = ct_text(t, f->what);
		row[ADVICE] = ct_text(t, f->advice);
		row[GAIN] = ct_u64(f->gain);
		if (f->lines)
			row[LINES] = ct_text(t, f->lines);
		row[GAIN_SHARE] = ct_double(ct_finding_gain(f));
		if (f->least)
			row[LEAST] = ct_u64(f->least);
		if (!f->part)
			whole = f->rule->name;
		else
			row[PART_OF] = ct_const(whole);
		if (!f->evidence_count)
			continue;
		if (e->op_id)
			row[OP] = ct_u64(e->op_id);
		row[OP_NAME] = ct_const(e->class->name);
		row[OP_TIME] = ct_u64(e->ts > x->trace->reg.start ? e->ts - x->trace->reg.start : 0);
		/* Of a call that is only counted no duration was taken. */
		if (e->ns)
			row[OP_NS] = ct_u64(e->ns);
		row[OP_TID] = ct_u64(e->tid);
	}
}

int ct_findings_tables(struct ct_explain *x, struct ct_table *verdicts, struct ct_table *findings)
{
	int rc, ended;

	ct_table_begin(verdicts, "verdict", "Verdict", verdict_columns, 4);
	ct_table_begin(findings, "findings", "Findings", columns, COLUMNS);
	findings_verdict_table(x, verdicts);
	findings_table(x, findings);
	for (unsigned int i = 0; i < x->unseen_count; i++)
		ct_table_note(findings, "%s", x->unseen[i]);
	rc = ct_table_end(verdicts);
	ended = ct_table_end(findings);
	rc = rc ? rc : ended;
	if (rc) {
		ct_table_free(verdicts);
		ct_table_free(findings);
	}
	return rc;
}

int ct_findings_print(struct ct_explain *x, const struct ct_format *format,
		      const struct ct_print_options *print, FILE *out)
{
	struct ct_table verdicts, findings;
	struct ct_printer *p;
	int rc, closing;

	rc = ct_findings_tables(x, &verdicts, &findings);
	if (rc)
		return rc;
	p = ct_printer_open(format, out, print, true);
	rc = p ? ct_printer_table(p, &verdicts) : -ENOMEM;
	if (!rc)
		rc = ct_printer_table(p, &findings);
	closing = p ? ct_printer_close(p) : 0;
	ct_table_free(&verdicts);
	ct_table_free(&findings);
	return rc ? rc : closing;
}
