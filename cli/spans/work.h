/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the reports on kernels and copies share: what is taken for a kernel or a copy, and
 * where it is taken from.  If the trace has records of the GPU, these alone count; else the
 * calls that asked for the work, whose times are those of the host.
 */
#ifndef CT_CLI_WORK_H
#define CT_CLI_WORK_H

#include "spans/spans.h"
#include "table/table.h"

/* Copies by their direction, then memory sets. */
#define CT_GPU_OPERATIONS	(CT_DIR_COUNT + 1)

/* Which records count, and how many were left out. */
struct ct_gpu_source {
	bool measured;		/* the trace has records of the GPU; calls do not count */
	uint64_t failed;	/* calls that failed: the GPU did nothing for them */
	uint64_t graphs;	/* graphs that were launched, or ran as one record */
	uint64_t graphs_ns;	/* ns, of those that ran */
};

/* A class of the GPU, or a call of libcuda, that launches a kernel by name. */
static inline bool ct_gpu_is_kernel(const struct ct_class *class)
{
	return ct_class_is(class, CT_IS_KERNEL_LAUNCH | CT_IS_GPU_KERNEL) && class->known[CT_KNOWN_KERNEL] >= 0;
}

/* The same that copies or sets memory. */
static inline bool ct_gpu_is_transfer(const struct ct_class *class)
{
	return ct_class_is(class, CT_IS_TRANSFER | CT_IS_GPU_COPY | CT_IS_GPU_SET);
}

/* Of these, one that sets memory. */
static inline bool ct_gpu_is_set(const struct ct_class *class)
{
	return ct_class_is(class, CT_IS_SET | CT_IS_GPU_SET);
}

/* A call that launches a graph, or a record of a graph that ran. */
static inline bool ct_gpu_is_graph(const struct ct_class *class)
{
	return ct_class_is(class, CT_IS_GRAPH_LAUNCH | CT_IS_GPU_GRAPH);
}

/* Do records of the GPU count?  Else the calls do.  @layer: the only one that is asked for, or -1. */
static inline bool ct_gpu_measured(const struct ct_trace *t, int layer)
{
	/* Who asks for the program's layer asks for the calls. */
	return t->has_gpu && layer != CT_LAYER_USER;
}

/* Does this kernel, copy or set count?  A graph never does.  Notes what is left out. */
bool ct_gpu_counts(struct ct_gpu_source *s, const struct ct_span *span);

/* Notes below the table on what is not in it.  @what: "kernels", "copies". */
void ct_gpu_notes(const struct ct_gpu_source *s, struct ct_table *t, const char *what);

/* The index below CT_GPU_OPERATIONS of a copy or a set, and its name as nsys writes it. */
unsigned int ct_gpu_operation(const struct ct_record *r);
const char *ct_gpu_operation_name(unsigned int operation);

/* The same of a record of the GPU that is no kernel: a copy, a set or a graph.  Else NULL. */
const char *ct_gpu_work_name(const struct ct_record *r);

#endif
