// SPDX-License-Identifier: LGPL-2.1-or-later
/* See call_tables.h. */
#include "explain/calls/call_tables.h"

#include <errno.h>

#include "explain/calls/call_detail.h"
#include "explain/calls/call_gpu.h"

enum { ROOT, OP, PARENT, DEPTH, START, DURATION, SELF, PID, TID, LAYER, CATEGORY, NAME, DETAIL,
       RESULT, STATE, TREE_COLUMNS };

static const struct ct_column tree_columns[TREE_COLUMNS] = {
	[ROOT] = { "Call", NULL, CT_CELL_ID, 0 },
	[OP] = { "Op ID", NULL, CT_CELL_ID, 0 },
	[PARENT] = { "Parent", NULL, CT_CELL_ID, 0 },
	[DEPTH] = { "Depth", NULL, CT_CELL_COUNT, 0 },
	[START] = { "Start (ns)", NULL, CT_CELL_NS, 0 },
	[DURATION] = { "Duration (ns)", NULL, CT_CELL_NS, 0 },
	[SELF] = { "Self (ns)", NULL, CT_CELL_NS, 0 },
	[PID] = { "Pid", NULL, CT_CELL_ID, 0 },
	[TID] = { "Tid", NULL, CT_CELL_ID, 0 },
	[LAYER] = { "Layer", NULL, CT_CELL_TEXT, 0 },
	[CATEGORY] = { "Type", NULL, CT_CELL_TEXT, 0 },
	[NAME] = { "Name", NULL, CT_CELL_TEXT, 0 },
	[DETAIL] = { "Detail", NULL, CT_CELL_TEXT, 0 },
	[RESULT] = { "Result", NULL, CT_CELL_TEXT, 0 },
	[STATE] = { "State", NULL, CT_CELL_TEXT, 0 },
};

/* People see one call at a time, without the first column: its id stands above. */
enum { T_CALL, T_TIME, T_NS, T_COUNT, T_PLACE, TIME_COLUMNS };

static const struct ct_column time_columns[TIME_COLUMNS] = {
	[T_CALL] = { "Call", NULL, CT_CELL_ID, 0 },
	[T_TIME] = { "Time (%)", "time", CT_CELL_PERCENT, 0 },
	[T_NS] = { "Total Time (ns)", "total", CT_CELL_NS, 0 },
	[T_COUNT] = { "Count", "times", CT_CELL_COUNT, 1 },
	[T_PLACE] = { "Where", "where", CT_CELL_TEXT, 0 },
};

enum { M_CALL, M_CPU, M_COUNT, M_NS, M_NAME, MEANWHILE_COLUMNS };

static const struct ct_column meanwhile_columns[MEANWHILE_COLUMNS] = {
	[M_CALL] = { "Call", NULL, CT_CELL_ID, 0 },
	[M_CPU] = { "CPU", "CPU", CT_CELL_ID, 0 },
	[M_COUNT] = { "Count", "times", CT_CELL_COUNT, 0 },
	[M_NS] = { "Total Time (ns)", "total", CT_CELL_NS, 0 },
	[M_NAME] = { "Name", "interrupt", CT_CELL_TEXT, 0 },
};

static const char *tables_state(const struct ct_call_node *n)
{
	return n->abandoned ? "left" : n->begin_lost ? "begin lost" : n->deferred ? "later" :
	       n->instant || n->returned ? NULL : "no end";
}

static void tables_node(struct ct_table *table, const struct ct_call_tree *t, uint32_t index)
{
	const struct ct_call_node *n = &t->nodes.list[index];
	struct ct_cell *row = ct_table_row(table);
	uint64_t root = t->target.begin;

	row[ROOT] = ct_u64(t->target.op_id);
	if (!(n->key & CT_NODE_INSTANT))
		row[OP] = ct_u64(n->key);
	if (index)
		row[PARENT] = ct_u64(t->nodes.list[n->parent].key);
	row[DEPTH] = ct_u64(n->depth);
	row[START] = ct_u64(n->begin > root ? n->begin - root : 0);
	if (n->returned && !n->abandoned)
		row[DURATION] = ct_u64(n->duration);
	if (!n->instant)
		row[SELF] = ct_u64(n->self);
	row[PID] = ct_u64(n->pid);
	row[TID] = ct_u64(n->tid);
	row[LAYER] = ct_const(ct_call_layer(n->class, n->interrupt, n->deferred));
	row[CATEGORY] = ct_const(ct_category_word[n->class->category]);
	row[NAME] = ct_const(n->class->name);
	row[DETAIL] = n->detail ? ct_text(table, n->detail) : ct_const(NULL);
	row[RESULT] = ct_const(n->failed ? n->result ? n->result : "failed" : NULL);
	row[STATE] = ct_const(tables_state(n));
}

/* @call: the tables are of several calls, which their first column tells apart. */
static void tables_time(struct ct_table *table, const struct ct_call_tree *t, bool call)
{
	unsigned int skip = !call;

	for (unsigned int i = 0; i < CT_PLACE_COUNT; i++) {
		struct ct_cell *row;

		if (!t->places[i])
			continue;
		row = ct_table_row(table);
		if (call)
			row[T_CALL] = ct_u64(t->target.op_id);
		row[T_TIME - skip] = ct_double(100.0 * t->places[i] / t->total);
		row[T_NS - skip] = ct_u64(t->places[i]);
		row[T_COUNT - skip] = ct_u64(t->place_counts[i]);
		row[T_PLACE - skip] = ct_const(ct_call_place_text[i]);
	}
}

