/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a grouping is: of which spans, by which keys, which measure, which columns.  A report that
 * is a grouping is such a declaration, and so is what a user asks for with --by.
 */
#ifndef CT_CLI_GROUP_SPEC_H
#define CT_CLI_GROUP_SPEC_H

#include "table/table.h"

/* Of what: X(ID, word, text for titles and help). */
#define CT_GROUP_OF(X)								\
	X(CALLS, "calls", "Calls of libcuda and libcudart")			\
	X(LAUNCHES, "launches", "Calls that launch kernels and graphs")		\
	X(WAITS, "waits", "Synchronisations")					\
	X(ALLOCATIONS, "allocations", "Calls that allocate memory")		\
	X(FREES, "frees", "Calls that free memory")				\
	X(KERNELS, "kernels", "Kernels")					\
	X(COPIES, "copies", "Copies and memory sets")				\
	X(WORK, "work", "Work of the GPU")					\
	X(IOCTLS, "ioctls", "Ioctls of the driver")				\
	X(DRIVER, "driver", "Functions of the kernel driver")			\
	X(RANGES, "ranges", "Ranges of NVTX and of cudatrace's own header")	\
	X(SWITCHES, "switches", "Times that threads were off their CPUs")
#define CT_GROUP_ROW(id, word, text)	CT_OF_##id,
enum ct_group_of { CT_GROUP_OF(CT_GROUP_ROW) CT_OF_COUNT };
#undef CT_GROUP_ROW

/* By which keys: X(ID, word). */
#define CT_GROUP_BY(X)							\
	X(FUNCTION, "function") X(KERNEL, "kernel") X(THREAD, "thread")	\
	X(PROCESS, "process") X(RANK, "rank")				\
	X(STAGE, "stage") X(ITERATION, "iteration")			\
	X(STREAM, "stream") X(CONTEXT, "context") X(DEVICE, "device")	\
	X(RANGE, "range") X(OPERATION, "operation") X(IOCTL, "ioctl")	\
	X(COMMAND, "command") X(CLASS, "class") X(ERROR, "error")	\
	X(TYPE, "type") X(LAYER, "layer") X(CPU, "cpu")			\
	X(LINE, "line") X(STACK, "stack")				\
	X(WORK, "work") X(CATEGORY, "category")
#define CT_GROUP_ROW(id, word)		CT_BY_##id,
enum ct_group_by { CT_GROUP_BY(CT_GROUP_ROW) CT_BY_COUNT };
#undef CT_GROUP_ROW

/* Which measure: X(ID, word). */
#define CT_GROUP_MEASURES(X)						\
	X(DURATION, "duration") X(SELF, "self") X(COUNT, "count") X(BYTES, "bytes") X(GPU, "gpu")
#define CT_GROUP_ROW(id, word)		CT_MEASURE_##id,
enum ct_group_measure { CT_GROUP_MEASURES(CT_GROUP_ROW) CT_MEASURES };
#undef CT_GROUP_ROW

extern const char *const ct_group_of_word[CT_OF_COUNT];
extern const char *const ct_group_of_text[CT_OF_COUNT];
extern const char *const ct_group_by_word[CT_BY_COUNT];
extern const char *const ct_group_measure_word[CT_MEASURES];

#define CT_GROUP_KEYS		4	/* of a grouping */
#define CT_GROUP_COLUMNS	24

/* What a column shows of a group.  Nothing is known where no measure of it is. */
enum ct_figure {
	CT_FIGURE_SHARE,		/* of the total of all groups, in % */
	CT_FIGURE_TOTAL, CT_FIGURE_COUNT, CT_FIGURE_MEAN, CT_FIGURE_MEDIAN, CT_FIGURE_MIN, CT_FIGURE_MAX,
	CT_FIGURE_DEVIATION, CT_FIGURE_P95, CT_FIGURE_P99,
	CT_FIGURE_FAILED,		/* how many failed */
	CT_FIGURE_SELF, CT_FIGURE_SELF_SHARE,	/* the sum of self times in ns, whatever the measure */
	CT_FIGURE_WORD,			/* a text, the same in all rows */
	CT_FIGURE_PROCESS,		/* the name of the process, where that is a key */
	CT_FIGURE_KEY,			/* the first key; + 1: the second ... */
};

struct ct_group_column {
	struct ct_column column;
	unsigned int figure;		/* enum ct_figure */
	const char *word;		/* CT_FIGURE_WORD */
};

/* The columns that nsys gives a summary by time.  Scripts rely on their names: must never rename one. */
#define CT_GROUP_TIMES(count_name, count_head)						\
	{ { "Time (%)", "time", CT_CELL_PERCENT, 0 }, CT_FIGURE_SHARE, NULL },		\
	{ { "Total Time (ns)", "total", CT_CELL_NS, 0 }, CT_FIGURE_TOTAL, NULL },	\
	{ { count_name, count_head, CT_CELL_COUNT, 0 }, CT_FIGURE_COUNT, NULL },	\
	{ { "Avg (ns)", "avg", CT_CELL_NS_MEAN, 4 }, CT_FIGURE_MEAN, NULL },		\
	{ { "Med (ns)", "median", CT_CELL_NS_MEAN, 2 }, CT_FIGURE_MEDIAN, NULL },	\
	{ { "Min (ns)", "min", CT_CELL_NS, 7 }, CT_FIGURE_MIN, NULL },			\
	{ { "Max (ns)", "max", CT_CELL_NS, 3 }, CT_FIGURE_MAX, NULL },			\
	{ { "StdDev (ns)", "stddev", CT_CELL_NS_MEAN, 8 }, CT_FIGURE_DEVIATION, NULL }

struct ct_group_spec {
	enum ct_group_of of;
	enum ct_group_by by[CT_GROUP_KEYS];
	unsigned int keys;
	enum ct_group_measure measure;
	bool by_self;				/* rows are in the order of self times, not of totals */
	/* NULL: those of the measure, then the keys. */
	const struct ct_group_column *columns;
	unsigned int columns_count;
	/*
	 * Titles of the table: in general; from records of the GPU, or of the kernel module (ioctls); where
	 * there are no groups.  NULL: the first; that one NULL, too: one that names all of this.
	 */
	const char *title[3];
};

/* Which spans are grouped. */
struct ct_group_kind {
	uint32_t what;		/* bits of ct_class.what of their classes; 0: any class */
	bool timed;		/* what has no duration does not count */
};

extern const struct ct_group_kind ct_group_kinds[CT_OF_COUNT];

/* Bits of ct_class.what of the classes whose spans are looked at, 0: any class. */
uint32_t ct_group_what(const struct ct_group_spec *spec);

/* Are they of the GPU's work, so that it matters what is missing of its records? */
bool ct_group_covers(const struct ct_group_spec *spec);

/* Are they calls that give the GPU work, or this work? */
bool ct_group_submits(const struct ct_group_spec *spec);

#endif
