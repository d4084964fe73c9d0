// SPDX-License-Identifier: LGPL-2.1-or-later
/* See call_at.h. */
#include "explain/calls/call_at.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/engine.h"
#include "base/grow.h"
#include "explain/calls/call_detail.h"
#include "view/term.h"

#define AT_THREADS	256	/* that are printed */
#define AT_DEPTH	64	/* calls of a thread that are printed */

struct at_call {
	uint64_t op_id, begin, end;
	const struct ct_class *class;
	bool ended, instant, left;
	struct ct_record record;	/* what it says of itself; its fields stay mapped */
	char *detail;			/* in the end */
};

struct at_track {
	uint32_t pid, tid;
	int32_t cpu;			/* of interrupts */
	bool on_gpu;			/* a stream of the GPU; what it does at once is no nesting */
	uint32_t gpu;
	uint64_t stream;
	struct at_call *open;		/* at the moment */
	uint32_t depth, capacity;
	struct at_call last, next;	/* class NULL: there is none */
	bool later;			/* it has records after the moment */
};

struct at_state {
	struct at_track *tracks;	/* by the tracks' index */
	uint32_t count, capacity;
};

/* ------------------------------------------------------------------- the pass --- */

static struct at_track *at_track_of(struct at_state *state, const struct ct_span *s)
{
	struct at_track *t;

	while (s->track->index >= state->count) {
		if (!ct_room(state->tracks, state->count, state->capacity))
			return NULL;
		state->tracks[state->count++] = (struct at_track){ .cpu = CT_NO_CPU };
	}
	t = &state->tracks[s->track->index];
	t->pid = s->record->pid;
	t->tid = s->track->tid;
	t->cpu = s->record->cpu;
	t->on_gpu = s->class->layer == CT_LAYER_GPU;
	if (t->on_gpu) {
		t->gpu = ct_record_known(s->record, CT_KNOWN_GPU);
		t->stream = ct_record_gpu_stream(s->record);
	}
	return t;
}

static struct at_call at_call_of(const struct ct_span *s)
{
	return (struct at_call){
		.op_id = s->op_id, .begin = s->begin, .end = s->end, .class = s->class,
		.instant = s->kind == CT_SPAN_INSTANT,
		.ended = s->kind != CT_SPAN_INSTANT && !(s->flags & CT_SPAN_UNFINISHED),
		.left = s->flags & CT_SPAN_ABANDONED,
		.record = s->flags & CT_SPAN_UNFINISHED && s->entry ? *s->entry : *s->record,
	};
}

static bool at_is_before(const struct ct_span *s, const struct at_call *call)
{
	return s->begin != call->begin ? s->begin < call->begin : s->op_id && s->op_id < call->op_id;
}

/* Spans come where they end: the last one that does so before the moment is the last of its thread. */
static int at_span(struct ct_analysis *a, const struct ct_span *s)
{
	uint64_t at = ((const struct ct_call_request *)a->arg)->at;
	struct at_track *t = at_track_of(a->state, s);
	bool unfinished = s->flags & CT_SPAN_UNFINISHED, begun = (s->entry ? s->entry->end : s->begin) <= at;

	if (!t)
		return -ENOMEM;
	if (s->kind != CT_SPAN_RANGE && !unfinished)
		t->later |= s->end > at;
	if (s->kind == CT_SPAN_RANGE || ct_call_says_nothing(s))
		return 0;
	if (!begun) {
		t->later = true;
		if (!t->next.class || at_is_before(s, &t->next))
			t->next = at_call_of(s);
	} else if (s->end <= at && !unfinished) {
		t->last = at_call_of(s);
	} else if (!s->left || s->left > at) {
		if (!ct_room(t->open, t->depth, t->capacity))
			return -ENOMEM;
		t->open[t->depth++] = at_call_of(s);
	}
	return 0;
}

static int at_compare(const void *a, const void *b)
{
	const struct at_call *x = a, *y = b;

	return x->op_id < y->op_id ? -1 : x->op_id > y->op_id;
}

static int at_describe(struct ct_analysis *a, struct at_call *call)
{
	char detail[CT_DETAIL_MAX];

	if (!call->class || ct_class_is(call->class, CT_IS_SWITCH) || !*ct_call_detail(detail, a->names, &call->record))
		return 0;
	call->detail = strdup(detail);
	return call->detail ? 0 : -ENOMEM;
}

/* What is open, the outermost first; and only now what calls say of themselves. */
static int at_end(struct ct_analysis *a)
{
	struct at_state *s = a->state;
	int rc = 0;

	for (uint32_t i = 0; i < s->count && !rc; i++) {
		struct at_track *t = &s->tracks[i];

		if (t->depth)
			qsort(t->open, t->depth, sizeof(*t->open), at_compare);
		for (uint32_t k = 0; k < t->depth && !rc; k++)
			rc = at_describe(a, &t->open[k]);
		if (!rc && at_describe(a, &t->last))
			rc = -ENOMEM;
		if (!rc)
			rc = at_describe(a, &t->next);
	}
	return rc;
}

static void at_free(struct ct_analysis *a)
{
	struct at_state *s = a->state;

	for (uint32_t i = 0; i < s->count; i++) {
		for (uint32_t k = 0; k < s->tracks[i].depth; k++)
			free(s->tracks[i].open[k].detail);
		free(s->tracks[i].last.detail);
		free(s->tracks[i].next.detail);
		free(s->tracks[i].open);
	}
	free(s->tracks);
}

static const struct ct_analyser at_analyser = {
	.spans = CT_SPANS_BY_END,
	.unfiltered = true,
	.state_size = sizeof(struct at_state),
	.span = at_span,
	.end = at_end,
	.free = at_free,
};

