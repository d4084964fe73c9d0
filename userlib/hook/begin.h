/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Beginning to record in this process, and ending it while the process goes on.
 */
#ifndef CT_BEGIN_H
#define CT_BEGIN_H

#include "base/sys.h"
#include "include/cudatrace/attach.h"

/*
 * Finds the real dlsym() and ioctl(), and what kind of call each thing is.  Before anything else,
 * also in a library that is to record nothing yet.
 */
void ct_begin_early(void);

/* ct_options are read: looks at all objects, and records from here on. */
void ct_begin(void);

/* What plugins a recording of a running process has; NULL: not wanted. */
struct ct_begin_plugins {
	uint32_t (*stack)(void);
	__typeof__(cudatrace_stacks_begin) *stacks_begin;
	__typeof__(cudatrace_gpu_begin) *gpu_begin;
	const char *stacks_what, *gpu_what;
	u32 sample;
};

/* cudatrace_attach(), and the begin of plugins where it recorded something; *gpu: CUPTI begins. */
int ct_begin_attached(const char *options, const struct ct_begin_plugins *p, u32 *gpu);

/* Does the process record, for somebody? */
bool ct_begin_records(void);

/* Where recorders read the number of the recording that runs: in cudatrace_attach_answer, or in the page of a process that stands by. */
extern u32 *ct_begin_running;

/* Which recording this is: one more with each cudatrace_attach(). */
u32 ct_begin_number(void);

/*
 * For a thread of the library's own, once a second: leaves a session of the module that is over, or a recording whose
 * recorder was killed: nobody tells the process to, and it may make no call for long.  False: recording @number is over.
 */
bool ct_begin_watched(u32 number);

/* Was the library brought in from outside, by cudatrace record --pid or session attach?  Then it waits to be told. */
bool ct_begun_from_outside(void);

#endif
