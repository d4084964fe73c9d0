/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The columns of the formats that are tables, and the values of a row in them.  A word that
 * JSON Lines has too means the same here, and is what stands on the E or I line of the call.
 */
#ifndef CT_CLI_COLUMNS_H
#define CT_CLI_COLUMNS_H

#include "analysis/engine.h"
#include "base/out.h"
#include "trace/names.h"

enum ct_column_type {
	CT_COLUMN_TEXT,		/* bytes, perhaps no UTF-8 */
	CT_COLUMN_BOOL,
	CT_COLUMN_S32,
	CT_COLUMN_S64,
	CT_COLUMN_U32,
	CT_COLUMN_U64,
	CT_COLUMN_HANDLE,	/* 64 bits that people read in hexadecimal */
	CT_COLUMN_WALL,		/* a moment: us since 1970, UTC; in number the ns */
};

/*
 * X(ID, name, type).  time and ts_ns are of the end of a call and of the moment of an instant,
 * as the order of the rows is; of a call that never returned they are of its begin.  phase is E
 * for a call that returned, I for an instant, B for a call that never returned.
 */
#define CT_EXPORT_COLUMNS(X)						\
	X(TIME, "time", WALL) X(TS_NS, "ts_ns", S64)			\
	X(BEGIN_NS, "begin_ns", S64) X(DURATION_NS, "duration_ns", S64)	\
	X(SELF_NS, "self_ns", S64)					\
	X(LAYER, "layer", TEXT) X(TYPE, "type", TEXT) X(OP, "op", TEXT)	\
	X(NAME, "name", TEXT) X(SYMBOL, "symbol", TEXT)			\
	X(PHASE, "phase", TEXT)						\
	X(PID, "pid", U32) X(TID, "tid", U32)				\
	X(PROCESS, "process", TEXT) X(CPU, "cpu", S32)			\
	X(DEPTH, "depth", U32) X(OP_ID, "op_id", S64)			\
	X(PARENT_OP_ID, "parent_op_id", S64)				\
	X(RESULT, "result", TEXT) X(RESULT_CODE, "result_code", S64)	\
	X(FAILED, "failed", BOOL)					\
	X(SIZE, "size", U64) X(DIRECTION, "direction", TEXT)		\
	X(KERNEL, "kernel", TEXT)					\
	X(GRID_X, "grid_x", U32) X(GRID_Y, "grid_y", U32)		\
	X(GRID_Z, "grid_z", U32) X(BLOCK_X, "block_x", U32)		\
	X(BLOCK_Y, "block_y", U32) X(BLOCK_Z, "block_z", U32)		\
	X(THREADS, "threads", U64) X(STREAM, "stream", HANDLE)		\
	X(CMD, "cmd", U32) X(ESCAPE, "escape", TEXT)			\
	X(CONTROL, "control", TEXT) X(CLASS, "class", TEXT)		\
	X(STATUS, "status", TEXT) X(DEVICE, "device", TEXT)		\
	X(TEXT, "text", TEXT) X(CONTEXT, "context", TEXT)		\
	X(UNFINISHED, "unfinished", BOOL)				\
	X(BEGIN_LOST, "begin_lost", BOOL)				\
	X(ABANDONED, "abandoned", BOOL)					\
	X(TRUNCATED, "truncated", BOOL) X(STACK, "stack", U32)		\
	X(DETAILS, "details", TEXT)

#define CT_EXPORT_COLUMN_ID(id, name, type)	CT_COL_##id,
enum { CT_EXPORT_COLUMNS(CT_EXPORT_COLUMN_ID) CT_COL_COUNT };
#undef CT_EXPORT_COLUMN_ID

struct ct_export_column {
	const char *name;
	enum ct_column_type type;
};
extern const struct ct_export_column ct_export_columns[CT_COL_COUNT];

struct ct_value {
	bool known;		/* else the row has nothing in this column */
	bool kept;		/* the text stays where it is until the pass ends */
	uint64_t number;
	const char *text;
	size_t len;
};

/* What makes the values of rows. */
struct ct_columns {
	struct ct_value values[CT_COL_COUNT];
	struct ct_out details;
	struct ct_ioctl_words ioctl;
	char words[3][24];
};

/* 0 or -ENOMEM; ends with ct_columns_close(), also after an error. */
int ct_columns_open(struct ct_columns *c);
void ct_columns_close(struct ct_columns *c);

/*
 * The values of a row, valid until the next one.  Rows are the spans of a trace in the order of their
 * ends, but for ranges, whose begins and ends are rows.
 */
void ct_columns_row(struct ct_columns *c, const struct ct_analysis *a, const struct ct_span *span);

/*
 * Texts for readers that take UTF-8 alone: what is none becomes U+FFFD, and so do NULs.  The
 * length of what stands at the begin of @text as it is; and one character more, which is
 * copied to @out: how many bytes of @text it takes, and @n those of @out.
 */
size_t ct_utf8_plain(const char *text, size_t len);
unsigned int ct_utf8_next(const char *text, size_t left, char out[4], unsigned int *n);

#endif
