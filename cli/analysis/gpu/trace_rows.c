// SPDX-License-Identifier: LGPL-2.1-or-later
/* See trace_rows.h.  CorrId is the op id of the call, as cuda_api_trace has it. */
#include "analysis/gpu/trace_rows.h"

#include "spans/work.h"
#include "trace/gpu/gpu_causes.h"
#include "trace/names.h"

enum { START, DURATION, CORRELATION, GRID_X, GRID_Y, GRID_Z, BLOCK_X, BLOCK_Y, BLOCK_Z, REGISTERS, STATIC, DYNAMIC,
       BYTES, THROUGHPUT, SOURCE, DESTINATION, DEVICE, CONTEXT, STREAM, NAME, PID, TID, COLUMNS };

static const struct ct_column columns[COLUMNS] = {
	[START] = { "Start (ns)", "start", CT_CELL_TIME, 0 },
	[DURATION] = { "Duration (ns)", "duration", CT_CELL_NS, 0 },
	[CORRELATION] = { "CorrId", "op id", CT_CELL_ID, 6 },
	[GRID_X] = { "GrdX", NULL, CT_CELL_ID, 2 },
	[GRID_Y] = { "GrdY", NULL, CT_CELL_ID, 5 },
	[GRID_Z] = { "GrdZ", NULL, CT_CELL_ID, 5 },
	[BLOCK_X] = { "BlkX", NULL, CT_CELL_ID, 2 },
	[BLOCK_Y] = { "BlkY", NULL, CT_CELL_ID, 5 },
	[BLOCK_Z] = { "BlkZ", NULL, CT_CELL_ID, 5 },
	[REGISTERS] = { "Reg/Trd", "regs", CT_CELL_ID, 7 },
	[STATIC] = { "StcSMem (MB)", "static", CT_CELL_MB, 9 },
	[DYNAMIC] = { "DymSMem (MB)", "dynamic", CT_CELL_MB, 8 },
	[BYTES] = { "Bytes (MB)", "bytes", CT_CELL_MB, 1 },
	[THROUGHPUT] = { "Throughput (MB/s)", "MB/s", CT_CELL_NUMBER, 4 },
	[SOURCE] = { "SrcMemKd", "from", CT_CELL_TEXT, 10 },
	[DESTINATION] = { "DstMemKd", "to", CT_CELL_TEXT, 10 },
	[DEVICE] = { "Device", "GPU", CT_CELL_ID, 3 },
	[CONTEXT] = { "Ctx", "context", CT_CELL_ID, 11 },
	[STREAM] = { "Strm", "stream", CT_CELL_ID, 3 },
	[NAME] = { "Name", "name", CT_CELL_KERNEL, 0 },
	[PID] = { "Pid", "pid", CT_CELL_ID, 12 },
	[TID] = { "Tid", "tid", CT_CELL_ID, 12 },
};

struct ct_table *ct_gpu_trace_table(struct ct_analysis *a, const char *title)
{
	return ct_analysis_table(a, "cuda_gpu_trace", title, columns, COLUMNS);
}

static void trace_rows_number(struct ct_cell *row, int column, const struct ct_record *r, enum ct_known field)
{
	if (ct_record_has(r, field))
		row[column] = ct_u64(ct_record_known(r, field));
}

/* As nsys writes them. */
static struct ct_cell rows_memory(const struct ct_record *r, enum ct_known field)
{
	static const char *const words[CT_MEMKIND_COUNT] = {
		[CT_MEMKIND_UNKNOWN] = "Unknown", [CT_MEMKIND_PAGEABLE] = "Pageable", [CT_MEMKIND_PINNED] = "Pinned",
		[CT_MEMKIND_DEVICE] = "Device", [CT_MEMKIND_ARRAY] = "Array", [CT_MEMKIND_MANAGED] = "Managed",
		[CT_MEMKIND_DEVICE_STATIC] = "Device Static", [CT_MEMKIND_MANAGED_STATIC] = "Managed Static",
	};
	uint64_t kind = ct_record_known(r, field);

	return ct_record_has(r, field) && kind < CT_MEMKIND_COUNT ? ct_const(words[kind]) : (struct ct_cell){ 0 };
}

static void rows_kernel(struct ct_analysis *a, struct ct_cell *row, const struct ct_record *r)
{
	const char *name = ct_names_string(a->names, ct_record_known(r, CT_KNOWN_KERNEL));

	for (unsigned int i = 0; i < 6; i++)
		trace_rows_number(row, GRID_X + i, r, CT_KNOWN_GRID_X + i);
	trace_rows_number(row, REGISTERS, r, CT_KNOWN_REGISTERS);
	if (ct_record_has(r, CT_KNOWN_SHARED_STATIC))
		row[STATIC] = ct_double(ct_record_known(r, CT_KNOWN_SHARED_STATIC));
	if (ct_record_has(r, CT_KNOWN_SHARED))
		row[DYNAMIC] = ct_double(ct_record_known(r, CT_KNOWN_SHARED));
	row[NAME] = ct_const(name && *name ? name : "(unknown)");
}

static void rows_transfer(struct ct_cell *row, const struct ct_record *r, uint64_t ns)
{
	uint64_t bytes = ct_record_known(r, CT_KNOWN_SIZE);

	row[BYTES] = ct_double(bytes);
	if (ns)
		row[THROUGHPUT] = ct_double(bytes * 1e3 / ns);
	row[SOURCE] = rows_memory(r, CT_KNOWN_SRC_KIND);
	row[DESTINATION] = rows_memory(r, CT_KNOWN_DST_KIND);
	row[NAME] = ct_const(ct_gpu_operation_name(ct_gpu_operation(r)));
}

void ct_gpu_trace_row(struct ct_analysis *a, struct ct_table *t, const struct ct_span *s)
{
	const struct ct_cause *cause = s->cause;
	const struct ct_record *r = s->record;
	struct ct_cell *row = ct_table_row(t);
	uint64_t ns = r->end - ct_record_begin(r);

	row[START] = ct_moment(a, s->begin);
	row[DURATION] = ct_u64(ns);
	trace_rows_number(row, DEVICE, r, CT_KNOWN_GPU);
	trace_rows_number(row, CONTEXT, r, CT_KNOWN_CONTEXT);
	row[STREAM] = ct_u64(ct_record_gpu_stream(r));
	row[PID] = ct_u64(r->pid);
	if (cause) {
		row[CORRELATION] = ct_u64(cause->op_id);
		row[TID] = ct_u64(cause->tid);
	}
	if (ct_gpu_is_kernel(s->class))
		rows_kernel(a, row, r);
	else if (s->class->id == CT_CLASS_gpu_graph)
		row[NAME] = ct_format(t, "[CUDA graph %llu]", (unsigned long long)ct_record_known(r, CT_KNOWN_GRAPH));
	else
		rows_transfer(row, r, ns);
}
