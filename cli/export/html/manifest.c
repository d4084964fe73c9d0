// SPDX-License-Identifier: LGPL-2.1-or-later
/* See manifest.h.  Must never show a figure of a simulated GPU without saying so. */
#include "export/html/manifest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analysis/gpu/coverage.h"
#include "analysis/program/outliers.h"
#include "explain/findings.h"
#include "export/html/html_job.h"
#include "export/html/json.h"
#include "table/short_name.h"
#include "trace/about/machine.h"

#define STORY_PROCESSES	100u
#define STORY_KERNELS	4096u	/* with a short name */
#define STORY_NAME	4000u	/* bytes of a name */
#define STORY_MISSING	8u	/* processes, of records of the GPU */

static int64_t manifest_ns(const struct ct_html_manifest *s, uint64_t ts)
{
	return ct_html_moment(s->trace, ts);
}

static const char *manifest_process(const struct ct_html_manifest *s, uint32_t pid)
{
	return ct_processes_word(s->explain->analysis->processes, pid);
}

/* The process that the page is about: with the most launches, or the first that calls libcuda. */
static int manifest_main(const struct ct_html_manifest *s)
{
	const struct ct_phases *phases = s->explain->phases;

	if (phases->main >= 0)
		return phases->main;
	for (unsigned int i = 0; i < phases->processes_count; i++)
		if (phases->processes[i].stages_count)
			return i;
	return -1;
}

const char *ct_html_manifest_title(const struct ct_html_manifest *s)
{
	const char *command = ct_registry_info(&s->trace->reg, "command");

	return command && *command ? command : "cudatrace";
}

/* ------------------------------------------------------------------- head --- */

static void manifest_when(const struct ct_html_manifest *s, char when[32])
{
	time_t seconds = s->trace->reg.realtime / 1000000000;
	struct tm tm;

	*when = 0;
	if (s->trace->reg.realtime && gmtime_r(&seconds, &tm))
		strftime(when, 32, "%Y-%m-%dT%H:%M:%SZ", &tm);
}

/* How it was recorded: "module", "files". */
static const char *manifest_way(const struct ct_html_manifest *s)
{
	return ct_registry_info(&s->trace->reg, "way") ? : ct_registry_info(&s->trace->reg, "sink");
}

static void manifest_trace(const struct ct_html_manifest *s, struct ct_out *out)
{
	const struct ct_registry *reg = &s->trace->reg;
	const struct ct_totals *totals = s->explain->analysis->totals;
	uint64_t first = totals->points ? totals->first : reg->start, last = totals->points ? totals->last : reg->start;
	int main = manifest_main(s);
	char when[32];

	manifest_when(s, when);
	ct_html_text(out, "\"trace\":{\"command\":", ct_registry_info(reg, "command"));
	ct_html_text(out, ",\"program\":", main < 0 ? NULL : manifest_process(s, s->explain->phases->processes[main].pid));
	ct_html_text(out, ",\"recorded\":", *when ? when : NULL);
	ct_html_s64(out, ",\"begin\":", manifest_ns(s, first));
	ct_html_s64(out, ",\"end\":", manifest_ns(s, last));
	ct_html_u64(out, ",\"duration_ns\":", last - first);
	ct_html_text(out, ",\"host\":", ct_registry_info(reg, "hostname"));
	ct_html_text(out, ",\"kernel\":", ct_registry_info(reg, "kernel"));
	ct_html_text(out, ",\"driver\":", ct_registry_info(reg, "driver"));
	ct_html_text(out, ",\"gpu\":", ct_registry_info(reg, "gpu"));
	ct_html_bool(out, ",\"module\":", s->trace->has_kernel);
	ct_html_bool(out, ",\"simulated\":", s->trace->simulated);
	ct_html_bool(out, ",\"unfinished\":", s->trace->unfinished);
	ct_html_u64(out, ",\"records\":", s->sampling->records);
	ct_html_u64(out, ",\"processes\":", totals->processes);
	ct_html_u64(out, ",\"threads\":", totals->threads);
	ct_html_u64(out, ",\"lost\":", s->trace->lost);
	ct_html_u64(out, ",\"packets_lost\":", s->trace->packets_lost);
	ct_html_text(out, ",\"tracer\":", ct_registry_info(reg, "tracer"));
	ct_html_text(out, ",\"version\":", CT_VERSION);
	ct_out_text(out, "},\n");
}

