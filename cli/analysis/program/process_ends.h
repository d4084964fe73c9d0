/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where programs begin and threads end, as the records say it. */
#ifndef CT_CLI_PROCESS_ENDS_H
#define CT_CLI_PROCESS_ENDS_H

#include "analysis/engine.h"

#define CT_TASK_DEAD	0x90u	/* EXIT_DEAD and TASK_DEAD: bits of sched_switch's state */

/*
 * A program begins: the library writes a process record into the first stream of each program.
 * The module's records of that class only name a process, and come several times.
 */
static inline bool ct_program_begins(const struct ct_trace_event *e)
{
	return e->class->id == CT_CLASS_process && e->point && e->point->stream &&
	       e->point->stream->kind == CT_STREAM_THREAD;
}

/* The program said that it ends. */
static inline bool ct_program_exits(const struct ct_trace_event *e)
{
	return e->class->id == CT_CLASS_exit && e->kind == CT_ON_INSTANT;
}

/* A thread leaves the CPU for the last time. */
static inline bool ct_thread_leaves(const struct ct_trace_event *e)
{
	return ct_class_is(e->class, CT_IS_SWITCH) && e->kind == CT_ON_INSTANT &&
	       ct_record_known(e->record, CT_KNOWN_STATE) & CT_TASK_DEAD;
}

#endif
