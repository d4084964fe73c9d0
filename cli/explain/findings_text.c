// SPDX-License-Identifier: LGPL-2.1-or-later
/* See findings_text.h.  Must never send a text of the trace to a terminal as it is. */
#include "explain/findings_text.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/gpu/coverage.h"
#include "analysis/ranks/job_verdict.h"
#include "analysis/stacks/quiet.h"
#include "explain/findings.h"
#include "view/term.h"

#define PROCESSES_SHOWN	8
#define LEAST_SAID	1.0	/* %: less than that is as good as nothing */
#define TEXT_COLUMNS	100	/* where no terminal says how many */
#define TEXT_MOST	120	/* wider text is hard to read */

/* Where the text goes. */
struct findings_page {
	FILE *out;
	unsigned int width;
	bool colour;
};

static void findings_begin(const struct findings_page *to, const char *how)
{
	fputs(to->colour ? how : "", to->out);
}

static void findings_end(const struct findings_page *to)
{
	fputs(to->colour ? CT_TERM_PLAIN : "", to->out);
}

static void findings_put(const struct findings_page *to, const char *how, const char *text)
{
	findings_begin(to, how);
	fputs(text, to->out);
	findings_end(to);
}

/* The first line begins at column @at already. */
static void findings_wrap(const struct findings_page *to, const char *text, unsigned int indent, unsigned int at)
{
	ct_term_wrap(to->out, text, to->width, indent, at);
}

static void findings_print_evidence(const struct ct_explain *x, const struct ct_finding *f,
				    const struct findings_page *to)
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
	findings_put(to, CT_TERM_DIM, "    record: ");
	findings_wrap(to, text, 12, 12);
}

/* Which lines of the program have most of it. */
static void findings_print_lines(const struct ct_finding *f, const struct findings_page *to)
{
	if (!f->lines)
		return;
	findings_put(to, CT_TERM_DIM, "    lines: ");
	findings_wrap(to, f->lines, 11, 11);
	if (!f->source)
		return;
	fprintf(to->out, "%11s", "");
	findings_wrap(to, f->source, 13, 11);
}

static const char *findings_how(const struct ct_finding *f)
{
	return f->estimate ? "about " : f->at_most ? "up to " : "";
}

/* "up to 12.3 % ", "8.1 to 12.3 % ", or nothing of what is too little. */
static void findings_gain(const struct ct_finding *f, char *buf, size_t size)
{
	double percent = ct_finding_gain(f), least = ct_finding_least(f);

	*buf = 0;
	if (!f->estimate && least >= LEAST_SAID && percent - least >= 0.1)
		snprintf(buf, size, "%.1f to %.1f %% ", least, percent);
	else if (percent >= 0.05)
		snprintf(buf, size, "%s%.1f %% ", f->gain < f->cost ? "up to " : findings_how(f), percent);
}

/* What shows a finding, and below it what to try, by what each could gain. */
static void findings_print_parts(const struct ct_explain *x, const struct ct_finding *head,
				 const struct findings_page *to)
{
	const struct ct_finding *end = x->list + x->count;
	char text[2300], gain[32];

	for (const struct ct_finding *f = head + 1; f < end && f->part && f->group == head->group; f++) {
		findings_put(to, CT_TERM_DIM, "    seen: ");
		snprintf(text, sizeof(text), "%s (%s, %s)", f->what ? f->what : "", f->rule->name,
			 ct_certainty_word[f->certainty]);
		findings_wrap(to, text, 10, 10);
		findings_print_lines(f, to);
		findings_print_evidence(x, f, to);
	}
	for (const struct ct_finding *f = head + 1; f < end && f->part && f->group == head->group; f++) {
		if (!f->advice)
			continue;
		findings_gain(f, gain, sizeof(gain));
		if (*gain)
			gain[strlen(gain) - 1] = 0;
		snprintf(text, sizeof(text), "    try%s%s:", *gain ? ", to gain " : "", gain);
		findings_put(to, CT_TERM_GREEN, text);
		findings_wrap(to, f->advice, 9, strlen(text));
	}
}

