/* SPDX-License-Identifier: GPL-2.0 */
/* The session: what is recorded now, into which rings, for whom. */
#ifndef CT_SESSION_H
#define CT_SESSION_H

#include <linux/irq_work.h>
#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/wait.h>
#include "base/ring.h"

/* Tasks of which a process record was written, per CPU: direct-mapped. */
#define CT_PROCESSES_SEEN 256

struct ct_threadbufs;

struct ct_cpu {
	struct ct_ring ring;
	struct ct_session_state *s;
	struct ct_share *share;	/* who holds how much of the ring: limit.c */
	u64 reported; /* the last task that ct_record_new() found told: a key */
	u64 seen[CT_PROCESSES_SEEN];
};

struct ct_session_state {
	struct kref ref;
	struct ct_cpu **cpu;	/* by CPU number, NULL where no CPU is possible */
	u32 cpus;		/* length of cpu[] */
	struct ct_facts *facts;	/* one page, mapped read-only by readers */
	u64 start;
	u64 groups;
	struct ct_limit *limit;
	const void *owner;	/* the open file that started it */
	pid_t owner_pid; /* its pid, for EBUSY */
	bool is_default;	/* started by a read(): gives way to any other */
	bool persistent;	/* goes on when its owner's file is closed */
	bool paused;
	bool ended;
	u32 extra_readers; /* see ct_session_extra_readers() */
	struct irq_work wake;
	struct ct_threadbufs *threadbufs; /* NULL: it takes none */
};

/*
 * ct_cpu_writing - this CPU's part of the session that records: NULL when nothing
 * does.  Valid while preemption stays disabled.
 */
DECLARE_PER_CPU(struct ct_cpu *, ct_cpu_current);
static __always_inline struct ct_cpu *ct_cpu_writing(void)
{
	return this_cpu_read(ct_cpu_current);
}

/*
 * Readers wait here, whichever session they read: a poll()er may stay in the queue
 * longer than the session lives.  waiters: how many do, under the queue's lock.
 */
extern wait_queue_head_t ct_session_wait;
extern u32 ct_session_waiters;

/* Serialises start, stop and everything that arms or disarms probes. */
extern struct mutex ct_session_lock;

/* ct_session_get - the running session with a reference, or NULL. */
struct ct_session_state *ct_session_get(void);
void ct_session_put(struct ct_session_state *s);

/*
 * ct_session_start - begin a session for owner.
 * @arg:	in and out as CT_IOC_START says
 * @is_default:	started by a read() that found none
 *
 * May sleep.  Returns 0, -EBUSY (arg->holder tells whose), -EINVAL, -ENOMEM.
 */
int ct_session_start(struct ct_session *arg, const void *owner, bool is_default);

/*
 * ct_session_stop - end the session: its owner's right, and for a persistent one
 * that of whoever may start one (privileged).  -ENODATA: none runs; -EPERM.
 */
int ct_session_stop(const void *owner, bool privileged);

/*
 * The file is closed: its session ends, unless it is persistent; if its rings hold
 * what was not consumed, it is left for ct_session_adopt().
 */
void ct_session_closed(const void *owner);

/*
 * ct_session_adopt - what a closed owner left, with a reference, or NULL; arg is
 * filled as CT_IOC_ADOPT says.  ct_session_drop_orphan - it is not kept any longer; -ENODATA:
 * it isn't now.  Both may sleep.
 */
struct ct_session_state *ct_session_adopt(struct ct_session *arg);
int ct_session_drop_orphan(struct ct_session_state *s);

/* The module goes: end what runs. */
void ct_session_exit(void);

/* Does one run?  The caller holds ct_session_lock, or takes the answer for a hint. */
bool ct_session_running(void);

/*
 * ct_session_extra_readers - n more readers, none of which is the owner, want all that is
 * recorded.  They see no thread buffers, so while there are any, none is taken and what threads
 * record comes into the rings.  The caller holds a reference.  May sleep.
 */
void ct_session_extra_readers(struct ct_session_state *s, int n);

/* The filter has changed; the caller holds ct_session_lock. */
void ct_session_filtered(void);

/* The number of probes has changed; the caller holds ct_session_lock. */
void ct_session_probes(u32 count);

/* CT_IOC_PAUSE and RESUME, FLUSH, GET_SESSION: 0 or -ENODATA.  May sleep. */
/*
 * May this file change what the session records?  Its owner may, unless it has the session
 * by reading first, and who may start one.  The caller holds ct_session_lock, so that the
 * answer holds for what it does next.  0, -EPERM, -ENODATA.
 */
int ct_session_may(const void *owner, bool privileged);

/* The caller holds ct_session_lock and was let through by ct_session_may(). */
void ct_session_pause(bool pause);
int ct_session_flush(void);
int ct_session_tell(struct ct_session *arg);

/* CT_IOC_LIMITS, GET_LIMITS: 0, -ENODATA, -EINVAL.  May sleep. */
/* As ct_session_pause(). */
int ct_session_limit(const struct ct_limits *arg);
int ct_session_limits(struct ct_limits *arg);

/* ct_session_wake - a record was committed: wake readers.  Any context. */
void ct_session_wake_now(struct ct_cpu *cpu);
static __always_inline void ct_session_wake(struct ct_cpu *cpu)
{
	if (unlikely(READ_ONCE(ct_session_waiters)))
		ct_session_wake_now(cpu);
}

#endif
