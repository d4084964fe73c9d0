// SPDX-License-Identifier: LGPL-2.1-or-later
/* See coverage.h.  Must never take what was not recorded for what did not happen. */
#include "analysis/gpu/coverage.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "trace/gpu/gpu_causes.h"
#include "view/term.h"

#define PROCESSES_MAX	16384u
#define NOTES_MAX	8u	/* processes below a table */

static bool coverage_wants(const struct ct_class *class)
{
	return class->layer == CT_LAYER_GPU || ct_class_is(class, CT_IS_WORK);
}

static int coverage_of(struct ct_gpu_coverage *c, uint32_t pid, struct ct_gpu_cover **p)
{
	*p = c->count == PROCESSES_MAX ? ct_keyed_get(c, pid) : ct_keyed_put(c, pid);
	return *p || c->count == PROCESSES_MAX ? 0 : -ENOMEM;
}

/* It starts again after an exec: what the program before did not have written by then is missing. */
static void coverage_starts(struct ct_gpu_cover *p, uint64_t ts)
{
	uint64_t until = p->stopped ? p->stopped_at : p->last > p->begun_at ? p->last : p->begun_at;

	if (p->started && !p->complete && p->answered < p->submitted) {
		if (!p->cuts++)
			p->cut_from = until;
		p->cut_to = ts;
	}
	if (!p->started)
		p->started_at = ts;
	p->begun_at = ts;
	p->answered = p->submitted;
	p->after = 0;
	p->started = true;
	p->stopped = p->complete = false;
}

static int coverage_state(struct ct_gpu_cover *p, const struct ct_trace_event *e)
{
	uint64_t state = ct_record_known(e->record, CT_KNOWN_STATE);
	const char *text;
	uint16_t len;

	if (state == CT_GPU_STARTED)
		coverage_starts(p, e->begin);
	p->stopped |= state == CT_GPU_STOPPED;
	p->refused |= state == CT_GPU_REFUSED;
	p->complete |= state == CT_GPU_COMPLETE;
	if (state == CT_GPU_STOPPED)
		p->stopped_at = e->begin;
	if (state == CT_GPU_COMPLETE)
		p->complete_at = e->begin;
	if (state != CT_GPU_STOPPED && state != CT_GPU_REFUSED)
		return 0;
	text = ct_record_text(e->record, &len);
	free(p->why);
	p->why = strndup(text ? text : "", text ? len : 0);
	return p->why ? 0 : -ENOMEM;
}

static int coverage_event(struct ct_analysis *a, const struct ct_trace_event *e)
{
	struct ct_gpu_cover *p;
	uint64_t clock;

	if (coverage_of(a->state, e->track->pid, &p))
		return -ENOMEM;
	if (!p || (e->kind == CT_ON_BEGIN && e->class->layer == CT_LAYER_GPU))
		return 0;
	if (e->class->layer != CT_LAYER_GPU) {
		if (e->kind == CT_ON_BEGIN || e->kind == CT_ON_INSTANT) {
			p->submitted++;
			p->before += !p->started;
			p->after += p->complete;
		}
		return 0;
	}
	if (e->class->id == CT_CLASS_gpu_state)
		return coverage_state(p, e);
	if (!e->class->call) {
		clock = ct_record_known(e->record, CT_KNOWN_UNCERTAINTY);
		p->uncertainty = clock > p->uncertainty ? clock : p->uncertainty;
		return 0;
	}
	if (!p->records++ || e->begin < p->first)
		p->first = e->begin;
	p->last = e->end > p->last ? e->end : p->last;
	p->unjoined += !e->point->cause;
	p->answered += e->point->cause && e->point->cause->records == 1;
	p->early += e->point->cause && e->begin + p->uncertainty < e->point->cause->begin;
	return 0;
}

static int coverage_end(struct ct_analysis *a)
{
	struct ct_gpu_coverage *c = a->state;

	for (unsigned int i = 0; i < a->trace->streams_count; i++) {
		const struct ct_stream_file *s = &a->trace->streams[i];
		struct ct_gpu_cover *p;

		if (s->kind != CT_STREAM_GPU || !s->lost)
			continue;
		if (coverage_of(c, s->pid, &p))
			return -ENOMEM;
		if (p)
			p->lost += s->lost;
	}
	return 0;
}

static void coverage_free(struct ct_analysis *a)
{
	struct ct_gpu_coverage *c = a->state;

	for (unsigned int i = 0; i < c->count; i++)
		free(c->list[i].why);
	ct_keyed_free(c);
}

const struct ct_analyser ct_gpu_coverage_analyser = {
	.on = CT_ON_BEGIN | CT_ON_END | CT_ON_INSTANT,
	.wants = coverage_wants,
	.unfiltered = true,
	.state_size = sizeof(struct ct_gpu_coverage),
	.event = coverage_event,
	.end = coverage_end,
	.free = coverage_free,
};

/* ------------------------------------------------------------------- words --- */

const struct ct_gpu_cover *ct_gpu_cover(const struct ct_gpu_coverage *c, uint32_t pid)
{
	return ct_keyed_get(c, pid);
}

