/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Begin and end of a process's collection. */
#ifndef CT_GPU_COLLECT_H
#define CT_GPU_COLLECT_H

/* what: "kernels", "graphs" or "nodes".  What prevents it stands in the trace. */
void collect_start(const char *what);

/* There are no records, because of what text says. */
void collect_refuse(const char *text);

/*
 * None from now on: fetches what CUPTI has, and lets go of it.  Does nothing if nothing is
 * collected.
 */
void collect_stop(const char *text);

#endif
