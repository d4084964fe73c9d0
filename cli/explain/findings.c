// SPDX-License-Identifier: LGPL-2.1-or-later
/* See findings.h.  Must never send a text of the trace to a terminal as it is. */
#include "explain/findings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/gpu/coverage.h"
#include "table/format.h"
#include "view/term.h"

#define PROCESSES_SHOWN	8

const char *const ct_certainty_word[] = { "sure", "likely", "possible" };
const char *const ct_scope_word[] = { "startup", "steady" };

/* ------------------------------------------------------------------- text --- */

/* The length of the "%" or the unit that @text begins with, 0: there is none. */
static unsigned int findings_unit(const char *text)
{
	static const char *const units[] = { "%", "ns", "us", "ms", "s", "B", "KiB", "MiB", "GiB", "TiB" };
	unsigned int length = strcspn(text, " ,.;:)");

	for (unsigned int i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (length == strlen(units[i]) && !strncmp(text, units[i], length))
			return strcspn(text, " ");
	return 0;
}

/* Prints @text in lines of at most @width columns; the first begins at column @at already. */
static void findings_wrap(FILE *out, const char *text, unsigned int indent, unsigned int at, unsigned int width)
{
	char clean[2048];
	const char *word = ct_term_clean(clean, sizeof(clean), text, sizeof(clean) - 2);

	while (*word) {
		unsigned int length = strcspn(word, " "), unit = word[length] ? findings_unit(word + length + 1) : 0;

		/* A number stays with its "%" or unit. */
		length += unit ? 1 + unit : 0;
		/* A word that has no room in any line is broken, not inside a character. */
		if (length > width - indent) {
			length = width - indent;
			while (length > 1 && (word[length] & 0xc0) == 0x80)
				length--;
		}
		if (at > indent && at + 1 + length > width) {
			fprintf(out, "\n%*s", indent, "");
			at = indent;
		} else if (at > indent) {
			fputc(' ', out);
			at++;
		}
		fprintf(out, "%.*s", length, word);
		at += length;
		word += length;
		word += strspn(word, " ");
	}
	fputc('\n', out);
}

static void findings_print_evidence(const struct ct_explain *x, const struct ct_finding_row *f,
				    unsigned int width, FILE *out)
{
	char text[512], name[64], ns[CT_TERM_TEXT];
	size_t used = 0;

	for (unsigned int i = 0; i < f->evidence_count; i++) {
		const struct ct_evidence *e = &f->evidence[i];

		used += snprintf(text + used, sizeof(text) - used, "%s%s at %.3f ms", i ? ", " : "",
				 ct_term_clean(name, sizeof(name), e->class->name, 40),
				 (double)(int64_t)(e->ts - x->trace->reg.start) / 1e6);
		if (e->ns && used < sizeof(text))
			used += snprintf(text + used, sizeof(text) - used, ", %s", ct_term_ns(ns, e->ns));
		if (e->op_id && used < sizeof(text))
			used += snprintf(text + used, sizeof(text) - used, " (--call %llu)",
					 (unsigned long long)e->op_id);
		if (used >= sizeof(text))
			break;
	}
	if (!f->evidence_count)
		return;
	fputs("    record: ", out);
	findings_wrap(out, text, 12, 12, width);
}

static const char *findings_how(const struct ct_finding_row *f)
{
	return f->estimate ? "about " : f->at_most ? "up to " : "";
}

/* "up to 12.3 % ", or nothing of what is too little. */
static void findings_gain(const struct ct_finding_row *f, char *buf, size_t size)
{
	double percent = ct_finding_gain(f);

	*buf = 0;
	if (percent >= 0.05)
		snprintf(buf, size, "%s%.1f %% ", f->gain < f->cost ? "up to " : findings_how(f), percent);
}

/* What shows a finding, and below it what to try, by what each could gain. */
static void findings_print_parts(const struct ct_explain *x, const struct ct_finding_row *head, unsigned int width,
				 FILE *out)
{
	const struct ct_finding_row *end = x->list + x->count;
	char text[2300], gain[32];

	for (const struct ct_finding_row *f = head + 1; f < end && f->part && f->group == head->group; f++) {
		fputs("    seen: ", out);
		snprintf(text, sizeof(text), "%s (%s, %s)", f->what ? f->what : "", f->rule->name,
			 ct_certainty_word[f->certainty]);
		findings_wrap(out, text, 10, 10, width);
		findings_print_evidence(x, f, width, out);
	}
	for (const struct ct_finding_row *f = head + 1; f < end && f->part && f->group == head->group; f++) {
		if (!f->advice)
			continue;
		findings_gain(f, gain, sizeof(gain));
		if (*gain)
			gain[strlen(gain) - 1] = 0;
		snprintf(text, sizeof(text), "    try%s%s:", *gain ? ", to gain " : "", gain);
		fputs(text, out);
		findings_wrap(out, f->advice, 9, strlen(text), width);
	}
}

/* A finding that is no part of another one. */
static void findings_print_row(const struct ct_explain *x, const struct ct_finding_row *f, unsigned int number,
			       bool several, unsigned int width, FILE *out)
{
	char head[96], gain[32], text[2200];

	findings_gain(f, gain, sizeof(gain));
	snprintf(head, sizeof(head), "%2u. %s", number, gain);
	fputs(head, out);
	if (several)
		snprintf(text, sizeof(text), "[%u] %s", f->pid, f->what ? f->what : "");
	else
		snprintf(text, sizeof(text), "%s", f->what ? f->what : "");
	findings_wrap(out, text, 4, strlen(head), width);
	if (f->advice) {
		fputs("    try: ", out);
		findings_wrap(out, f->advice, 9, 9, width);
	}
	findings_print_evidence(x, f, width, out);
	findings_print_parts(x, f, width, out);
	fprintf(out, "    %s (%s)\n", ct_certainty_word[f->certainty], f->rule->name);
}

/* Other processes of which the same is found: a line instead of all of it again. */
static void findings_print_others(const struct ct_explain *x, const struct ct_finding_row *first, unsigned int width,
				  FILE *out)
{
	char text[400], gain[32];
	size_t used = 0;
	unsigned int more = 0;

	for (const struct ct_finding_row *f = first + 1; f < x->list + x->count; f++) {
		if (f->part || f->rule != first->rule || f->scope != first->scope || f->pid == first->pid)
			continue;
		if (used + 60 > sizeof(text)) {
			more++;
			continue;
		}
		findings_gain(f, gain, sizeof(gain));
		if (*gain)
			gain[strlen(gain) - 1] = 0;
		used += snprintf(text + used, sizeof(text) - used, "%s[%u]%s%s", used ? ", " : "", f->pid, *gain ? " " : "", gain);
	}
	if (!used)
		return;
	if (more)
		snprintf(text + used, sizeof(text) - used, " and %u more", more);
	fputs("    the same in", out);
	findings_wrap(out, text, 4, 15, width);
}

static bool findings_told(const struct ct_explain *x, const struct ct_finding_row *f)
{
	for (const struct ct_finding_row *before = x->list; before < f; before++)
		if (!before->part && before->rule == f->rule && before->scope == f->scope && before->pid != f->pid)
			return true;
	return false;
}

static void findings_print_head(const struct ct_explain *x, unsigned int width, FILE *out)
{
	const char *command = ct_registry_info(&x->trace->reg, "command");
	char line[512];

	if (x->trace->simulated)
		fprintf(out, "*** SIMULATED GPU: this says nothing of a device ***\n");
	if (command)
		fprintf(out, "command   %s\n", ct_term_clean(line, sizeof(line), command, width - 10));
	if (x->trace->lost)
		fprintf(out, "lost      %llu record%s: what %s would show is missing\n",
			(unsigned long long)x->trace->lost, x->trace->lost == 1 ? "" : "s",
			x->trace->lost == 1 ? "it" : "they");
}

enum ct_limit ct_findings_verdict(const struct ct_explain *x, char *text, size_t size)
{
	struct ct_verdict v = {
		.process = x->process, .account = x->account, .idle = x->idle, .measured = x->idle_measured,
		.busy = x->busy, .queued = x->queued, .simulated = x->trace->simulated,
	};

	return ct_verdict_steady(&v, text, size);
}

/* What is missing of the GPU's work. */
static void findings_print_coverage(struct ct_explain *x, unsigned int width, FILE *out)
{
	const struct ct_gpu_cover *p = ct_gpu_cover(ct_explain_state(x, &ct_gpu_coverage_analyser), x->process->pid);
	char text[700];

	if (!p || !ct_gpu_asked(x->trace))
		return;
	ct_gpu_cover_text(x->trace, p, true, text, sizeof(text));
	if (!*text)
		return;
	fputs("    ", out);
	findings_wrap(out, text, 4, 4, width);
}

static void findings_print_verdicts(struct ct_explain *x, unsigned int width, FILE *out)
{
	char name[96], text[1024];
	unsigned int shown = 0, more = 0;

	fprintf(out, "\nVERDICT\n");
	for (unsigned int i = 0; i < x->phases->processes_count; i++) {
		const struct ct_process_phases *p = &x->phases->processes[i];

		if (!p->stages_count)
			continue;
		if (shown == PROCESSES_SHOWN) {
			more++;
			continue;
		}
		shown++;
		ct_explain_choose(x, i);
		fprintf(out, "  %s\n", ct_processes_name(x->analysis->processes, p->pid, name,
					    width - 1 < sizeof(name) ? width - 1 : sizeof(name)));
		ct_findings_verdict(x, text, sizeof(text));
		fputs("    ", out);
		findings_wrap(out, text, 4, 4, width);
		findings_print_coverage(x, width, out);
		ct_verdict_startup(x->process, text, sizeof(text));
		if (*text) {
			fputs("    ", out);
			findings_wrap(out, text, 4, 4, width);
		}
	}
	if (more)
		fprintf(out, "  ... and %u more process%s\n", more, more == 1 ? "" : "es");
	if (!shown)
		fprintf(out, "  No process of this trace called libcuda.\n");
}

static int findings_text(struct ct_explain *x, const struct ct_print_options *print, FILE *out)
{
	unsigned int width = print->width >= 40 ? print->width : 100, number = 0, processes = 0, more = 0;
	uint64_t top = print->top ? print->top : x->count;
	int scope = -1;

	for (unsigned int i = 0; i < x->phases->processes_count; i++)
		processes += x->phases->processes[i].stages_count > 0;
	findings_print_head(x, width > 120 ? 120 : width, out);
	findings_print_verdicts(x, width > 120 ? 120 : width, out);
	for (unsigned int i = 0; i < x->count; i++) {
		const struct ct_finding_row *f = &x->list[i];

		if (f->part || findings_told(x, f))
			continue;
		if (number == top) {
			more++;
			continue;
		}
		if ((int)f->scope != scope)
			fprintf(out, "\n%s\n", f->scope == CT_SCOPE_STEADY ?
				"FINDINGS in the steady state (what each could gain, of its wall time)" :
				"FINDINGS in the startup (what each could gain, of its wall time)");
		scope = f->scope;
		findings_print_row(x, f, ++number, processes > 1, width > 120 ? 120 : width, out);
		if (processes > 1)
			findings_print_others(x, f, width > 120 ? 120 : width, out);
	}
	if (!x->count)
		fprintf(out, "\nNo rule found anything ('cudatrace explain --rules' lists what is looked for).\n");
	if (more)
		fprintf(out, "... and %u more; --top 0 shows all\n", more);
	return 0;
}

/* ------------------------------------------------------------------ tables --- */

enum { PID, SCOPE, RULE, COST, BOUND, SHARE, SURE, WHAT, ADVICE, OP, OP_NAME, OP_TIME, OP_NS, OP_TID,
       GAIN, GAIN_SHARE, PART_OF, COLUMNS };

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
};

static const struct ct_column verdict_columns[] = {
	{ "Pid", NULL, CT_CELL_ID, 0 },
	{ "Scope", NULL, CT_CELL_TEXT, 0 },
	{ "Limit", NULL, CT_CELL_TEXT, 0 },
	{ "Verdict", NULL, CT_CELL_TEXT, 0 },
};

static void findings_verdict_table(struct ct_explain *x, struct ct_table *t)
{
	char text[1024];

	for (unsigned int i = 0; i < x->phases->processes_count; i++) {
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
		const struct ct_finding_row *f = &x->list[i];
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
		row[GAIN_SHARE] = ct_double(ct_finding_gain(f));
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

	if (!format)
		return findings_text(x, print, out);
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
