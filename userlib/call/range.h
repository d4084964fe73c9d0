/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The capture range (record --capture-range): a part of the process's time, which begins and ends inside the
 * process, by a call of its own.  Outside of it calls take a path that is two jumps, and nothing
 * is recorded.  Each process has one range: the first one.
 *
 * CUDATRACE_RANGE is "profiler" (cuProfilerStart() to cuProfilerStop()), or "range:NAME": a range of that
 * name, of the program or of NVTX; or from a mark NAME of the program on.
 */
#ifndef CT_RANGE_H
#define CT_RANGE_H

#include "call/frame.h"
#include "record/thread.h"

/* ct_outside; the GPU's plugin reads it, too, and waits for it to change (a futex). */
enum { CT_RANGE_INSIDE, CT_RANGE_BEFORE, CT_RANGE_AFTER };

extern u32 ct_outside;

/* Sets the paths of all functions when the range begins or ends; the layer above gives it. */
extern void (*ct_range_route)(void);

/* The library begins: outside of the range, if one was asked for. */
void ct_range_start(void);

/* What the function has to do with the range, beside being recorded. */
enum ct_range_role { CT_RANGE_NONE, CT_RANGE_BEGINS, CT_RANGE_ENDS };
enum ct_range_role ct_range_role(const char *symbol);

/* Before and after such a call. */
void ct_range_enter(void);
void ct_range_leave(struct ct_frame *f);

/*
 * The program's markers, before they are recorded.  @attach: gives the thread a state, which is
 * needed only where the range is of that name.
 */
void ct_range_push(const char *text, struct ct_thread *(*attach)(void));
void ct_range_mark(const char *text);
/* After they are recorded. */
void ct_range_popped(void);
void ct_range_marked(const char *text);

/* The GPU's plugin is ready for that state; see host.h. */
void ct_range_served(u32 state);

/* Until the plugin has said something, if it does so within @seconds: what the program does first is to be seen. */
void ct_range_await_plugin(s64 seconds);

#endif
