// SPDX-License-Identifier: LGPL-2.1-or-later
/* See sqlite_gpu.h.  Must never take the time of a call on the host for one of the GPU. */
#include "export/sqlite/sqlite_gpu.h"

#include "spans/work.h"
#include "export/sqlite/schema.h"
#include "table/short_name.h"

enum { START, END, DEVICE, CONTEXT, STREAM, CORRELATION, GLOBAL_PID, COMMON };
enum { DEMANGLED = COMMON, SHORT, MANGLED, LAUNCH_TYPE, CACHE, REGISTERS, GRID_X, GRID_Y, GRID_Z,
       BLOCK_X, BLOCK_Y, BLOCK_Z, STATIC, DYNAMIC, GRAPH_NODE = DYNAMIC + 5, KERNEL_COLUMNS = DYNAMIC + 7 };
enum { COPY_BYTES = COMMON, COPY_KIND, COPY_SRC = COPY_KIND + 2, COPY_DST, COPY_COLUMNS = COPY_KIND + 11 };
enum { SET_VALUE = COMMON, SET_BYTES, SET_NODE, SET_KIND, SET_COLUMNS };
enum { GRAPH_ID = COMMON, GRAPH_COLUMNS };

int ct_gpu_tables_begin(struct ct_gpu_tables *g, struct ct_db *db)
{
	int rc = ct_insert_begin(&g->kernels, db, "CUPTI_ACTIVITY_KIND_KERNEL", KERNEL_COLUMNS, false);

	rc = rc ? rc : ct_insert_begin(&g->copies, db, "CUPTI_ACTIVITY_KIND_MEMCPY", COPY_COLUMNS, false);
	rc = rc ? rc : ct_insert_begin(&g->sets, db, "CUPTI_ACTIVITY_KIND_MEMSET", SET_COLUMNS, false);
	return rc ? rc : ct_insert_begin(&g->graphs, db, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", GRAPH_COLUMNS, false);
}

static void gpu_known(struct ct_value *value, const struct ct_record *r, enum ct_known known)
{
	if (ct_record_has(r, known))
		ct_value_int(value, ct_record_known(r, known));
}

static struct ct_value *gpu_row(struct ct_insert *in, const struct ct_span *span, int64_t start, int64_t end)
{
	struct ct_value *v = ct_insert_row(in);
	const struct ct_record *r = span->record;

	ct_value_int(&v[START], start);
	ct_value_int(&v[END], end);
	gpu_known(&v[DEVICE], r, CT_KNOWN_GPU);
	gpu_known(&v[CONTEXT], r, CT_KNOWN_CONTEXT);
	if (ct_record_has(r, CT_KNOWN_STREAM_ID) || ct_record_has(r, CT_KNOWN_STREAM))
		ct_value_int(&v[STREAM], ct_record_gpu_stream(r));
	/* The call that caused it, as CUPTI_ACTIVITY_KIND_RUNTIME has it. */
	if (span->parent)
		ct_value_int(&v[CORRELATION], span->parent);
	ct_value_int(&v[GLOBAL_PID], (int64_t)(span->pid & 0xffffff) << 24);
	return v;
}

static void gpu_kernel(struct ct_value *v, struct ct_strings *strings, struct ct_names *names,
		       const struct ct_record *r)
{
	static const struct { unsigned int column; enum ct_known known; } sizes[] = {
		{ GRID_X, CT_KNOWN_GRID_X }, { GRID_Y, CT_KNOWN_GRID_Y }, { GRID_Z, CT_KNOWN_GRID_Z },
		{ BLOCK_X, CT_KNOWN_BLOCK_X }, { BLOCK_Y, CT_KNOWN_BLOCK_Y }, { BLOCK_Z, CT_KNOWN_BLOCK_Z },
		{ DYNAMIC, CT_KNOWN_SHARED }, { STATIC, CT_KNOWN_SHARED_STATIC }, { REGISTERS, CT_KNOWN_REGISTERS },
		{ GRAPH_NODE, CT_KNOWN_GRAPH_NODE },
	};
	uint64_t string = ct_record_known(r, CT_KNOWN_KERNEL);
	uint32_t id = ct_strings_registry(strings, names, string);
	char name[512];

	for (unsigned int i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		gpu_known(&v[sizes[i].column], r, sizes[i].known);
	if (!id)
		return;
	ct_value_int(&v[DEMANGLED], id);
	ct_value_int(&v[SHORT], ct_strings_id(strings, ct_short_kernel(name, sizeof(name),
								       ct_names_string(names, string))));
	ct_value_int(&v[MANGLED], ct_strings_id(strings, ct_registry_string(names->reg, string)));
}

int ct_gpu_tables_add(struct ct_gpu_tables *g, struct ct_strings *strings, struct ct_names *names,
		      const struct ct_span *span, int64_t start, int64_t end)
{
	const struct ct_class *class = span->class;
	struct ct_value *v;

	if (!(span->flags & CT_SPAN_TIMED))
		return 0;
	if (class->category == CT_CAT_KERNEL && class->known[CT_KNOWN_KERNEL] >= 0) {
		gpu_kernel(gpu_row(&g->kernels, span, start, end), strings, names, span->record);
	} else if (class->id == CT_CLASS_gpu_graph) {
		v = gpu_row(&g->graphs, span, start, end);
		gpu_known(&v[GRAPH_ID], span->record, CT_KNOWN_GRAPH);
	} else if (ct_gpu_is_transfer(class) && !ct_gpu_is_set(class)) {
		v = gpu_row(&g->copies, span, start, end);
		gpu_known(&v[COPY_BYTES], span->record, CT_KNOWN_SIZE);
		ct_value_int(&v[COPY_KIND], ct_schema_copy_kind(ct_record_known(span->record, CT_KNOWN_DIRECTION)));
		gpu_known(&v[COPY_SRC], span->record, CT_KNOWN_SRC_KIND);
		gpu_known(&v[COPY_DST], span->record, CT_KNOWN_DST_KIND);
	} else if (ct_gpu_is_set(class)) {
		v = gpu_row(&g->sets, span, start, end);
		gpu_known(&v[SET_BYTES], span->record, CT_KNOWN_SIZE);
		gpu_known(&v[SET_VALUE], span->record, CT_KNOWN_VALUE);
		gpu_known(&v[SET_KIND], span->record, CT_KNOWN_DST_KIND);
	}
	return 0;
}

int ct_gpu_tables_end(struct ct_gpu_tables *g)
{
	int rc = ct_insert_end(&g->kernels), ended = ct_insert_end(&g->copies);

	rc = rc ? rc : ended;
	ended = ct_insert_end(&g->sets);
	rc = rc ? rc : ended;
	ended = ct_insert_end(&g->graphs);
	return rc ? rc : ended;
}
