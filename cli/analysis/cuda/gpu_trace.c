// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The report cuda_gpu_trace: every kernel, copy and memory set.  Must never keep rows.  A call
 * that never returned is left out: what the GPU did for it is not known.
 */
#include "analysis/gpu/coverage.h"
#include "analysis/gpu/trace_rows.h"
#include "spans/work.h"

enum { START, DURATION, CORRELATION, GRID_X, GRID_Y, GRID_Z, BLOCK_X, BLOCK_Y, BLOCK_Z, SHARED, BYTES,
       STREAM, NAME, PID, TID, COLUMNS };

static const struct ct_column columns[COLUMNS] = {
	[START] = { "Start (ns)", "start", CT_CELL_TIME, 0 },
	[DURATION] = { "Duration (ns)", "duration", CT_CELL_NS, 0 },
	[CORRELATION] = { "CorrId", "op id", CT_CELL_ID, 6 },
	[GRID_X] = { "GrdX", NULL, CT_CELL_ID, 2 },
	[GRID_Y] = { "GrdY", NULL, CT_CELL_ID, 4 },
	[GRID_Z] = { "GrdZ", NULL, CT_CELL_ID, 4 },
	[BLOCK_X] = { "BlkX", NULL, CT_CELL_ID, 2 },
	[BLOCK_Y] = { "BlkY", NULL, CT_CELL_ID, 4 },
	[BLOCK_Z] = { "BlkZ", NULL, CT_CELL_ID, 4 },
	[SHARED] = { "DymSMem (MB)", "shared", CT_CELL_MB, 5 },
	[BYTES] = { "Bytes (MB)", "bytes", CT_CELL_MB, 1 },
	[STREAM] = { "Strm", "stream", CT_CELL_HEX, 3 },
	[NAME] = { "Name", "name", CT_CELL_KERNEL, 0 },
	[PID] = { "Pid", "pid", CT_CELL_ID, 8 },
	[TID] = { "Tid", "tid", CT_CELL_ID, 7 },
};

struct gpu_trace {
	struct ct_gpu_source source;
	struct ct_table *table;
};

static bool gpu_trace_wants(const struct ct_class *class)
{
	return ct_gpu_is_kernel(class) || ct_gpu_is_transfer(class) || ct_gpu_is_graph(class);
}

static int gpu_trace_begin(struct ct_analysis *a)
{
	struct gpu_trace *s = a->state;

	s->source.measured = ct_gpu_measured(a->trace, a->filter->layer);
	if (s->source.measured)
		s->table = ct_gpu_trace_table(a, "Kernels and memory operations: times on the GPU, from its records");
	else
		s->table = ct_analysis_table(a, "cuda_gpu_trace",
			"Kernels and memory operations: times of the calls, without records of the GPU",
			columns, COLUMNS);
	return 0;
}

static void gpu_trace_kernel(struct ct_analysis *a, struct ct_cell *row, const struct ct_record *r)
{
	static const struct { int column; enum ct_known field; } sizes[] = {
		{ GRID_X, CT_KNOWN_GRID_X }, { GRID_Y, CT_KNOWN_GRID_Y }, { GRID_Z, CT_KNOWN_GRID_Z },
		{ BLOCK_X, CT_KNOWN_BLOCK_X }, { BLOCK_Y, CT_KNOWN_BLOCK_Y }, { BLOCK_Z, CT_KNOWN_BLOCK_Z },
	};
	const char *name = ct_names_string(a->names, ct_record_known(r, CT_KNOWN_KERNEL));

	for (unsigned int i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		if (ct_record_has(r, sizes[i].field))
			row[sizes[i].column] = ct_u64(ct_record_known(r, sizes[i].field));
	if (ct_record_has(r, CT_KNOWN_SHARED))
		row[SHARED] = ct_double(ct_record_known(r, CT_KNOWN_SHARED));
	row[NAME] = ct_const(name && *name ? name : "(unknown)");
}

static int gpu_trace_span(struct ct_analysis *a, const struct ct_span *span)
{
	bool kernel = ct_gpu_is_kernel(span->class);
	const struct ct_record *r = span->record;
	struct gpu_trace *s = a->state;
	struct ct_cell *row;

	if (!(span->flags & (CT_SPAN_TIMED | CT_SPAN_ABANDONED)))
		return 0;
	if (s->source.measured) {
		if (span->kind == CT_SPAN_GPU)
			ct_gpu_trace_row(a, s->table, span);
		return s->table->error;
	}
	if (!ct_gpu_counts(&s->source, span))
		return 0;
	row = ct_table_row(s->table);
	row[START] = ct_moment(a, span->begin);
	if (span->flags & CT_SPAN_TIMED)
		row[DURATION] = ct_u64(span->duration);
	row[CORRELATION] = ct_u64(span->op_id);
	if (ct_record_has(r, CT_KNOWN_STREAM))
		row[STREAM] = ct_u64(ct_record_known(r, CT_KNOWN_STREAM));
	row[PID] = ct_u64(span->pid);
	row[TID] = ct_u64(span->tid);
	if (kernel) {
		gpu_trace_kernel(a, row, r);
	} else {
		row[BYTES] = ct_double(ct_record_known(r, CT_KNOWN_SIZE));
		row[NAME] = ct_const(ct_gpu_operation_name(ct_gpu_operation(r)));
	}
	return s->table->error;
}

static int gpu_trace_end(struct ct_analysis *a)
{
	struct gpu_trace *s = a->state;

	ct_gpu_notes(&s->source, s->table, "work");
	ct_gpu_coverage_notes(a, s->table, true);
	return 0;
}

static const struct ct_analyser *const needs[] = { &ct_gpu_coverage_analyser, NULL };

const struct ct_analyser ct_report_cuda_gpu_trace = {
	.name = "cuda_gpu_trace",
	.summary = "every kernel, copy and memory set in the order of time, with its sizes",
	.single = true,
	.streams = true,
	.spans = CT_SPANS_BY_BEGIN,
	.wants = gpu_trace_wants,
	.needs = needs,
	.state_size = sizeof(struct gpu_trace),
	.begin = gpu_trace_begin,
	.span = gpu_trace_span,
	.end = gpu_trace_end,
};
