/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Begin and end of a process's collection. */
#ifndef CT_GPU_COLLECT_H
#define CT_GPU_COLLECT_H

#include <stdbool.h>

struct ct_host;

/*
 * what: "kernels", "graphs" or "nodes".  What prevents it stands in the trace.  company: another
 * tool collects; who sets it calls collect_stop() then.
 */
void collect_start(const char *what, const bool *company);

/*
 * The same in a process that was attached to: in a thread of its own, which lives as long as the
 * collection.  0; -EBUSY: the last one has not ended; -EAGAIN: no thread could be made.
 */
int collect_start_late(const char *what, const struct ct_host *(*get)(void));

/* Asks that one to end, and does not wait.  1: it will; 0: there is none. */
int collect_end_late(void);

/* There are no records, because of what text says. */
void collect_refuse(const char *text);

/*
 * None from now on: has the writer fetch what CUPTI has, and lets go of it.  Does nothing if nothing
 * is collected.  text must stay.
 */
void collect_stop(const char *text);

#endif
