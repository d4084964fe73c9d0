/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tables of what the GPU did, as nsys has them: of records of the layer gpu alone. */
#ifndef CT_CLI_SQLITE_GPU_H
#define CT_CLI_SQLITE_GPU_H

#include "export/sqlite/sqlite_strings.h"
#include "spans/spans.h"

struct ct_gpu_tables {
	struct ct_insert kernels, copies, sets, graphs;
};

int ct_gpu_tables_begin(struct ct_gpu_tables *g, struct ct_db *db);

/* Adds a record of the GPU, if it is one of a kernel, a graph, a copy or a memory set.  0 or a negative errno. */
int ct_gpu_tables_add(struct ct_gpu_tables *g, struct ct_strings *strings, struct ct_names *names,
		      const struct ct_span *span, int64_t start, int64_t end);
int ct_gpu_tables_end(struct ct_gpu_tables *g);

#endif
