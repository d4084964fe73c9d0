/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which threads do something at the moment of a sample, and which only wait for another one of them.
 *
 * A thread that waits for a lock waits for another thread: for one that holds the lock, fills the queue, signals the condition
 * or ends.  While another thread of its process that gives the GPU work, too, runs, sleeps, waits for something outside
 * or is in a call, that is what the process does, and nothing counts for the thread that waits.  Only where each thread that
 * gives the GPU work waits for a lock does the process.  What a thread waits for is known by its samples alone.
 *
 * One that waits for Python's lock (GIL) could go on: it waits for no other one's data, but for any thread that runs Python
 * code.  So it tells more than one that waits for what is outside the process; nothing counts for it only while another thread
 * that gives the GPU work runs or is in a call.
 *
 * The recorder samples the threads of a process one after another.  So what a sample means is known once the others have had theirs:
 * at the next sample of its thread, or at the end.
 */
#ifndef CT_CLI_DRIVING_H
#define CT_CLI_DRIVING_H

#include "analysis/engine.h"

struct ct_driving {
	/* Internal.  Threads that call CUDA, by the tracks' index. */
	struct driving_thread *threads;
	unsigned int threads_count;
	CT_KEYED(struct driving_process) processes;
	bool sampled;
};

/* Its state is a struct ct_driving; it says nothing where threads were not sampled. */
extern const struct ct_analyser ct_driving_analyser;

/**
 * ct_driving_waited() - did a sample show a thread that only waited for another one, which did something?
 * @track: of the thread
 * @at: ns: the sample's time.  It is the last one of the thread before the one that is handled now, or the last one of all in end()
 * @instead: set to the stack of the thread that did something, 0: it has none
 *
 * Return: false: it did something itself, every other thread waited, too, or it is another sample.
 */
bool ct_driving_waited(const struct ct_driving *d, const struct ct_track *track, uint64_t at, uint32_t *instead);

#endif