/* The share stands in front already: not again as "(91.8 %)" in the text. */
static void findings_once(char *text, const char *gain, double percent)
{
	char again[32], *at;
	size_t n = snprintf(again, sizeof(again), " (%.1f %%)", percent);

	at = *gain ? strstr(text, again) : NULL;
	if (at)
		memmove(at, at + n, strlen(at + n) + 1);
}

/* A finding that is no part of another one. */
static void findings_print_row(const struct ct_explain *x, const struct ct_finding *f, unsigned int number,
			       bool several, const struct findings_page *to)
{
	char head[96], gain[32], text[2200];

	findings_gain(f, gain, sizeof(gain));
	snprintf(head, sizeof(head), "%2u. %s", number, gain);
	findings_put(to, CT_TERM_BOLD, head);
	if (several)
		snprintf(text, sizeof(text), "[%u] %s", f->pid, f->what ? f->what : "");
	else
		snprintf(text, sizeof(text), "%s", f->what ? f->what : "");
	findings_once(text, gain, ct_finding_gain(f));
	findings_wrap(to, text, 4, strlen(head));
	findings_print_lines(f, to);
	if (f->advice) {
		findings_put(to, CT_TERM_GREEN, "    try: ");
		findings_wrap(to, f->advice, 9, 9);
	}
	findings_print_evidence(x, f, to);
	findings_print_parts(x, f, to);
	snprintf(text, sizeof(text), "    %s (%s)\n", ct_certainty_word[f->certainty], f->rule->name);
	findings_put(to, f->certainty == CT_SURE ? CT_TERM_CYAN : CT_TERM_YELLOW, text);
}

