// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * See call_at.h.  The first pass finds the calls, the second reads what they say of
 * themselves.  Must never decode a call that is not printed.
 */
#include "explain/calls/call_at.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/engine.h"
#include "base/grow.h"
#include "base/keyed.h"
#include "explain/calls/call_detail.h"
#include "view/term.h"

#define AT_THREADS	256	/* that are printed */
#define AT_DEPTH	64	/* calls of a thread that are printed */

struct at_call {
	uint64_t op_id, begin, end;
	const struct ct_class *class;
	bool ended, instant, left;
	char *detail;
};

struct at_track {
	const struct ct_track *track;
	uint32_t pid, tid;
	int32_t cpu;			/* of interrupts */
	bool on_gpu;			/* a stream of the GPU; what it does at once is no nesting */
	uint32_t gpu;
	uint64_t stream;
	struct at_call *open;		/* at the moment, the outermost first */
	uint32_t depth, capacity;
	struct at_call last, next;	/* class NULL: there is none */
	bool later;			/* it has records after the moment */
};

struct at_wanted {
	uint64_t op_id;
	struct at_call *call;
};

struct at_state {
	struct at_track *tracks;	/* by the tracks' index */
	uint32_t count, capacity;
	CT_KEYED(struct at_wanted) calls;	/* those that are printed */
};

struct at_request {
	uint64_t at;
	struct at_state *found;		/* of the first pass, for the second */
};

/* ------------------------------------------------------------ the first pass --- */

static struct at_track *at_track_of(struct at_state *s, const struct ct_trace_event *e)
{
	while (e->track->index >= s->count) {
		if (!ct_room(s->tracks, s->count, s->capacity))
			return NULL;
		s->tracks[s->count++] = (struct at_track){ .cpu = CT_NO_CPU };
	}
	return &s->tracks[e->track->index];
}

static struct at_call at_call_of(const struct ct_trace_event *e)
{
	return (struct at_call){
		.op_id = e->point->op_id,
		.begin = e->begin,
		.end = e->end,
		.class = e->class,
		.instant = e->kind == CT_ON_INSTANT,
		.ended = e->kind == CT_ON_END,
		.left = e->kind == CT_ON_END && !e->timed,
	};
}

/* Marks and ranges have no id by which the second pass would find them. */
static int at_keep(struct ct_analysis *a, struct at_call *call, const struct ct_trace_event *e)
{
	char detail[CT_DETAIL_MAX];

	free(call->detail);
	*call = at_call_of(e);
	if (e->class->category != CT_CAT_MARKER || !*ct_call_detail(detail, a->names, e->record))
		return 0;
	call->detail = strdup(detail);
	return call->detail ? 0 : -ENOMEM;
}

static int at_open(struct at_track *t, const struct ct_trace_event *e)
{
	if (!ct_room(t->open, t->depth, t->capacity))
		return -ENOMEM;
	t->open[t->depth++] = at_call_of(e);
	return 0;
}

/* With a call those inside it end. */
static void at_close(struct at_track *t, uint32_t i)
{
	if (t->on_gpu)
		memmove(&t->open[i], &t->open[i + 1], (t->depth - i - 1) * sizeof(*t->open));
	t->depth = t->on_gpu ? t->depth - 1 : i;
}

static bool at_says_nothing(const struct ct_trace_event *e)
{
	return e->kind == CT_ON_INSTANT &&
	       (e->class->category == CT_CAT_SWITCH || e->class->category == CT_CAT_TRACER ||
		e->class->category == CT_CAT_PROCESS);
}

static int at_find_event(struct ct_analysis *a, const struct ct_trace_event *e)
{
	const struct at_request *q = a->arg;
	struct at_state *s = a->state;
	struct at_track *t = at_track_of(s, e);

	if (!t)
		return -ENOMEM;
	t->pid = e->record->pid;
	t->tid = e->track->tid;
	t->cpu = e->record->cpu;
	t->on_gpu = e->class->layer == CT_LAYER_GPU;
	if (t->on_gpu) {
		t->gpu = ct_record_quick(e->record, CT_QUICK_GPU);
		t->stream = ct_record_gpu_stream(e->record);
	}
	if (at_says_nothing(e))
		return 0;
	if (e->point->ts > q->at) {
		t->later = true;
		return !t->next.class && e->kind != CT_ON_END ? at_keep(a, &t->next, e) : 0;
	}
	if (e->kind == CT_ON_BEGIN)
		return at_open(t, e);
	if (e->kind == CT_ON_END)
		for (uint32_t i = t->depth; i-- > 0;)
			if (t->open[i].op_id == e->point->op_id) {
				at_close(t, i);
				break;
			}
	return at_keep(a, &t->last, e);
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
	ct_keyed_free(&s->calls);
}

static const struct ct_analyser at_find = {
	.on = CT_ON_BEGIN | CT_ON_END | CT_ON_INSTANT,
	.unfiltered = true,
	.state_size = sizeof(struct at_state),
	.event = at_find_event,
	.free = at_free,
};

/* ----------------------------------------------------------- the second pass --- */