bool ct_gpu_covers(const struct ct_gpu_coverage *c, uint32_t pid, uint64_t begin, uint64_t end)
{
	const struct ct_gpu_cover *p = ct_gpu_cover(c, pid);
	uint64_t from, to;

	if (p && p->cuts) {
		from = p->cut_from > begin ? p->cut_from : begin;
		to = p->cut_to < end ? p->cut_to : end;
		if (to > from && to - from > (end - begin) / 20)
			return false;
	}
	if (!p || !p->records || (p->before && p->started_at > begin) || (p->stopped && p->stopped_at < end) ||
	    (p->after && p->complete_at < end))
		return false;
	return !p->started || p->complete || p->last + (end - begin) / 20 >= end;
}

bool ct_gpu_covers_some(const struct ct_gpu_coverage *c, uint32_t pid, uint64_t begin, uint64_t end)
{
	const struct ct_gpu_cover *p = ct_gpu_cover(c, pid);

	if (!p || !p->records || (p->before && p->started_at >= end) || (p->stopped && p->stopped_at <= begin) ||
	    (p->after && p->complete_at <= begin))
		return false;
	return !p->started || p->complete || p->last > begin;
}

static double coverage_ms(const struct ct_trace *t, uint64_t ts)
{
	return ts > t->reg.start ? (ts - t->reg.start) / 1e6 : 0;
}

/* "; " between parts of the sentence. */
static void coverage_say(char *buf, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void coverage_say(char *buf, size_t size, const char *format, ...)
{
	size_t used = strlen(buf);
	va_list ap;

	if (used && used < size)
		used += snprintf(buf + used, size - used, "; ");
	if (used >= size)
		return;
	va_start(ap, format);
	vsnprintf(buf + used, size - used, format, ap);
	va_end(ap);
}

void ct_gpu_cover_text(const struct ct_trace *t, const struct ct_gpu_cover *p, bool joins, char *buf, size_t size)
{
	char why[256], a[CT_TERM_TEXT], b[CT_TERM_TEXT];

	*buf = 0;
	ct_term_clean(why, sizeof(why), p->why ? p->why : "", 160);
	if (p->refused && !p->records) {
		coverage_say(buf, size, "no GPU records: %s", *why ? why : "the reason is not known");
		return;
	}
	if (!p->records && p->submitted) {
		coverage_say(buf, size, "no GPU records%s", p->started && !p->complete ?
			     ": it was killed, left by _exit or exec, or still runs" : "");
		return;
	}
	if (p->started && p->before)
		coverage_say(buf, size, "GPU records from %.3f ms on: %s launch%s and copies before are missing",
			     coverage_ms(t, p->started_at), ct_term_count(a, p->before), p->before == 1 ? "" : "es");
	if (p->cuts)
		coverage_say(buf, size, "GPU records may be missing between %.3f and %.3f ms: it called exec%s",
			     coverage_ms(t, p->cut_from), coverage_ms(t, p->cut_to), p->cuts > 1 ? " several times" : "");
	if (p->stopped)
		coverage_say(buf, size, "GPU records until %.3f ms only: %s", coverage_ms(t, p->stopped_at),
			     *why ? why : "the reason is not known");
	else if (p->after)
		coverage_say(buf, size, "GPU records until %.3f ms only: %s launch%s and copies after are missing",
			     coverage_ms(t, p->complete_at), ct_term_count(a, p->after), p->after == 1 ? "" : "es");
	else if (p->started && !p->complete)
		coverage_say(buf, size, "GPU records may be missing after %.3f ms: it was killed, left by _exit "
			     "or exec, or still runs", coverage_ms(t, p->last));
	if (p->lost)
		coverage_say(buf, size, "%s GPU record%s lost", ct_term_count(a, p->lost), p->lost == 1 ? "" : "s");
	if (joins && p->unjoined)
		coverage_say(buf, size, "%s of %s GPU records could not be joined to a call",
			     ct_term_count(a, p->unjoined), ct_term_count(b, p->records));
	if (p->early)
		coverage_say(buf, size, "%s GPU record%s before the call that caused %s: their times are not exact",
			     ct_term_count(a, p->early), p->early == 1 ? " begins" : "s begin",
			     p->early == 1 ? "it" : "them");
}

bool ct_gpu_asked(const struct ct_trace *t)
{
	for (unsigned int i = 0; i < t->streams_count; i++)
		if (t->streams[i].kind == CT_STREAM_GPU)
			return true;
	return false;
}

void ct_gpu_coverage_notes(const struct ct_analysis *a, struct ct_table *t, bool joins)
{
	const struct ct_gpu_coverage *c = ct_analysis_state(a, &ct_gpu_coverage_analyser);
	unsigned int said = 0, more = 0;
	char text[700];

	for (unsigned int i = 0; ct_gpu_asked(a->trace) && i < c->count; i++) {
		const struct ct_gpu_cover *p = &c->list[i];

		if (a->filter->pid && a->filter->pid != p->pid)
			continue;
		ct_gpu_cover_text(a->trace, p, joins, text, sizeof(text));
		if (!*text)
			continue;
		if (said++ < NOTES_MAX)
			ct_table_note(t, "Process %u: %s.", (uint32_t)p->pid, text);
		else
			more++;
	}
	if (more)
		ct_table_note(t, "GPU records of %u more process%s are not complete, either.", more,
			      more == 1 ? "" : "es");
}
