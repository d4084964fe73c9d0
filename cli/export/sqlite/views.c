// SPDX-License-Identifier: LGPL-2.1-or-later
/* See views.h.  Views on fields depend on which tables of fields the trace has. */
#include "export/sqlite/views.h"

#include <errno.h>
#include <string.h>

#include "export/sqlite/schema.h"

#define GLOBAL_TID(r)	"((" r ".pid & 0xffffff) << 24 | (" r ".tid & 0xffffff))"

/* ----------------------------------------------------- fields of records --- */

/* A field's value as the JSON Lines have it. */
static void views_json_value(sqlite3_str *sql, const struct ct_fields_table *t, unsigned int i)
{
	const char *column = t->columns[i];

	switch (t->class->fields[i].type) {
	case CT_TYPE_u64:
		sqlite3_str_appendf(sql, "CASE WHEN \"%w\" < 0 THEN json(printf('%%llu', \"%w\")) ELSE \"%w\" END",
				    column, column, column);
		break;
	case CT_TYPE_x8:
	case CT_TYPE_x16:
	case CT_TYPE_x32:
	case CT_TYPE_x64:
	case CT_TYPE_nvcode:
		sqlite3_str_appendf(sql, "CASE WHEN \"%w\" NOT NULL THEN printf('0x%%llx', \"%w\") END", column, column);
		break;
	case CT_TYPE_str:
	case CT_TYPE_class:
		sqlite3_str_appendf(sql, "(SELECT value FROM StringIds WHERE id = \"%w\")", column);
		break;
	case CT_TYPE_dir:
		sqlite3_str_appendf(sql, "COALESCE((SELECT name FROM ENUM_CUDATRACE_DIRECTION WHERE id = \"%w\"),"
				    " printf('0x%%llx', \"%w\"))", column, column);
		break;
	case CT_TYPE_dev:
		sqlite3_str_appendf(sql, "CASE \"%w\" WHEN %u THEN 'nvidiactl' WHEN %u THEN 'nvidia-uvm'"
				    " WHEN %u THEN 'nvidia-uvm-tools' WHEN %u THEN 'nvidia-modeset'"
				    " WHEN %u THEN 'unknown' ELSE 'nvidia' || \"%w\" END", column, CT_DEV_NVIDIACTL,
				    CT_DEV_UVM, CT_DEV_UVM_TOOLS, CT_DEV_MODESET, CT_DEV_UNKNOWN, column);
		break;
	case CT_TYPE_cures:
	case CT_TYPE_nvst:
		sqlite3_str_appendf(sql, "CASE WHEN \"%w\" NOT NULL THEN COALESCE((SELECT name FROM CUDATRACE_RESULTS"
				    " WHERE kind = %Q AND code = \"%w\"), printf('0x%%llx', \"%w\")) END", column,
				    ct_results_word[t->class->fields[i].type == CT_TYPE_cures ? CT_RESULTS_CUDA :
												CT_RESULTS_NV],
				    column, column);
		break;
	default:
		sqlite3_str_appendf(sql, "\"%w\"", column);
	}
}

/* CASE c.fields WHEN 'TABLE' THEN (SELECT ... FROM TABLE WHERE record = r.id) ... END */
static void views_json(sqlite3_str *sql, const struct ct_fields *f)
{
	sqlite3_str_appendall(sql, "CASE c.fields");
	for (unsigned int i = 0; i < f->count; i++) {
		const struct ct_fields_table *t = f->tables[i];

		sqlite3_str_appendf(sql, " WHEN %Q THEN (SELECT json_object(", t->name);
		for (unsigned int k = 0; k < t->class->fields_count; k++) {
			sqlite3_str_appendf(sql, k ? ", %Q, " : "%Q, ", t->class->fields[k].name);
			views_json_value(sql, t, k);
		}
		sqlite3_str_appendf(sql, ") FROM \"%w\" WHERE record = r.id)", t->name);
	}
	sqlite3_str_appendall(sql, " WHEN 'CUDATRACE_FIELDS_OTHER' THEN (SELECT details FROM"
			      " CUDATRACE_FIELDS_OTHER WHERE record = r.id) ELSE '{}' END");
}

/* The value of a field, of whichever table has the record's; of type @type. */
static void views_field(sqlite3_str *sql, const struct ct_fields *f, const char *field, unsigned int type)
{
	bool some = false;

	for (unsigned int i = 0; i < f->count; i++) {
		const struct ct_fields_table *t = f->tables[i];
		int column = ct_fields_column(t, field);

		if (column < 0 || t->class->fields[column].type != type)
			continue;
		sqlite3_str_appendf(sql, "%s WHEN %Q THEN (SELECT \"%w\" FROM \"%w\" WHERE record = r.id)",
				    some ? "" : "CASE c.fields", t->name, t->columns[column], t->name);
		some = true;
	}
	sqlite3_str_appendall(sql, some ? " END" : "NULL");
}

