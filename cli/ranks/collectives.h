/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The collectives of a trace: what each rank's call of libnccl became on its GPU, which calls of
 * other ranks it belongs to, how long it waited for them and how long it moved data.
 *
 * A collective is known by its communicator and number, a send and its receive by communicator,
 * sender, receiver and how manieth it is between them.  Its kernel is the one launched inside the
 * call, or at the end of its group, which one kernel may serve.  A kernel waits until the last
 * rank's kernel has begun, and moves data from then on.  Where the GPU's work was not recorded, only
 * when the calls were made is known.
 *
 * Found by a pass of its own, for traces with calls of libnccl only.  Memory is a part for each
 * call: 160 bytes.
 *
 * A process is one rank of a job as a rule.  One with several GPUs may be several (ncclCommInitAll, JAX): it has several
 * ranks in one communicator.  The largest such communicator says who they are; calls of another one are of the rank that
 * it was split off of, whose GPU it uses, or whose thread calls it.
 */
#ifndef CT_CLI_COLLECTIVES_H
#define CT_CLI_COLLECTIVES_H

#include "ranks/operations.h"
#include "spans/spans.h"

#define CT_PARTS_MAX	(1u << 24)

/* Has the trace calls of libnccl, by the classes of its registry? */
bool ct_collectives_there(const struct ct_registry *reg);

/* Or kernels of libnccl, by the names of its registry? */
bool ct_collectives_kernels(const struct ct_registry *reg);

/* "AllReduce": what a kernel of libnccl does, by its name, of so many characters; NULL: it is none of libnccl's. */
const char *ct_collectives_kernel(const char *name, int *length);

/**
 * ct_collectives_find() - those of a trace
 *
 * Free with ct_collectives_free(), also after an error.
 *
 * Return: 0 or -ENOMEM.
 */
int ct_collectives_find(struct ct_collectives *c, const struct ct_trace *t);

/*
 * The same as a part of somebody else's pass, without a filter: begin, each span by its end, and end, which frees it
 * (@rc: an error until then) and returns 0 or an error.  NULL: no memory.
 */
struct ct_collectives_find *ct_collectives_begin(struct ct_collectives *c, const struct ct_trace *t);
bool ct_collectives_want(const struct ct_class *class);
int ct_collectives_span(struct ct_collectives_find *f, const struct ct_span *s);
int ct_collectives_end(struct ct_collectives_find *f, int rc);

/* When the waiting ends of this work of the GPU; 0: it is none that waits, or it is not known. */
uint64_t ct_collectives_until(const struct ct_collectives *c, const struct ct_registry *reg, const struct ct_trace_event *e);

#endif