static void manifest_fact(struct ct_out *out, bool *some, const char *label, const char *value)
{
	if (!value || !*value)
		return;
	ct_html_text(out, *some ? ",[" : "[", label);
	ct_html_text(out, ",", value);
	ct_out_char(out, ']');
	*some = true;
}

/* Where it was recorded. */
static void manifest_machine(const struct ct_html_manifest *s, const struct ct_machine *m, struct ct_out *out, bool *some)
{
	char text[1000] = "";
	size_t used = 0;

	manifest_fact(out, some, "GPU", s->trace->simulated ? NULL : ct_machine_gpus(m, text, sizeof(text)));
	manifest_fact(out, some, "driver", m->driver);
	manifest_fact(out, some, "CUDA", m->cuda);
	manifest_fact(out, some, "libraries", ct_machine_versions_text(m, text, sizeof(text)));
	*text = 0;
	for (unsigned int i = 0; i < m->env_count && used < sizeof(text); i++)
		used += snprintf(text + used, sizeof(text) - used, "%s%s", i ? ", " : "", m->env[i]);
	manifest_fact(out, some, "environment", text);
	manifest_fact(out, some, "Linux", m->linux_release);
}

static void manifest_threads(const struct ct_machine *m, struct ct_out *out)
{
	ct_out_text(out, "\"thread_names\":[");
	for (unsigned int i = 0; i < m->threads_count; i++) {
		ct_html_u64(out, i ? ",[" : "[", m->threads[i].pid);
		ct_html_u64(out, ",", m->threads[i].tid);
		ct_html_text(out, ",", m->threads[i].name);
		ct_out_char(out, ']');
	}
	ct_out_text(out, "],\n");
}

/* Names of kernels that are shown in short: a page has few. */
static void manifest_kernels(const struct ct_html_manifest *s, struct ct_out *out)
{
	struct ct_names *names = s->explain->analysis->names;
	unsigned int shown = 0;
	char name[512];

	ct_out_text(out, "\"kernel_names\":[");
	for (uint32_t i = 1; i < s->trace->reg.strings_count && shown < STORY_KERNELS; i++) {
		const char *whole = ct_names_string(names, i);

		if (!whole || strlen(whole) > STORY_NAME || !strcmp(ct_short_kernel(name, sizeof(name), whole), whole))
			continue;
		ct_html_text(out, shown++ ? ",\n[" : "[", whole);
		ct_html_text(out, ",", name);
		ct_out_char(out, ']');
	}
	ct_out_text(out, "],\n");
}

static int manifest_facts(const struct ct_html_manifest *s, struct ct_out *out)
{
	const struct ct_registry *reg = &s->trace->reg;
	const struct ct_totals *totals = s->explain->analysis->totals;
	const char *way = manifest_way(s), *by = way;
	char text[256], ns[CT_TERM_TEXT], count[CT_TERM_TEXT], when[32];
	struct ct_machine *m = calloc(1, sizeof(*m));
	int rc = m ? ct_machine_read(m, reg) : -ENOMEM;
	bool some = false;

	if (way)
		by = !strcmp(way, "module") || !strcmp(way, "device") ? "by the kernel module" :
		     !strcmp(way, "files") ? "without the kernel module" : way;
	manifest_when(s, when);
	ct_out_text(out, "\"facts\":[");
	if (s->trace->simulated)
		manifest_fact(out, &some, "GPU", "simulated: these figures are of a simulated libcuda, not of a device");
	manifest_fact(out, &some, "command", ct_registry_info(reg, "command"));
	snprintf(text, sizeof(text), "%s, for %s%s%.60s", when,
		 ct_term_ns(ns, totals->points ? totals->last - totals->first : 0), by ? ", " : "", by ? by : "");
	manifest_fact(out, &some, "recorded", text);
	snprintf(text, sizeof(text), "%s records, %u process%s, %u thread%s%s",
		 ct_term_count(count, s->trace->records), totals->processes, totals->processes == 1 ? "" : "es",
		 totals->threads, totals->threads == 1 ? "" : "s",
		 s->trace->unfinished ? "; not finished: this is what is there by now" : "");
	manifest_fact(out, &some, "trace", text);
	manifest_fact(out, &some, "damaged", ct_registry_info(reg, CT_DAMAGED_INFO));
	manifest_fact(out, &some, "host", ct_registry_info(reg, "hostname"));
	if (!rc)
		manifest_machine(s, m, out, &some);
	if (s->trace->lost || s->trace->packets_lost) {
		snprintf(text, sizeof(text), "%s records and %llu packets: what they would show is missing",
			 ct_term_count(count, s->trace->lost), (unsigned long long)s->trace->packets_lost);
		manifest_fact(out, &some, "lost", text);
	}
	ct_out_text(out, "],\n");
	if (m) {
		manifest_threads(m, out);
		ct_machine_free(m);
	}
	free(m);
	manifest_kernels(s, out);
	return rc;
}

