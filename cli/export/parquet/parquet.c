// SPDX-License-Identifier: LGPL-2.1-or-later
/* See parquet.h.  A row group is in the order of the rows, so that it has a range of time. */
#include "export/parquet/parquet.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>

#include "export/columns.h"
#include "export/parquet/days.h"
#include "export/parquet/frames.h"
#include "export/parquet/text.h"

#define GROUP_ROWS	1000000
#define GROUP_BYTES	(48u << 20)	/* less rows, where texts are long and all different */

/* The same in all rows of a trace. */
enum { TRACE, HOST, DRIVER, COMMAND, SIMULATED, CONSTANTS };

#define COLUMNS	(CONSTANTS + CT_COL_COUNT)

struct parquet {
	struct ct_parquet_column columns[COLUMNS];
	const char *constants[CONSTANTS];
	char driver[32];
	bool simulated;
	struct ct_columns values;
	struct ct_parquet_group group;
	struct ct_days days;
	struct ct_day *day;		/* of the rows of the group */
	struct ct_bytes text;		/* one that had to be made UTF-8 */
	struct ct_error *err;
};

static void parquet_columns(struct ct_parquet_column columns[COLUMNS])
{
	static const enum ct_parquet_type types[] = {
		[CT_COLUMN_TEXT] = CT_PARQUET_TEXT, [CT_COLUMN_BOOL] = CT_PARQUET_BOOL,
		[CT_COLUMN_S32] = CT_PARQUET_S32, [CT_COLUMN_S64] = CT_PARQUET_S64,
		[CT_COLUMN_U32] = CT_PARQUET_U32, [CT_COLUMN_U64] = CT_PARQUET_U64,
		[CT_COLUMN_HANDLE] = CT_PARQUET_U64, [CT_COLUMN_WALL] = CT_PARQUET_MICROS,
	};

	static const struct ct_parquet_column constants[CONSTANTS] = {
		[TRACE] = { .name = "trace", .type = CT_PARQUET_TEXT, .required = true },
		[HOST] = { .name = "hostname", .type = CT_PARQUET_TEXT, .required = true },
		[DRIVER] = { .name = "driver", .type = CT_PARQUET_TEXT },
		[COMMAND] = { .name = "command", .type = CT_PARQUET_TEXT },
		[SIMULATED] = { .name = "simulated", .type = CT_PARQUET_BOOL, .required = true },
	};
	static const bool required[CT_COL_COUNT] = {
		[CT_COL_TIME] = true, [CT_COL_TS_NS] = true, [CT_COL_BEGIN_NS] = true,
		[CT_COL_LAYER] = true, [CT_COL_TYPE] = true, [CT_COL_NAME] = true, [CT_COL_PHASE] = true,
		[CT_COL_PID] = true, [CT_COL_TID] = true, [CT_COL_FAILED] = true,
		[CT_COL_UNFINISHED] = true, [CT_COL_BEGIN_LOST] = true, [CT_COL_ABANDONED] = true,
		[CT_COL_TRUNCATED] = true,
	};

	memcpy(columns, constants, sizeof(constants));
	for (unsigned int i = 0; i < CT_COL_COUNT; i++)
		columns[CONSTANTS + i] = (struct ct_parquet_column){
			.name = ct_export_columns[i].name,
			.type = types[ct_export_columns[i].type],
			.required = required[i],
			.rising = i == CT_COL_TIME || i == CT_COL_TS_NS || i == CT_COL_BEGIN_NS ||
				  i == CT_COL_OP_ID || i == CT_COL_PARENT_OP_ID,
			.various = i == CT_COL_DURATION_NS || i == CT_COL_SELF_NS,
		};
}

/* "580.159.04" of what the driver says of itself. */
static const char *parquet_driver(char buf[32], const char *text)
{
	const char *p = text;
	size_t n;

	for (; p && *p; p += n ? n : 1) {
		n = strspn(p, "0123456789.");
		if (n < 32 && isdigit((unsigned char)*p) && memchr(p, '.', n) &&
		    (p == text || p[-1] == ' ') && (!p[n] || p[n] == ' ')) {
			snprintf(buf, 32, "%.*s", (int)n, p);
			return buf;
		}
	}
	return text;
}

/* ------------------------------------------------------------------- rows --- */

static void parquet_text(struct parquet *p, struct ct_chunk *c, const char *text, size_t len, bool kept)
{
	ct_parquet_text(&p->text, c, p->group.compress, text, len, kept);
}