/* Other processes of which the same is found: a line instead of all of it again. */
static void findings_print_others(const struct ct_explain *x, const struct ct_finding *first,
				  const struct findings_page *to)
{
	char text[400], gain[32];
	size_t used = 0;
	unsigned int more = 0;

	for (const struct ct_finding *f = first + 1; f < x->list + x->count; f++) {
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
	fputs("    the same in", to->out);
	findings_wrap(to, text, 4, 15);
}

static bool findings_told(const struct ct_explain *x, const struct ct_finding *f)
{
	for (const struct ct_finding *before = x->list; before < f; before++)
		if (!before->part && before->rule == f->rule && before->scope == f->scope && before->pid != f->pid)
			return true;
	return false;
}

static void findings_print_head(const struct ct_explain *x, const struct findings_page *to)
{
	const char *command = ct_registry_info(&x->trace->reg, "command");
	const char *damage = ct_registry_info(&x->trace->reg, CT_DAMAGED_INFO);
	char line[512];

	if (x->trace->simulated)
		fprintf(to->out, "*** SIMULATED GPU: this says nothing of a device ***\n");
	if (command)
		fprintf(to->out, "command   %s\n", ct_term_clean(line, sizeof(line), command, to->width - 10));
	if (damage)
		fprintf(to->out, "damaged   %s\n", ct_term_clean(line, sizeof(line), damage, to->width - 10));
	if (x->trace->lost)
		fprintf(to->out, "lost      %llu record%s: what %s would show is missing\n",
			(unsigned long long)x->trace->lost, x->trace->lost == 1 ? "" : "s",
			x->trace->lost == 1 ? "it" : "they");
}

/* What is missing of the GPU's work. */
static void findings_print_coverage(struct ct_explain *x, const struct findings_page *to)
{
	const struct ct_gpu_cover *p = ct_gpu_cover(ct_explain_state(x, &ct_gpu_coverage_analyser), x->process->pid);
	char text[700];

	if (!p || !ct_gpu_asked(x->trace))
		return;
	ct_gpu_cover_text(x->trace, p, true, text, sizeof(text));
	if (!*text)
		return;
	fputs("    ", to->out);
	findings_wrap(to, text, 4, 4);
}

/* Whether the process gave the GPU work: a launcher (torchrun) gave none. */
static bool findings_works(const struct ct_process_phases *p)
{
	uint64_t begin, end;

	return ct_phases_main(p, &begin, &end) && p->works;
}

/* The stages in which the processes do their work. */
static const char *findings_main(const struct ct_explain *x)
{
	bool steady = false, execution = false;

	for (unsigned int i = 0; i < x->phases->processes_count; i++)
		for (unsigned int k = 0; k < x->phases->processes[i].stages_count; k++) {
			steady |= x->phases->processes[i].stages[k].stage == CT_STAGE_STEADY;
			execution |= ct_phases_other(&x->phases->processes[i]) != 0;
		}
	return execution ? "execution and the steady state" : steady ? "steady state" : "execution";
}

/* Processes that called libcuda and gave the GPU no work, in a line. */
static void findings_print_launchers(const struct ct_explain *x, const struct findings_page *to)
{
	char text[512], name[96];
	unsigned int more = 0;
	size_t used = 0;

	for (unsigned int i = 0; i < x->phases->processes_count; i++) {
		const struct ct_process_phases *p = &x->phases->processes[i];

		if (!p->stages_count || findings_works(p))
			continue;
		if (used + sizeof(name) + 16 > sizeof(text)) {
			more++;
			continue;
		}
		used += snprintf(text + used, sizeof(text) - used, "%s%s", used ? ", " : "",
				 ct_processes_name_at(x->analysis->processes, p->pid, p->end, name, sizeof(name)));
	}
	if (!used)
		return;
	if (more)
		snprintf(text + used, sizeof(text) - used, " and %u more", more);
	fputs("  Gave the GPU no work:", to->out);
	findings_wrap(to, text, 4, 23);
}

static void findings_print_verdict(struct ct_explain *x, unsigned int process, const struct findings_page *to)
{
	const struct ct_process_phases *p = &x->phases->processes[process];
	char name[96], text[1024];

	ct_explain_choose(x, process);
	fprintf(to->out, "  %s\n", ct_processes_name_at(x->analysis->processes, p->pid, p->end, name,
			    to->width - 1 < sizeof(name) ? to->width - 1 : sizeof(name)));
	ct_findings_verdict(x, text, sizeof(text));
	fputs("    ", to->out);
	findings_begin(to, CT_TERM_BOLD);
	findings_wrap(to, text, 4, 4);
	findings_end(to);
	findings_print_coverage(x, to);
	ct_verdict_startup(x->process, text, sizeof(text));
	if (!*text)
		return;
	fputs("    ", to->out);
	findings_wrap(to, text, 4, 4);
}

/* What is to be said of all ranks of a job, before each of them. */
static void findings_print_job(struct ct_explain *x, const struct findings_page *to)
{
	const struct ct_job *job = ct_explain_state(x, &ct_job_analyser);
	char text[1200];

	for (unsigned int i = 0; ct_job_verdict(x->analysis, job, i, text, sizeof(text)); i++) {
		if (!i && !job->count)
			fputs("  job\n", to->out);
		else if (!i)
			fprintf(to->out, "  job, %u rank%s recorded\n", job->count, job->count == 1 ? "" : "s");
		fputs("    ", to->out);
		findings_begin(to, CT_TERM_BOLD);
		findings_wrap(to, text, 4, 4);
		findings_end(to);
	}
}

/* Of summaries nothing else is known. */
static void findings_print_summaries(const struct ct_summaries *s, const struct findings_page *to)
{
	char text[400];
	size_t used;

	used = snprintf(text, sizeof(text), "By %u %s: only who waits for whom is judged. What limits a rank its own trace says.",
			s->files, s->files == 1 ? "summary" : "summaries");
	if (s->stride > 1)
		snprintf(text + used, sizeof(text) - used, " Each %u%s collective was kept; times are those of all.", s->stride,
			 s->stride == 2 ? "nd" : "th");
	fputs("    ", to->out);
	findings_wrap(to, text, 4, 4);
}

/* Processes that were attached to and made no call.  Their number. */
static unsigned int findings_print_quiet(const struct ct_explain *x, const struct findings_page *to)
{
	struct ct_quiets *q = malloc(sizeof(*q));
	unsigned int count;
	char text[1024];

	if (!q || ct_quiets_find(q, x->trace, x->phases)) {
		if (q)
			ct_quiets_free(q);
		free(q);
		return 0;
	}
	count = q->count;
	for (unsigned int i = 0; i < count; i++) {
		fprintf(to->out, "  %s\n    ", ct_quiet_name(x->trace, x->analysis->processes, &q->list[i], text, 96));
		ct_quiet_text(&x->trace->reg, &q->list[i], text, sizeof(text));
		*text = 'I';
		findings_begin(to, CT_TERM_BOLD);
		findings_wrap(to, text, 4, 4);
		findings_end(to);
	}
	ct_quiets_free(q);
	free(q);
	return count;
}

static void findings_print_verdicts(struct ct_explain *x, const struct findings_page *to)
{
	unsigned int shown = 0, more = 0, all = 0;

	fputc('\n', to->out);
	findings_put(to, CT_TERM_BOLD, "VERDICT\n");
	findings_print_job(x, to);
	if (x->trace->summaries) {
		findings_print_summaries(x->trace->summaries, to);
		return;
	}
	for (unsigned int i = 0; i < x->phases->processes_count; i++) {
		all += x->phases->processes[i].stages_count > 0;
		if (!findings_works(&x->phases->processes[i]))
			continue;
		if (shown == PROCESSES_SHOWN) {
			more++;
			continue;
		}
		shown++;
		findings_print_verdict(x, i, to);
	}
	if (more)
		fprintf(to->out, "  ... and %u more process%s\n", more, more == 1 ? "" : "es");
	findings_print_launchers(x, to);
	all += findings_print_quiet(x, to);
	if (!all)
		fprintf(to->out, "  No process called libcuda%s.\n", x->phases->processes_count ? " in this time" : "");
}

void ct_findings_text(struct ct_explain *x, const struct ct_print_options *print, FILE *out)
{
	unsigned int width = print->width >= 40 ? print->width : TEXT_COLUMNS, number = 0, processes = 0, more = 0;
	struct findings_page page = { out, width < TEXT_MOST ? width : TEXT_MOST, print->colour }, *to = &page;
	uint64_t top = print->top ? print->top : x->count;
	char head[120];
	int scope = -1;

	for (unsigned int i = 0; i < x->phases->processes_count; i++)
		processes += x->phases->processes[i].stages_count > 0;
	findings_print_head(x, to);
	findings_print_verdicts(x, to);
	for (unsigned int i = 0; i < x->count; i++) {
		const struct ct_finding *f = &x->list[i];

		if (f->part || findings_told(x, f))
			continue;
		if (number == top) {
			more++;
			continue;
		}
		if ((int)f->scope != scope) {
			fputc('\n', out);
			snprintf(head, sizeof(head), "FINDINGS in the %s (what each could gain, of its wall time)\n",
				 f->scope == CT_SCOPE_STEADY ? findings_main(x) : "startup");
			findings_put(to, CT_TERM_BOLD, head);
		}
		scope = f->scope;
		findings_print_row(x, f, ++number, processes > 1, to);
		if (processes > 1)
			findings_print_others(x, f, to);
	}
	if (!x->count)
		fprintf(out, "\nNo rule found anything ('cudatrace explain --rules' lists what is looked for).\n");
	if (more)
		fprintf(out, "... and %u more; --top 0 shows all\n", more);
	if (x->unseen_count) {
		fputc('\n', out);
		findings_put(to, CT_TERM_BOLD, "NOT LOOKED AT\n");
	}
	for (unsigned int i = 0; i < x->unseen_count; i++) {
		fputs("  ", out);
		findings_wrap(to, x->unseen[i], 2, 2);
	}
}
