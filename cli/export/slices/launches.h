/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How many launches of a process nobody has seen finished.
 *
 * A launch of a kernel or a graph counts from its return with success, until its stream's work is
 * known to be done (analysis/cuda/streams.h), a record of the GPU says that it, or a later kernel of
 * its stream, ended, or its process ended.
 *
 * So without records of the GPU this is how far the host runs ahead at most: the GPU may have
 * finished more of them.  A program that never waits, and learns from its data that they are
 * there, only counts up.
 */
#ifndef CT_CLI_LAUNCHES_H
#define CT_CLI_LAUNCHES_H

#include "analysis/cuda/streams.h"

struct ct_launches_process {
	uint64_t pid;
	struct ct_streams streams;
};

/* A launch whose record of the GPU may come. */
struct ct_launches_join {
	uint64_t op_id;
	uint64_t stream, number;	/* as in struct ct_stream_work */
};

struct ct_launches {
	CT_KEYED(struct ct_launches_process) processes;
	CT_KEYED(struct ct_launches_join) joins;
	uint8_t *calls;			/* what a call does, by class id; 0: not known yet */
	bool gpu;			/* there are records of the GPU */
};

/* 0 or -ENOMEM. */
int ct_launches_event(struct ct_launches *l, const struct ct_trace_event *e);

/* How many there are now. */
uint64_t ct_launches_open(const struct ct_launches *l, uint32_t pid);
void ct_launches_free(struct ct_launches *l);

#endif