/* --------------------------------------------------------------- verdicts --- */

static void manifest_verdict(struct ct_html_manifest *s, unsigned int process, struct ct_out *out)
{
	const struct ct_process_phases *p = &s->explain->phases->processes[process];
	enum ct_limit limit;
	char text[1024];

	ct_explain_choose(s->explain, process);
	limit = ct_findings_verdict(s->explain, text, sizeof(text));
	ct_html_u64(out, "{\"pid\":", p->pid);
	ct_html_text(out, ",\"process\":", manifest_process(s, p->pid));
	ct_html_text(out, ",\"limited_by\":", ct_limit_word(limit));
	ct_html_bool(out, ",\"known\":", limit != CT_LIMIT_UNKNOWN);
	ct_html_text(out, ",\"text\":", text);
	ct_verdict_startup(p, text, sizeof(text));
	ct_html_text(out, ",\"startup\":", *text ? text : NULL);
	ct_out_char(out, '}');
}

/* Where the trace was to have records of the GPU, and lacks some. */
static void manifest_gpu_missing(struct ct_html_manifest *s, struct ct_out *out)
{
	const struct ct_gpu_coverage *c = ct_explain_state(s->explain, &ct_gpu_coverage_analyser);
	char missing[700], text[900];
	unsigned int shown = 0;

	ct_out_text(out, "\"gpu_missing\":[");
	for (unsigned int i = 0; ct_gpu_asked(s->trace) && i < c->count && shown < STORY_MISSING; i++) {
		ct_gpu_cover_text(s->trace, &c->list[i], true, missing, sizeof(missing));
		if (!*missing)
			continue;
		snprintf(text, sizeof(text), "Process %u: %s.", (uint32_t)c->list[i].pid, missing);
		ct_html_text(out, shown++ ? "," : "", text);
	}
	ct_out_text(out, "],\n");
}

static void manifest_verdicts(struct ct_html_manifest *s, struct ct_out *out)
{
	const struct ct_phases *phases = s->explain->phases;
	unsigned int shown = 0;
	int main = manifest_main(s);

	ct_out_text(out, "\"verdict\":");
	if (main >= 0)
		manifest_verdict(s, main, out);
	else
		ct_out_text(out, "null");
	ct_out_text(out, ",\n\"verdicts\":[");
	for (unsigned int i = 0; i < phases->processes_count && shown < STORY_PROCESSES; i++) {
		if (!phases->processes[i].stages_count)
			continue;
		ct_out_text(out, shown++ ? ",\n" : "\n");
		manifest_verdict(s, i, out);
	}
	ct_out_text(out, "],\n");
}

/* ------------------------------------------------- stages and iterations --- */

