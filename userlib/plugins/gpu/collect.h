/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Begin and end of a process's collection. */
#ifndef CT_GPU_COLLECT_H
#define CT_GPU_COLLECT_H

#include <stdbool.h>

/*
 * what: "kernels", "graphs" or "nodes".  What prevents it stands in the trace.  company: another
 * tool collects; who sets it calls collect_stop() then.
 */
void collect_start(const char *what, const bool *company);

/* There are no records, because of what text says. */
void collect_refuse(const char *text);

/*
 * None from now on: has the writer fetch what CUPTI has, and lets go of it.  Does nothing if nothing
 * is collected.  text must stay.
 */
void collect_stop(const char *text);

#endif
