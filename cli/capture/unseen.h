/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Processes of the traced program that use libcuda without our library, so that none of their
 * calls come into the trace: a launcher took LD_PRELOAD out of their environment, or they
 * run as another user.  Or in another root, where our library or the trace's directory is not,
 * or may not be written.  And those that have loaded both, while no call came through our
 * library: another one stands between.  They are found by looking at the memory maps of the
 * program and its descendants now and then, for which nobody needs a right.
 *
 * A program may load libcuda and call nothing.  One that calls CUDA has a device of NVIDIA's
 * driver open; where there is no driver, the GPU is simulated, and no device shows it.
 *
 * Must never stop a process, nor cost it more than the reading of its maps: that is done
 * more and more rarely, and never where calls are recorded already.
 */
#ifndef CT_CLI_UNSEEN_H
#define CT_CLI_UNSEEN_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "write/write_registry.h"

#define CT_UNSEEN_PROCESSES	256	/* looked at; more are not */

struct ct_unseen_process {
	pid_t pid;
	pid_t own_pid;			/* in its own pid namespace: the library's */
	pid_t parent;
	uint64_t started;		/* tells it from a later one with its number */
	uint64_t stack;			/* its address: a forked child has its parent's; 0: not known */
	uint64_t next, wait;		/* ns: when its maps are read again */
	char name[16];
	bool cuda;			/* libcuda is mapped */
	bool named;			/* the registry has the name of a thread of it */
	bool library;			/* and ours, too */
	bool driver;			/* a device of NVIDIA's driver is open */
	bool elsewhere;			/* libcuda, but the trace or our library is not in its root */
	bool read_only;			/* the trace's directory is, there */
	bool namespaces;		/* libc is mapped twice: dlmopen() has made a namespace */
};

struct ct_unseen {
	pid_t root;			/* the program */
	int dirfd;			/* of the trace */
	char library[PATH_MAX];		/* path of ours */
	bool driver;			/* NVIDIA's driver is loaded: calls can be told by its devices */
	uint64_t next, wait;		/* ns */
	struct ct_unseen_process *processes;
	unsigned int count;
};

void ct_unseen_open(struct ct_unseen *u, pid_t root, int dirfd, const char *library);

/* To be called as often as one likes: looks if it is time. */
void ct_unseen_look(struct ct_unseen *u);

/* ms until it is time to look, -1: it never is. */
int ct_unseen_due(const struct ct_unseen *u);

/* The program has ended: an info line for each process that was found. */
void ct_unseen_close(struct ct_unseen *u, struct ct_registry_writer *w);

#endif