static void manifest_stages(const struct ct_html_manifest *s, struct ct_out *out)
{
	const struct ct_phases *phases = s->explain->phases;
	unsigned int shown = 0;
	bool some = false;

	ct_out_text(out, "\"stages\":[");
	for (unsigned int i = 0; i < phases->processes_count && shown < STORY_PROCESSES; i++) {
		const struct ct_process_phases *p = &phases->processes[i];

		shown += p->stages_count > 0;
		for (unsigned int k = 0; k < p->stages_count; k++) {
			const struct ct_stage_span *span = &p->stages[k];
			int64_t begin = manifest_ns(s, span->begin), end = manifest_ns(s, span->end);

			ct_html_text(out, some ? ",\n{\"name\":" : "\n{\"name\":", ct_stage_word[span->stage]);
			ct_html_u64(out, ",\"pid\":", p->pid);
			ct_html_text(out, ",\"process\":", manifest_process(s, p->pid));
			ct_html_s64(out, ",\"begin\":", begin);
			/* Times of a damaged trace may go back. */
			ct_html_s64(out, ",\"end\":", end > begin ? end : begin);
			ct_html_text(out, ",\"text\":", ct_stage_text[span->stage]);
			ct_out_char(out, '}');
			some = true;
		}
	}
	ct_out_text(out, "],\n");
}

static int manifest_iteration_columns(const struct ct_html_manifest *s, const struct ct_process_phases *p,
				      const struct ct_iteration_account *account, struct ct_html_blobs *blobs)
{
	uint64_t *values = calloc(p->iterations_count + 1, sizeof(*values));

	if (!values)
		return -ENOMEM;
#define COLUMN(word, coding, value)					\
	for (uint32_t i = 0; i < p->iterations_count; i++)		\
		values[i] = value;					\
	ct_html_column(blobs, coding, values, p->iterations_count, "iterations." word);
	COLUMN("begin", CT_HTML_DELTA, manifest_ns(s, p->iterations[i].begin))
	COLUMN("duration", CT_HTML_VARINT, p->iterations[i].end - p->iterations[i].begin)
	COLUMN("launches", CT_HTML_VARINT, p->iterations[i].launches)
	COLUMN("waiting", CT_HTML_VARINT, account ? account[i].wait : 0)
#undef COLUMN
	free(values);
	return 0;
}

static int manifest_iterations(const struct ct_html_manifest *s, struct ct_html_blobs *blobs, struct ct_out *out)
{
	static const char *const how[] = {
		[CT_ITER_NONE] = "none", [CT_ITER_RANGES] = "ranges", [CT_ITER_MARKS] = "marks",
		[CT_ITER_PATTERN] = "pattern",
	};
	const struct ct_accounting *accounts = ct_analysis_state(s->explain->analysis, &ct_accounting_analyser);
	const struct ct_process_phases *p;
	struct ct_iteration_stats stats = { 0 };
	int main = manifest_main(s), rc;

	ct_out_text(out, "\"iterations\":");
	if (main < 0) {
		ct_out_text(out, "null,\n");
		return 0;
	}
	p = &s->explain->phases->processes[main];
	ct_html_u64(out, "{\"pid\":", p->pid);
	if (!p->iterations_count) {
		ct_html_text(out, ",\"why_none\":", p->why_none);
		ct_out_text(out, "},\n");
		return 0;
	}
	rc = ct_iteration_stats(&stats, p, false);
	ct_html_u64(out, ",\"tid\":", p->tid);
	ct_html_text(out, ",\"how\":", how[p->source]);
	ct_html_text(out, ",\"what\":", p->what);
	/* The statistics are of the steady state. */
	ct_html_u64(out, ",\"count\":", stats.count + p->iterations_dropped);
	ct_html_u64(out, ",\"warmup\":", ct_phases_warmup(p));
	ct_html_u64(out, ",\"longer\":", stats.longer);
	ct_html_u64(out, ",\"kept\":", p->iterations_count);
	ct_html_double(out, ",\"median\":", stats.median);
	ct_html_u64(out, ",\"p95\":", stats.p95);
	ct_html_u64(out, ",\"max\":", stats.max);
	ct_out_text(out, ",\"blobs\":{\"begin\":\"iterations.begin\",\"duration\":\"iterations.duration\","
		    "\"launches\":\"iterations.launches\",\"waiting\":\"iterations.waiting\"}},\n");
	free(stats.sorted);
	return rc ? rc : manifest_iteration_columns(s, p, accounts->processes[main].iterations, blobs);
}

