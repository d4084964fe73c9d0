/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The pass over the records: CUDATRACE_RECORDS and what is told by single records. */
#ifndef CT_CLI_SQLITE_RECORDS_H
#define CT_CLI_SQLITE_RECORDS_H

#include "analysis/engine.h"
#include "export/sqlite/sqlite_fields.h"
#include "export/slices/slice_metrics.h"
#include "export/sqlite/sqlite_gpu.h"

/* What is kept of a class that has records. */
struct ct_records_class {
	const struct ct_class *class;	/* NULL: it has none */
	struct ct_fields_table *fields;
	uint64_t count;
	uint8_t category;		/* that it counts for */
	uint8_t ioctl;			/* 1: the program's, 2: the kernel's */
	uint8_t results;		/* enum ct_results_kind */
};

/* Anyone may have written the trace: threads beyond get no names. */
#define CT_RECORDS_THREADS	(1u << 18)

struct ct_records {
	struct ct_db *db;
	struct ct_strings *strings;
	struct ct_fields fields;
	struct ct_gpu_tables gpu;
	struct ct_insert insert, ranges, stacks, samples, metrics;
	struct ct_slice_metrics changes;
	struct ct_results results;
	struct ct_records_class *classes;	/* by id */
	uint64_t start;				/* ns, of the trace */
	CT_KEYED(uint64_t) threads;		/* pid << 32 | tid */
	uint64_t thread;			/* the last one */
	bool threads_left_out;
	bool kernel_ioctls;			/* the kernel's are the driver's ioctls */
};

/**
 * ct_records_write() - fill the tables from the records of a trace
 *
 * Must be ended also after an error; what it collected is valid until then.
 *
 * Return: 0 or a negative errno.
 */
int ct_records_write(struct ct_records *s, const struct ct_trace *t, struct ct_db *db, struct ct_strings *strings);
int ct_records_end(struct ct_records *s);

/* nsys's global thread id; of the process with tid 0. */
static inline int64_t ct_global_tid(uint32_t pid, uint32_t tid)
{
	return (int64_t)(pid & 0xffffff) << 24 | (tid & 0xffffff);
}

#endif