static bool tables_was_there(const struct ct_call_tree *t, int32_t cpu)
{
	return t->cpus[cpu / 64] >> cpu % 64 & 1;
}

static unsigned int tables_meanwhile(struct ct_table *table, const struct ct_call_tree *t,
				     bool call)
{
	unsigned int rows = 0, skip = !call;

	for (uint32_t i = 0; i < t->meanwhile.count; i++) {
		const struct ct_call_meanwhile *m = &t->meanwhile.list[i];
		struct ct_cell *row;

		if (!tables_was_there(t, m->cpu))
			continue;
		row = ct_table_row(table);
		if (call)
			row[M_CALL] = ct_u64(t->target.op_id);
		row[M_CPU - skip] = ct_u64(m->cpu);
		row[M_COUNT - skip] = ct_u64(m->count);
		row[M_NS - skip] = ct_u64(m->ns);
		row[M_NAME - skip] = ct_const(m->class->name);
		rows++;
	}
	return rows;
}

void ct_call_tables_begin(struct ct_call_tables *tables, bool has_gpu)
{
	tables->has_gpu = has_gpu;
	ct_call_gpu_begin(&tables->gpu, NULL, NULL);
	ct_table_begin(&tables->tree, "call_tree", "Calls inside calls", tree_columns, TREE_COLUMNS);
	ct_table_begin(&tables->time, "call_time", "Where their time went", time_columns, TIME_COLUMNS);
	ct_table_begin(&tables->meanwhile, "call_meanwhile", "Interrupts meanwhile on the same CPUs",
		       meanwhile_columns, MEANWHILE_COLUMNS);
}

void ct_call_tables_add(struct ct_call_tables *tables, const struct ct_analysis *a,
			const struct ct_call_tree *t, const bool *shown)
{
	uint64_t hidden = 0;

	for (uint32_t i = 0; i < t->nodes.count; i++)
		if (shown[i])
			tables_node(&tables->tree, t, i);
	for (size_t i = 0; i < t->rests.count; i++)
		hidden += t->rests.list[i].count;
	if (hidden)
		ct_table_note(&tables->tree,
			      "Call %llu: %llu smaller calls inside these, and what is in them, are left out.",
			      (unsigned long long)t->target.op_id, (unsigned long long)hidden);
	tables_time(&tables->time, t, true);
	tables_meanwhile(&tables->meanwhile, t, true);
	ct_call_gpu_add(&tables->gpu, a, t, true);
}

static int tables_print(struct ct_printer *printer, struct ct_table *t, bool print, int rc)
{
	int ended = ct_table_end(t);

	if (!rc)
		rc = ended;
	if (!rc && print)
		rc = ct_printer_table(printer, t);
	ct_table_free(t);
	return rc;
}

int ct_call_tables_end(struct ct_call_tables *tables, const struct ct_call_request *q, FILE *out,
		       bool print)
{
	/* print.top said how many nodes are rows. */
	struct ct_print_options options = { .width = q->print.width };
	struct ct_printer *printer = ct_printer_open(q->format, out, &options, true);
	int rc = printer ? 0 : -ENOMEM, closing;

	rc = tables_print(printer, &tables->tree, print, rc);
	rc = tables_print(printer, &tables->time, print, rc);
	rc = tables_print(printer, &tables->meanwhile, print, rc);
	rc = tables_print(printer, &tables->gpu, print && tables->has_gpu, rc);
	closing = printer ? ct_printer_close(printer) : 0;
	return rc ? rc : closing;
}

static void tables_notes(struct ct_table *time, const struct ct_analysis *a,
			 const struct ct_call_tree *t)
{
	if (!a->trace->has_kernel)
		ct_table_note(time,
			      "Without the module, time off the CPU and interrupts are not told apart.");
	else if (t->kernel_calls && !t->user_ioctls && t->nodes.list[0].class->layer == CT_LAYER_USER)
		ct_table_note(time,
			      "Entering and leaving the kernel is in libcuda's own time.");
}

int ct_call_tables_text(const struct ct_analysis *a, const struct ct_call_tree *t,
			const struct ct_call_request *q, FILE *out)
{
	struct ct_print_options options = { .width = q->print.width, .colour = q->print.colour };
	struct ct_printer *printer = ct_printer_open(ct_format_find("table"), out, &options, true);
	struct ct_table time, meanwhile, gpu;
	unsigned int rows;
	bool say;
	int rc = printer ? 0 : -ENOMEM, closing;

	ct_table_begin(&time, "call_time", "Where the time went", time_columns + 1, TIME_COLUMNS - 1);
	tables_time(&time, t, false);
	tables_notes(&time, a, t);
	rc = tables_print(printer, &time, t->total > 0, rc);
	ct_table_begin(&meanwhile, "call_meanwhile",
		       "Meanwhile on its CPUs: interrupts outside its thread, of unknown cause",
		       meanwhile_columns + 1, MEANWHILE_COLUMNS - 1);
	rows = tables_meanwhile(&meanwhile, t, false);
	rc = tables_print(printer, &meanwhile, rows > 0, rc);
	ct_call_gpu_begin(&gpu, a, t);
	say = ct_call_gpu_add(&gpu, a, t, false);
	rc = tables_print(printer, &gpu, say, rc);
	closing = printer ? ct_printer_close(printer) : 0;
	return rc ? rc : closing;
}