/* --------------------------------------------------------------- findings --- */

int ct_html_manifest_records(const struct ct_html_manifest *s, struct ct_html_sampling *sampling)
{
	for (unsigned int i = 0; i < s->explain->count; i++) {
		const struct ct_finding *f = &s->explain->list[i];

		for (unsigned int k = 0; k < f->evidence_count; k++)
			if (ct_html_sampling_always(sampling, f->evidence[k].op_id, manifest_ns(s, f->evidence[k].ts),
						    f->evidence[k].tid))
				return -ENOMEM;
	}
	return 0;
}

static void manifest_evidence(const struct ct_html_manifest *s, const struct ct_finding *f, struct ct_out *out)
{
	for (unsigned int k = 0; k < f->evidence_count; k++) {
		const struct ct_evidence *e = &f->evidence[k];
		int track = ct_html_sampling_track(s->sampling, e->op_id, manifest_ns(s, e->ts), e->tid);

		ct_html_text(out, k ? ",{\"label\":" : "{\"label\":", e->class->name);
		ct_html_s64(out, ",\"begin\":", manifest_ns(s, e->ts));
		ct_html_s64(out, ",\"end\":", manifest_ns(s, e->ts) + (int64_t)e->ns);
		ct_html_u64(out, ",\"pid\":", f->pid);
		ct_html_u64(out, ",\"tid\":", e->tid);
		ct_html_u64(out, ",\"op\":", e->op_id);
		if (track >= 0)
			ct_html_u64(out, ",\"track\":", track);
		ct_out_char(out, '}');
	}
}

static void manifest_findings(const struct ct_html_manifest *s, struct ct_out *out)
{
	ct_out_text(out, "\"findings\":[");
	for (unsigned int i = 0; i < s->explain->count; i++) {
		const struct ct_finding *f = &s->explain->list[i];
		double share = ct_finding_gain(f);

		ct_html_text(out, i ? ",\n{\"rule\":" : "\n{\"rule\":", f->rule->name);
		ct_html_text(out, ",\"severity\":", share >= 20 ? "high" : share >= 5 ? "medium" : "low");
		ct_html_text(out, ",\"certainty\":", ct_certainty_word[f->certainty]);
		ct_html_text(out, ",\"title\":", f->rule->summary);
		ct_html_text(out, ",\"text\":", f->what);
		ct_html_u64(out, ",\"pid\":", f->pid);
		ct_html_text(out, ",\"process\":", manifest_process(s, f->pid));
		ct_html_text(out, ",\"scope\":", ct_scope_word[f->scope]);
		ct_html_u64(out, ",\"cost_ns\":", f->cost);
		ct_html_bool(out, ",\"at_most\":", f->at_most);
		ct_html_double(out, ",\"share\":", f->share);
		ct_html_bool(out, ",\"estimate\":", f->estimate);
		ct_html_u64(out, ",\"gain_ns\":", f->gain);
		ct_html_double(out, ",\"gain\":", share);
		ct_html_u64(out, ",\"least_ns\":", f->least);
		ct_html_bool(out, ",\"part\":", f->part);
		if (f->lines)
			ct_html_text(out, ",\"lines\":", f->lines);
		ct_out_text(out, ",\"try\":[");
		if (f->advice)
			ct_html_text(out, "", f->advice);
		ct_out_text(out, "],\"records\":[");
		manifest_evidence(s, f, out);
		ct_out_text(out, "]}");
	}
	ct_out_text(out, "],\n");
}

int ct_html_manifest_write(struct ct_html_manifest *s, struct ct_html_blobs *blobs, struct ct_out *out)
{
	int rc;

	manifest_trace(s, out);
	rc = manifest_facts(s, out);
	if (rc)
		return rc;
	manifest_verdicts(s, out);
	rc = ct_html_job(s->explain, out);
	if (rc)
		return rc;
	manifest_gpu_missing(s, out);
	manifest_stages(s, out);
	rc = manifest_iterations(s, blobs, out);
	manifest_findings(s, out);
	return rc;
}
