/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The files of the trace directory that hold the process's records. */
#ifndef CT_GPU_STREAMS_H
#define CT_GPU_STREAMS_H

#include "plugins/gpu/cupti.h"

/* A record as it is written, in the order of its end. */
struct entry {
	u64 begin, end;		/* ns */
	u16 class;
	u16 size;		/* bytes of payload */
	union {
		struct ct_gpu_kernel kernel;
		struct ct_gpu_copy copy;
		struct ct_gpu_set set;
		struct ct_gpu_graph graph;
	};
};

/*
 * Records that the writer has and that are neither written nor lost yet.  Who reads a buffer adds
 * to it.
 */
extern u64 streams_unwritten;
void streams_done(u64 records);

/* Writes entries that are sorted by their end. */
void streams_write(const struct entry *const *sorted, size_t count);

/* A gpu_state record of the moment when, ns; a gpu_clock record of now. */
void streams_state(u32 state, const char *text, u64 when);
void streams_clock(u64 uncertainty, u32 method);

/* Another trace begins in the same process: its files are new. */
void streams_forget(void);

#endif