static int views_finish(struct ct_db *db, sqlite3_str *sql)
{
	char *text = sqlite3_str_finish(sql);
	int rc = text ? ct_db_exec(db, text) : -ENOMEM;

	sqlite3_free(text);
	return rc;
}

/* --------------------------------------------------- views of our tables --- */

/* All records with words for their numbers. */
static int views_events(struct ct_db *db, const struct ct_fields *f)
{
	sqlite3_str *sql = sqlite3_str_new(db->db);

	sqlite3_str_appendall(sql, "CREATE VIEW CUDATRACE_EVENTS AS SELECT r.id, r.parentId, c.layer, c.category,"
		" c.type, c.op, c.name, r.start, r.end,"
		" CASE WHEN r.selfTime NOT NULL THEN r.end - r.start END AS duration, r.selfTime, r.pid, r.tid,"
		" " GLOBAL_TID("r") " AS globalTid, r.cpu, r.depth, r.result,"
		" (SELECT name FROM CUDATRACE_RESULTS WHERE kind = c.results AND code = r.result) AS resultName,"
		" r.flags & 1 AS failed, r.flags >> 1 & 1 AS unfinished, r.flags, r.size,"
		" (SELECT value FROM StringIds WHERE id = ");
	views_field(sql, f, "kernel", CT_TYPE_str);
	sqlite3_str_appendall(sql, ") AS kernel, ");
	views_json(sql, f);
	sqlite3_str_appendall(sql, " AS details FROM CUDATRACE_RECORDS r JOIN CUDATRACE_CLASSES c ON c.id = r.classId");
	return views_finish(db, sql);
}

static void views_column(sqlite3_str *sql, const struct ct_fields_table *t, const char *field, const char *as)
{
	int column = ct_fields_column(t, field);

	if (column < 0)
		sqlite3_str_appendf(sql, ", NULL AS %s", as);
	else
		sqlite3_str_appendf(sql, ", f.\"%w\" AS %s", t->columns[column], as);
}

/* Launches of kernels by name: the calls, and the GPU's records where there are any. */
static int views_launches(struct ct_db *db, const struct ct_fields *f)
{
	static const struct { const char *field, *as; } columns[] = {
		{ "grid_x", "gridX" }, { "grid_y", "gridY" }, { "grid_z", "gridZ" },
		{ "block_x", "blockX" }, { "block_y", "blockY" }, { "block_z", "blockZ" },
		{ "shared", "dynamicSharedMemory" }, { "stream", "stream" }, { "kernel", "demangledName" },
	};
	sqlite3_str *sql = sqlite3_str_new(db->db);
	const char *sep = "CREATE VIEW CUDATRACE_LAUNCHES AS SELECT l.*, n.value AS kernel, k.shortName, k.mangledName"
			  " FROM (";

	for (unsigned int i = 0; i < f->count; i++) {
		const struct ct_fields_table *t = f->tables[i];

		if (t->class->known[CT_KNOWN_KERNEL] < 0)
			continue;
		sqlite3_str_appendf(sql, "%sSELECT r.id, c.layer, c.name, r.start, r.end, r.selfTime, r.pid, r.tid, "
				    GLOBAL_TID("r") " AS globalTid, r.flags", sep);
		for (size_t k = 0; k < sizeof(columns) / sizeof(*columns); k++)
			views_column(sql, t, columns[k].field, columns[k].as);
		sqlite3_str_appendf(sql, " FROM \"%w\" f JOIN CUDATRACE_RECORDS r ON r.id = f.record"
				    " JOIN CUDATRACE_CLASSES c ON c.id = r.classId"
				    " WHERE c.type = 'kernel' AND c.layer <> 'kernel'", t->name);
		sep = " UNION ALL ";
	}
	sqlite3_str_appendall(sql, ") l LEFT JOIN StringIds n ON n.id = l.demangledName"
			      " LEFT JOIN CUDATRACE_KERNELS k ON k.demangledName = l.demangledName");
	return views_finish(db, sql);
}

