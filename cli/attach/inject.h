/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Calls of functions in another process, by one of its threads that waits in a system call:
 * ptrace(2), for x86-64, in a process of ct_guard_run().  The other threads run on.  The thread gets back all registers, its
 * vector registers and errno, and its system call goes on as after a signal without a handler.
 *
 * A call that is late is not left where the thread may hold a lock: of the loader's, or of malloc.  So it
 * may only be undone where the thread waits for the loader, and has none of the loader's locks.  Else the caller is
 * told (ct_guard_late()), and the call comes to its end, which nobody uses.
 */
#ifndef CT_CLI_INJECT_H
#define CT_CLI_INJECT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "base/error.h"

#define CT_INJECT_DEADLINE	5	/* seconds, for all calls together */
#define CT_INJECT_TEXT		16384	/* bytes that ct_inject_copy() takes together */

/* Addresses of functions in the target, which it has of its own libc. */
struct ct_inject_libc {
	uint64_t mmap, munmap, errno_location;
	uint64_t stack;		/* of the process whose they are: where its stack begins, which an exec() changes; 0: not known */
	struct { uint64_t start, end; } loader[6];	/* memory with the loader's locks */
	unsigned int loader_count;
};

struct ct_inject {
	pid_t pid, tid;
	const struct ct_inject_libc *libc;
	struct user_regs_struct saved;
	uint8_t vector[16384];
	size_t vector_size;
	uint64_t memory, used;	/* in the target: texts, and above them a stack */
	uint64_t errno_at;	/* in the target: the thread's errno */
	int32_t errno_before;
	bool by_fault;		/* how calls return, see inject.c */
	bool hurries;		/* it comes before others meanwhile ... */
	int policy;		/* ... and before that was scheduled by this policy */
	uint64_t stopped_at;	/* ns */
	uint64_t mask;			/* signals that it had blocked */
	bool called;		/* it is behind a call, and in no system call */
	bool late;		/* a call came back too late: nothing more is to be done there */
	bool broken;		/* a call did not come back: there is only the end */
};

/* Process @pid may not be attached to: says so, and what to do, for this errno.  Return: -@error. */
int ct_inject_refused(pid_t pid, int error, struct ct_error *err);

/*
 * ct_inject_begin() - stop the thread and save its state
 * Return: 0; -EAGAIN: the thread is in no system call (any more), try another one; or another
 * negative errno, with a line in @err.
 */
int ct_inject_begin(struct ct_inject *x, pid_t pid, pid_t tid, const struct ct_inject_libc *libc,
		    struct ct_error *err);

/* The address in the target of a copy of these @size bytes; 0: no room, or it has gone. */
uint64_t ct_inject_copy(struct ct_inject *x, const void *bytes, size_t size);

/* A text in the target, cut to @size; "" if it can't be read. */
void ct_inject_read_text(const struct ct_inject *x, uint64_t at, char *text, size_t size);

/* Calls a function of the target; *result: its rax. Return: 0, or a negative errno with @err. */
int ct_inject_call(struct ct_inject *x, uint64_t function, const uint64_t args[6], uint64_t *result,
		   struct ct_error *err);

/* ns for all calls together; CUDATRACE_ATTACH_DEADLINE: seconds, as 60 or 0.5, where a machine has no time for the thread. */
uint64_t ct_inject_deadline(void);

/* The thread goes on where it was.  Return: ns for which it stood still. */
uint64_t ct_inject_end(struct ct_inject *x);

#endif
