// SPDX-License-Identifier: LGPL-2.1-or-later
/* The report cuda_api_trace: every call of libcuda and libcudart.  Must never keep rows. */
#include "analysis/engine.h"
#include "trace/names.h"

enum { START, DURATION, NAME, RESULT, CORRELATION, PID, TID, DEPTH, ERROR, SIZE, KERNEL, COLUMNS };

static const struct ct_column columns[COLUMNS] = {
	[START] = { "Start (ns)", "start", CT_CELL_TIME, 0 },
	[DURATION] = { "Duration (ns)", "duration", CT_CELL_NS, 0 },
	[NAME] = { "Name", "name", CT_CELL_TEXT, 0 },
	[RESULT] = { "Result", "result", CT_CELL_ID, 7 },
	[CORRELATION] = { "CorrID", "op id", CT_CELL_ID, 1 },
	[PID] = { "Pid", "pid", CT_CELL_ID, 6 },
	[TID] = { "Tid", "tid", CT_CELL_ID, 5 },
	[DEPTH] = { "Depth", "depth", CT_CELL_ID, 8 },
	[ERROR] = { "Error", "error", CT_CELL_TEXT, 4 },
	[SIZE] = { "Size (bytes)", "size", CT_CELL_BYTES, 2 },
	[KERNEL] = { "Kernel", "kernel", CT_CELL_KERNEL, 3 },
};

struct api_trace {
	struct ct_table *table;
	/* Of those that were recorded at their entry, too: known at their ends only, and never ended. */
	uint64_t late, left;
};

static bool api_trace_wants(const struct ct_class *class)
{
	return ct_class_is(class, CT_IS_API);
}

static int api_trace_begin(struct ct_analysis *a)
{
	struct api_trace *s = a->state;

	s->table = ct_analysis_table(a, "cuda_api_trace", "CUDA API calls: in the order of their starts",
				     columns, COLUMNS);
	return 0;
}

/* What the record says of the call. */
static void api_trace_fields(struct ct_analysis *a, struct ct_table *t, struct ct_cell *row,
			     const struct ct_record *r)
{
	if (!(r->flags & CT_F_NO_RESULT) && r->result >= 0)
		row[RESULT] = ct_u64(r->result);
	if (ct_record_failed(r)) {
		const char *error = ct_name_result(r);

		row[ERROR] = error ? ct_const(error) : ct_format(t, "%lld", (long long)r->result);
	}
	if (ct_record_has(r, CT_KNOWN_SIZE))
		row[SIZE] = ct_u64(ct_record_known(r, CT_KNOWN_SIZE));
	if (ct_record_has(r, CT_KNOWN_KERNEL))
		row[KERNEL] = ct_const(ct_names_string(a->names, ct_record_known(r, CT_KNOWN_KERNEL)));
}

static int api_trace_span(struct ct_analysis *a, const struct ct_span *span)
{
	struct api_trace *s = a->state;
	struct ct_cell *row = ct_table_row(s->table);

	row[START] = ct_moment(a, span->begin);
	if (span->flags & CT_SPAN_TIMED)
		row[DURATION] = ct_u64(span->duration);
	row[NAME] = ct_const(span->class->name);
	row[CORRELATION] = ct_u64(span->op_id);
	row[PID] = ct_u64(span->pid);
	row[TID] = ct_u64(span->tid);
	row[DEPTH] = ct_u64(span->depth);
	if (!(span->flags & CT_SPAN_UNFINISHED))
		api_trace_fields(a, s->table, row, span->record);
	if (span->flags & CT_SPAN_AT_ENTRY)
		span->flags & CT_SPAN_UNFINISHED ? s->left++ : s->late++;
	return s->table->error;
}

static int api_trace_end(struct ct_analysis *a)
{
	struct api_trace *s = a->state;

	if (s->late)
		ct_table_note(s->table, "%llu calls that were recorded at their entry stand where they ended.",
			      (unsigned long long)s->late);
	if (s->left)
		ct_table_note(s->table, "The last %llu calls never returned, or their ends were lost.",
			      (unsigned long long)s->left);
	return 0;
}

const struct ct_analyser ct_report_cuda_api_trace = {
	.name = "cuda_api_trace",
	.summary = "every call of libcuda (and libcudart) in the order of time",
	.single = true,
	.streams = true,
	.spans = CT_SPANS_BY_BEGIN,
	.wants = api_trace_wants,
	.state_size = sizeof(struct api_trace),
	.begin = api_trace_begin,
	.span = api_trace_span,
	.end = api_trace_end,
};