static int views_copies(struct ct_db *db, const struct ct_fields *f)
{
	sqlite3_str *sql = sqlite3_str_new(db->db);

	_Static_assert(CT_CLASS_gpu_copy == 13 && CT_CLASS_gpu_set == 14, "the classes of CUDATRACE_COPIES");
	sqlite3_str_appendall(sql, "CREATE VIEW CUDATRACE_COPIES AS SELECT x.*, d.name AS direction,"
		" COALESCE(d.copyKind, 0) AS copyKind, CASE WHEN x.op = 'set' THEN '[CUDA memset]'"
		" ELSE '[CUDA memcpy ' || e.label || ']' END AS operation FROM ("
		"SELECT r.id, c.layer, c.name, CASE c.id WHEN 13 THEN 'copy' WHEN 14 THEN 'set' ELSE c.op END AS op,"
		" r.start, r.end, r.selfTime, r.pid, r.tid, " GLOBAL_TID("r")
		" AS globalTid, r.flags, r.size AS bytes, ");
	views_field(sql, f, "stream", CT_TYPE_x64);
	sqlite3_str_appendall(sql, " AS stream, ");
	views_field(sql, f, "direction", CT_TYPE_dir);
	sqlite3_str_appendall(sql, " AS directionId FROM CUDATRACE_RECORDS r JOIN CUDATRACE_CLASSES c ON c.id = r.classId"
		" WHERE c.id IN (13, 14) OR (c.type = 'transfer' AND c.layer <> 'kernel' AND c.op IN ('copy', 'set'))) x"
		" LEFT JOIN ENUM_CUDATRACE_DIRECTION d ON d.id = x.directionId"
		" LEFT JOIN ENUM_CUDA_MEMCPY_OPER e ON e.id = COALESCE(d.copyKind, 0)");
	return views_finish(db, sql);
}

static int views_memory(struct ct_db *db, const struct ct_fields *f)
{
	sqlite3_str *sql = sqlite3_str_new(db->db);

	sqlite3_str_appendall(sql, "CREATE VIEW CUDATRACE_MEMORY AS SELECT r.id, c.layer, c.name, c.op, r.start, r.end,"
		" r.pid, r.tid, " GLOBAL_TID("r") " AS globalTid, r.flags & 1 AS failed, r.size AS bytes, ");
	views_field(sql, f, "ptr", CT_TYPE_x64);
	sqlite3_str_appendall(sql, " AS address FROM CUDATRACE_RECORDS r JOIN CUDATRACE_CLASSES c ON c.id = r.classId"
		" WHERE c.type = 'memory' AND c.op IN ('alloc', 'free')");
	return views_finish(db, sql);
}

/* The driver's ioctls, decoded, from both sides: seenBy says from which. */
static int views_ioctls(struct ct_db *db, const struct ct_fields *f)
{
	static const char *const columns[] = { "cmd", "device", "have", "client", "object", "parent", "code", "status" };
	sqlite3_str *sql = sqlite3_str_new(db->db);
	const char *sep = "CREATE VIEW CUDATRACE_IOCTLS AS SELECT i.*,"
			  " CASE device WHEN 255 THEN 'nvidiactl' WHEN 65536 THEN 'nvidia-uvm'"
			  " WHEN 65537 THEN 'nvidia-uvm-tools' WHEN 65538 THEN 'nvidia-modeset'"
			  " WHEN 4294967295 THEN 'unknown' ELSE 'nvidia' || device END AS deviceName,"
			  " COALESCE(n.value, printf('0x%x', cmd)) AS ioctl,"
			  " CASE WHEN have & 12 THEN COALESCE(m.value, printf('0x%x', i.code)) END AS command,"
			  " s.name AS statusName FROM (";

	for (unsigned int i = 0; i < f->count; i++) {
		const struct ct_fields_table *t = f->tables[i];

		if (!t->ioctl)
			continue;
		sqlite3_str_appendf(sql, "%sSELECT r.id, r.parentId, c.ioctlOf AS seenBy, c.name, r.start, r.end, r.selfTime,"
				    " r.pid, r.tid, " GLOBAL_TID("r") " AS globalTid, r.depth, r.flags, r.result, f.ioctlName,"
				    " f.commandName", sep);
		for (size_t k = 0; k < sizeof(columns) / sizeof(*columns); k++)
			views_column(sql, t, columns[k], columns[k]);
		sqlite3_str_appendf(sql, " FROM \"%w\" f JOIN CUDATRACE_RECORDS r ON r.id = f.record"
				    " JOIN CUDATRACE_CLASSES c ON c.id = r.classId", t->name);
		sep = " UNION ALL ";
	}
	sqlite3_str_appendall(sql, ") i LEFT JOIN StringIds n ON n.id = i.ioctlName"
			      " LEFT JOIN StringIds m ON m.id = i.commandName"
			      " LEFT JOIN CUDATRACE_RESULTS s ON s.kind = 'nvidia' AND s.code = i.status");
	return views_finish(db, sql);
}

/* ------------------------------------------------------------------------ */

CT_DB_SQL(views_fixed, "views");

int ct_views_create(struct ct_db *db, const struct ct_records *s)
{
	const struct ct_fields *f = &s->fields;
	int rc = views_events(db, f);

	_Static_assert(CT_CLASS_mark == 1 && CT_CLASS_range_push == 2, "the classes of NVTX_EVENTS");
	_Static_assert(CT_RECORD_INNER_IOCTL == 32, "the flag of OSRT_API");
	rc = rc ? rc : views_launches(db, f);
	rc = rc ? rc : views_copies(db, f);
	rc = rc ? rc : views_memory(db, f);
	rc = rc ? rc : views_ioctls(db, f);
	return rc ? rc : ct_db_exec(db, views_fixed);
}