/* Is this thread printed? */
static bool at_shown(const struct ct_call_request *q, const struct at_track *t)
{
	if ((q->filter.pid && t->pid != q->filter.pid) || (q->filter.tid && t->tid != q->filter.tid))
		return false;
	/* Interrupts only if one was running; threads only if they had begun and not ended. */
	return t->depth || (t->tid && t->last.class && t->later);
}

/* -------------------------------------------------------------------- the table --- */

enum { THREAD, PROCESS, WHAT, OP, SINCE, UNTIL, NAME, DETAIL, COLUMNS };

static const struct ct_column columns[COLUMNS] = {
	[THREAD] = { "Tid", "thread", CT_CELL_ID, 0 },
	[PROCESS] = { "Process", "process", CT_CELL_TEXT, 2 },
	[WHAT] = { "What", "", CT_CELL_TEXT, 0 },
	[OP] = { "Op ID", "call", CT_CELL_ID, 0 },
	[SINCE] = { "Begin (ns)", "began", CT_CELL_NS_MEAN, 0 },
	[UNTIL] = { "End (ns)", "ends", CT_CELL_NS_MEAN, 0 },
	[NAME] = { "Name", "name", CT_CELL_TEXT, 0 },
	[DETAIL] = { "Detail", "", CT_CELL_TEXT, 1 },
};

static void at_row(struct ct_table *table, const struct ct_analysis *a, const struct at_track *t,
		   const struct at_call *call, const char *what, unsigned int depth, bool people)
{
	uint64_t at = ((const struct ct_call_request *)a->arg)->at;
	struct ct_cell *row = ct_table_row(table);
	char process[96];

	if (t->tid)
		row[THREAD] = ct_u64(t->tid);
	if (t->on_gpu)
		row[PROCESS] = ct_format(table, "GPU %u stream %llu of %u", t->gpu, (unsigned long long)t->stream, t->pid);
	else
		row[PROCESS] = t->tid ? ct_text(table, ct_processes_name(a->processes, t->pid, process, 40)) :
					ct_format(table, "interrupts of CPU %d", t->cpu);
	row[WHAT] = ct_const(what);
	if (!call)
		return;
	if (call->op_id)
		row[OP] = ct_u64(call->op_id);
	row[SINCE] = ct_since(call->begin, at);
	if (call->ended && !call->left)
		row[UNTIL] = ct_since(call->end, at);
	row[NAME] = ct_format(table, "%*s%.128s", people ? 2 * (int)depth : 0, "",
			      ct_call_name(call->class));
	if (call->detail)
		row[DETAIL] = ct_text(table, call->detail);
	else if (!call->ended && !call->instant)
		row[DETAIL] = ct_const("its end is not in the trace");
	else if (call->left)
		row[DETAIL] = ct_const("it was left: when is not known");
}

static void at_rows(struct ct_table *table, const struct ct_analysis *a, const struct at_track *t,
		    bool people)
{
	if (t->last.class)
		at_row(table, a, t, &t->last, "last", 0, people);
	for (uint32_t k = 0; k < t->depth && k < AT_DEPTH; k++)
		at_row(table, a, t, &t->open[k], people ? "in" : "open", t->on_gpu ? 0 : k, people);
	if (!t->depth)
		at_row(table, a, t, NULL, "no call", 0, people);
	if (t->next.class)
		at_row(table, a, t, &t->next, "next", 0, people);
}

static int at_print(const struct ct_analysis *a, const struct ct_call_request *q, FILE *out, struct ct_error *err)
{
	const struct at_state *s = a->state;
	struct ct_print_options options = { .width = q->print.width, .colour = q->print.colour };
	uint64_t start = a->trace->reg.start;
	struct ct_printer *printer;
	struct ct_table table;
	char title[128];
	uint32_t shown = 0;
	int rc, closing;

	for (uint32_t i = 0; i < s->count; i++)
		shown += at_shown(q, &s->tracks[i]);
	if (!shown)
		return ct_fail(err, ENOENT, "no thread that counts has records before and after this moment");
	if (a->trace->simulated && !q->format)
		fputs(CT_SIMULATED_LABEL "\n", out);
	printer = ct_printer_open(q->format ? q->format : ct_format_find("table"), out, &options, false);
	snprintf(title, sizeof(title),
		 "A moment: %.6f ms after the begin of the trace; times are relative to it",
		 q->at >= start ? (q->at - start) / 1e6 : -((start - q->at) / 1e6));
	ct_table_begin(&table, "calls_at", title, columns, COLUMNS);
	for (uint32_t i = 0, rows = 0; i < s->count && rows < AT_THREADS; i++)
		if (at_shown(q, &s->tracks[i])) {
			at_rows(&table, a, &s->tracks[i], !q->format);
			rows++;
		}
	if (shown > AT_THREADS)
		ct_table_note(&table, "%u more threads; --pid or --tid shows them.", shown - AT_THREADS);
	rc = ct_table_end(&table);
	if (!rc)
		rc = printer ? ct_printer_table(printer, &table) : -ENOMEM;
	ct_table_free(&table);
	closing = printer ? ct_printer_close(printer) : 0;
	return rc ? rc : closing;
}

int ct_call_at(const struct ct_trace *t, const struct ct_call_request *q, FILE *out,
	       struct ct_error *err)
{
	const struct ct_analyser *at = &at_analyser;
	struct ct_engine_options options = { .filter = { .layer = -1, .category = -1 }, .arg = (void *)q };
	struct ct_engine *e = ct_engine_run(t, &at, 1, &options, err);
	int rc = e ? at_print(ct_engine_result(e, at), q, out, err) : -ENOMEM;

	ct_engine_free(e);
	return rc;
}
