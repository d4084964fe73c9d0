/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The state stream of a trace: clock pairs, probes, losses; and streams of samples, which are of its
 * kind.  Only the recorder writes them.
 */
#ifndef CT_CLI_STATE_H
#define CT_CLI_STATE_H

#include <stdint.h>

#include "module/uapi/cudatrace.h"

struct ct_state {
	int fd;
	struct ct_packet *packet;	/* being filled */
	uint32_t at;			/* bytes of it in use */
	uint64_t seq;
	uint8_t uuid[16];
};

/* Creates DIR/state.  0 or a negative errno. */
int ct_state_open(struct ct_state *st, int dirfd, const uint8_t uuid[16]);

/* The same for a trace that may have one, whose recorder does not write it any more. */
int ct_state_append(struct ct_state *st, int dirfd, const uint8_t uuid[16]);

#define CT_STATE_NAME	32	/* bytes of a stream's name */

/* Creates a stream of samples, of process @pid or of GPUs by this one, and says how it is called.  0 or a negative errno. */
int ct_state_open_samples(struct ct_state *st, int dirfd, int pid, char name[CT_STATE_NAME], const uint8_t uuid[16]);

/* What a thread did at @ts, not before that of the sample before; @node: of its stack. */
int ct_state_sample(struct ct_state *st, uint64_t ts, uint32_t pid, uint32_t tid, uint32_t node,
		    enum ct_sample_state state);

/* The same of one that waits for Python's lock; .state of @wait is set here. */
int ct_state_gil_wait(struct ct_state *st, uint64_t ts, uint32_t pid, uint32_t tid, const struct ct_gil_wait *wait);

/* What a GPU is like now. */
int ct_state_gpu_metrics(struct ct_state *st, const struct ct_gpu_metrics *m);

/* The clocks of the system, all read now. */
int ct_state_clock(struct ct_state *st);
int ct_state_probe(struct ct_state *st, const struct ct_probe_info *info);
int ct_state_stream(struct ct_state *st, uint32_t cpu, const struct ct_cpu_status *status);

/* What a process record of another stream says of process @pid; @size: a multiple of 8. */
int ct_state_process(struct ct_state *st, uint32_t pid, const void *fields, uint32_t size);

/* Writes what there is: who opens the trace meanwhile sees it. */
int ct_state_flush(struct ct_state *st);

/* Writes the last packet and closes.  The first error of any call, or 0. */
int ct_state_close(struct ct_state *st);

#endif
