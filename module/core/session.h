/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The session: its rings, how long it lives, and which session the writers write into.  Who may
 * start and stop one, and what that arms, is decided in control/.
 */
#ifndef CT_SESSION_H
#define CT_SESSION_H

#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include "base/ring.h"

struct ct_limit;
struct ct_share;
struct ct_threadbufs;

/* Tasks of which a process record was written, per CPU: direct-mapped. */
#define CT_PROCESSES_SEEN 256

/* A CPU's part of a session. */
struct ct_cpu {
	struct ct_ring ring;
	struct ct_session_state *s;
	struct ct_share *share; /* who holds how much of the ring: limit.c */
	/* Of the task charged last: its counter, and what that may reach: limit.c */
	local64_t *charged;
	u64 charged_max;
	local64_t uncounted; /* the counter where there are no shares */
	u64 reported; /* key of the last task that ct_record_new() found reported */
	u64 seen[CT_PROCESSES_SEEN];
};

struct ct_session_state {
	struct kref ref;
	struct ct_cpu **cpu; /* by CPU number, NULL where no CPU is possible */
	u32 cpus; /* length of cpu[] */
	struct ct_facts *facts; /* one page, mapped read-only by readers */
	u64 start; /* ns of CLOCK_MONOTONIC */
	u32 number; /* sessions are numbered as they begin */
	u64 groups;
	bool ended; /* nothing is written any more */

	/* Of higher layers, freed by release(). */
	struct ct_limit *limit;
	struct ct_threadbufs *threadbufs; /* NULL: it takes none */
	bool keeps_registry; /* ct_registry_get() */
	void (*release)(struct ct_session_state *s);

	/* Written by control/ alone, under ct_session_lock. */
	const void *owner; /* the open file that started it */
	pid_t owner_pid; /* its process, in the initial namespace */
	struct pid *owner_process; /* the same, with a reference: for EBUSY */
	bool is_default; /* started by a read(): any other session replaces it */
	bool persistent; /* continues when its owner's file is closed */
	bool paused;
	u32 extra_readers; /* see ct_control_extra_reader() */
};

/*
 * ct_cpu_writing - this CPU's part of the session that is recording; NULL: none is.  Valid
 * while preemption stays disabled.
 */
DECLARE_PER_CPU(struct ct_cpu *, ct_cpu_current);
static __always_inline struct ct_cpu *ct_cpu_writing(void)
{
	return this_cpu_read(ct_cpu_current);
}

/* Serialises start, stop and everything that arms or disarms probes. */
extern struct mutex ct_session_lock;

/*
 * ct_session_new - allocate a session with its rings and its facts page.
 * @arg:	checked sizes, flags and groups
 * @release:	called once, when the last reference is dropped (also if this function fails);
 *		it may sleep
 * May sleep.  Returns the session with one reference, or NULL if there is no memory or the task
 * is being killed.
 */
struct ct_session_state *ct_session_new(const struct ct_session *arg,
					void (*release)(struct ct_session_state *s));

/* ct_session_get - the running session with a reference, or NULL. */
struct ct_session_state *ct_session_get(void);

/* ct_session_put - drop a reference; s may be NULL.  May sleep. */
void ct_session_put(struct ct_session_state *s);

/* ct_session_running - the running session, or NULL.  The caller holds ct_session_lock. */
struct ct_session_state *ct_session_running(void);

/*
 * ct_session_begin - from now on s is the running session; takes over the caller's reference.
 * It records nothing before ct_session_publish().  The caller holds ct_session_lock.
 */
void ct_session_begin(struct ct_session_state *s);

/*
 * ct_session_publish - let writers write into s; NULL: into none.  With NULL no writer is left
 * when it returns.  The caller holds ct_session_lock.  May sleep.
 */
void ct_session_publish(struct ct_session_state *s);

/*
 * ct_session_end - s is no longer the running session; drops its reference.  Readers read it to
 * its end.  The caller holds ct_session_lock and has called ct_session_publish(NULL).
 */
void ct_session_end(struct ct_session_state *s);

#endif
