/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A process that is to be attached to, as /proc shows it. */
#ifndef CT_CLI_TARGET_H
#define CT_CLI_TARGET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "attach/inject.h"
#include "base/error.h"

/* Files that are brought in: the library and plugins. */
#define CT_TARGET_FILES	3

struct ct_target {
	pid_t pid;
	struct ct_inject_libc libc;
	uint64_t dlopen, dlerror, memfd_create, close;
	uint64_t at[CT_TARGET_FILES];	/* where our files are mapped, 0: they are not */
	bool preloaded;		/* another copy of the library is there: LD_PRELOAD */
	bool cuda;		/* libcuda is mapped */
	/* Memory whose futex words are locks of malloc or the loader. */
	struct { uint64_t start, end; } locks[16];
	unsigned int locks_count;
};

/*
 * ct_target_read() - what is mapped in process @pid, and where its libc's functions are
 * @names: CT_TARGET_FILES of them, of the files in memory that hold ours; "": there is none
 */
int ct_target_read(struct ct_target *t, pid_t pid, const char *const *names, struct ct_error *err);

/*
 * May this process attach to that one?  The kernel shows by the same rule in which system calls its
 * threads are, without which none can be taken.  0, or the errno.
 */
int ct_target_refused(pid_t pid);

/* The thread that a call does least harm to; @nth: the next best.  0: there is none (more). */
pid_t ct_target_thread(const struct ct_target *t, unsigned int nth);

/* The address of an exported function or variable in a mapped copy of the ELF file @path; 0: it has none. */
uint64_t ct_target_symbol(const char *path, uint64_t base, const char *name);

/* Does process @pid have a libcuda mapped? */
bool ct_target_has_cuda(pid_t pid);

#endif
