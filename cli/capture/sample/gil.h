/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which thread of a Python program waits for Python's own lock (GIL), and which one holds it.
 *
 * A thread that waits for it sleeps at a word of memory (futex) that is a part of the lock: of its condition or its mutex.
 * One that waits for anything else, as for a queue, sleeps at another word.  So where the kernel says that a thread waits is all
 * that it takes.  Each interpreter has a lock (from 3.12 on some have their own); builds for free threading have none.
 */
#ifndef CT_CLI_SAMPLE_GIL_H
#define CT_CLI_SAMPLE_GIL_H

#include "capture/sample/python.h"

/* Of a process.  Known until the next look. */
struct ct_sampled_gils {
	bool looked;
	unsigned int count;
	uint64_t locks[CT_SAMPLED_INTERPRETERS];
};

/* The lock for which a thread waits that sleeps at the word @futex; 0: for none. */
uint64_t ct_sampled_gil(struct ct_sampled_python *p, struct ct_sampled_gils *g, uint64_t futex);

/* The state of the thread that holds this lock now; 0: none does. */
uint64_t ct_sampled_gil_holder(struct ct_sampled_python *p, uint64_t lock);

#endif