static int at_detail_event(struct ct_analysis *a, const struct ct_trace_event *e)
{
	struct at_request *q = a->arg;
	char detail[CT_DETAIL_MAX];
	uint64_t op = e->point->op_id;
	const struct at_wanted *wanted = op ? ct_keyed_get(&q->found->calls, op) : NULL;
	struct at_call *call;

	if (!wanted)
		return 0;
	call = wanted->call;
	if (e->kind == CT_ON_END) {
		call->ended = true;
		call->left = !e->timed;
		call->end = e->end;
	}
	if (e->class->category == CT_CAT_SWITCH || !*ct_call_detail(detail, a->names, e->record))
		return 0;
	free(call->detail);
	call->detail = strdup(detail);
	return call->detail ? 0 : -ENOMEM;
}

static const struct ct_analyser at_details = {
	.on = CT_ON_BEGIN | CT_ON_END | CT_ON_INSTANT,
	.unfiltered = true,
	.event = at_detail_event,
};

static int at_want(struct at_state *s, struct at_call *call)
{
	struct at_wanted *wanted;

	if (!call->class || !call->op_id)
		return 0;
	wanted = ct_keyed_put(&s->calls, call->op_id);
	if (!wanted)
		return -ENOMEM;
	wanted->call = call;
	return 0;
}

/* Is this thread printed? */
static bool at_shown(const struct ct_call_request *q, const struct at_track *t)
{
	if ((q->filter.pid && t->pid != q->filter.pid) || (q->filter.tid && t->tid != q->filter.tid))
		return false;
	/* Interrupts only if one was running; threads only if they had begun and not ended. */
	return t->depth || (t->tid && t->last.class && t->later);
}

static int at_choose(struct at_state *s, const struct ct_call_request *q, uint32_t *shown)
{
	int rc = 0;

	*shown = 0;
	for (uint32_t i = 0; i < s->count && !rc; i++) {
		struct at_track *t = &s->tracks[i];

		if (!at_shown(q, t) || ++*shown > AT_THREADS)
			continue;
		for (uint32_t k = 0; k < t->depth && k < AT_DEPTH && !rc; k++)
			rc = at_want(s, &t->open[k]);
		if (!rc)
			rc = at_want(s, &t->last);
		if (!rc)
			rc = at_want(s, &t->next);
	}
	return rc;
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

static struct ct_cell at_relative(uint64_t ts, uint64_t at)
{
	return ct_double(ts >= at ? (double)(ts - at) : -(double)(at - ts));
}

static void at_row(struct ct_table *table, const struct ct_analysis *a, const struct at_track *t,
		   const struct at_call *call, const char *what, unsigned int depth, bool people)
{
	uint64_t at = ((const struct at_request *)a->arg)->at;
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
	row[SINCE] = at_relative(call->begin, at);
	if (call->ended && !call->left)
		row[UNTIL] = at_relative(call->end, at);
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

static int at_print(const struct ct_analysis *a, const struct at_state *s,
		    const struct ct_call_request *q, uint32_t shown, FILE *out)
{
	struct ct_print_options options = { .width = q->print.width, .colour = q->print.colour };
	struct ct_printer *printer = ct_printer_open(q->format ? q->format : ct_format_find("table"),
						     out, &options, false);
	uint64_t start = a->trace->reg.start;
	struct ct_table table;
	char title[128];
	uint32_t left = AT_THREADS;
	int rc, closing;

	snprintf(title, sizeof(title),
		 "A moment: %.6f ms after the begin of the trace; times are relative to it",
		 q->at >= start ? (q->at - start) / 1e6 : -((start - q->at) / 1e6));
	ct_table_begin(&table, "calls_at", title, columns, COLUMNS);
	for (uint32_t i = 0; i < s->count; i++)
		if (at_shown(q, &s->tracks[i]) && left) {
			left--;
			at_rows(&table, a, &s->tracks[i], !q->format);
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
	const struct ct_analyser *find = &at_find, *details = &at_details;
	struct at_request request = { .at = q->at };
	struct ct_engine_options options = { .filter = { .layer = -1, .category = -1 }, .arg = &request };
	struct ct_engine *first = ct_engine_run(t, &find, 1, &options, err), *second = NULL;
	uint32_t shown = 0;
	int rc;

	if (!first)
		return -ENOMEM;
	request.found = ct_engine_result(first, find)->state;
	rc = at_choose(request.found, q, &shown);
	if (rc)
		ct_fail(err, ENOMEM, "%s", strerror(ENOMEM));
	if (!rc && !shown)
		rc = ct_fail(err, ENOENT, "no thread that counts has records before and after this moment");
	if (!rc) {
		second = ct_engine_run(t, &details, 1, &options, err);
		rc = second ? 0 : -ENOMEM;
	}
	if (!rc && t->simulated && !q->format)
		fputs(CT_SIMULATED_LABEL "\n", out);
	if (!rc)
		rc = at_print(ct_engine_result(second, details), request.found, q, shown, out);
	ct_engine_free(second);
	ct_engine_free(first);
	return rc;
}