static void parquet_constants(struct parquet *p)
{
	struct ct_compress *z = p->group.compress;

	for (unsigned int i = 0; i < CONSTANTS; i++) {
		struct ct_chunk *c = &p->group.chunks[i];

		if (i == SIMULATED)
			ct_chunk_number(c, z, p->simulated);
		else if (p->constants[i])
			parquet_text(p, c, p->constants[i], strlen(p->constants[i]), true);
		else
			ct_chunk_null(c, z);
	}
}

static int parquet_flush(struct parquet *p)
{
	int rc = p->day ? ct_parquet_rows(&p->day->file, &p->group) : 0;

	if (!rc && p->text.failed)
		rc = -ENOMEM;
	return rc ? ct_fail(p->err, -rc, "%s: %s", p->day ? p->day->path : p->days.dir, strerror(-rc)) : 0;
}

/* The file of the row; the rows until now go into that of their day. */
static int parquet_day(struct parquet *p, uint64_t wall)
{
	uint32_t day = wall / CT_DAY_NS;
	int rc;

	if (p->day && p->day->day == day)
		return 0;
	rc = parquet_flush(p);
	if (rc)
		return rc;
	p->day = ct_days_get(&p->days, day, p->err);
	return p->day ? 0 : -p->err->code;
}

static int parquet_row(struct ct_analysis *a, const struct ct_span *span)
{
	struct parquet *p = a->arg;
	struct ct_compress *z = p->group.compress;
	int rc;

	if (span->kind == CT_SPAN_RANGE)
		return 0;
	ct_columns_row(&p->values, a, span);
	rc = parquet_day(p, p->values.values[CT_COL_TIME].number);
	if (rc)
		return rc;
	parquet_constants(p);
	for (unsigned int i = 0; i < CT_COL_COUNT; i++) {
		struct ct_chunk *c = &p->group.chunks[CONSTANTS + i];
		const struct ct_value *v = &p->values.values[i];

		if (!v->known && !c->column->required)
			ct_chunk_null(c, z);
		else if (!v->known && c->column->type == CT_PARQUET_TEXT)
			ct_chunk_text(c, z, "", 0, true);
		else if (c->column->type == CT_PARQUET_TEXT)
			parquet_text(p, c, v->text, v->len, v->kept);
		else
			ct_chunk_number(c, z, i == CT_COL_TIME ? v->number / 1000 : v->number);
	}
	p->group.rows++;
	if (p->group.rows < GROUP_ROWS &&
	    (p->group.rows % 256 || ct_parquet_group_size(&p->group) < GROUP_BYTES))
		return 0;
	return parquet_flush(p);
}

static const struct ct_analyser parquet_analyser = {
	.spans = CT_SPANS_BY_END,
	.unfiltered = true,
	.samples = true,
	.span = parquet_row,
};

static int parquet_write(struct parquet *p, const struct ct_trace *t)
{
	int rc = ct_engine_one(t, &parquet_analyser, p);

	/* A trace without records has a file too, which says that it was exported. */
	if (!rc && !p->days.count)
		rc = parquet_day(p, t->reg.realtime);
	if (!rc)
		rc = parquet_flush(p);
	for (unsigned int i = 0; i < p->days.count && !rc; i++)
		rc = ct_parquet_end(&p->days.list[i].file, &p->group, "records");
	/* First, so that no record's lines are missing. */
	rc = rc ? rc : ct_parquet_frames(p->days.dir, &t->reg, p->err);
	return rc ? rc : ct_days_publish(&p->days, p->err);
}

int ct_parquet_export(const struct ct_export *x, struct ct_error *err)
{
	const struct ct_registry *reg = &x->trace->reg;
	struct parquet p = { .err = err, .simulated = x->trace->simulated };
	int rc;

	if (!ct_compress_possible())
		return ct_fail(err, ENOTSUP, "this cudatrace was built without zstd, which parquet needs: "
			       "install libzstd-dev, then make clean and make");
	parquet_columns(p.columns);
	ct_days_init(&p.days, x->path, "parquet", reg);
	p.constants[TRACE] = p.days.uuid;
	p.constants[HOST] = ct_registry_info(reg, "hostname") ? : "unknown";
	p.constants[DRIVER] = parquet_driver(p.driver, ct_registry_info(reg, "driver"));
	p.constants[COMMAND] = ct_registry_info(reg, "command");
	rc = ct_columns_open(&p.values);
	if (!rc)
		rc = ct_parquet_group_init(&p.group, p.columns, COLUMNS);
	if (!rc)
		rc = parquet_write(&p, x->trace);
	ct_parquet_group_free(&p.group);
	ct_columns_close(&p.values);
	ct_bytes_free(&p.text);
	ct_days_free(&p.days);
	return rc;
}
