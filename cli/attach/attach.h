/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Recording of processes that already run: the preload library is brought in, told to begin,
 * and told to end.  Nothing in the program is patched but what the library stores into libcuda's
 * table of pointers and into slots of global offset tables.
 */
#ifndef CT_CLI_ATTACH_H
#define CT_CLI_ATTACH_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "attach/target.h"
#include "base/error.h"
#include "capture/capture_range.h"

enum { CT_ATTACH_LIBRARY, CT_ATTACH_GPU, CT_ATTACH_STACKS };	/* see CT_TARGET_FILES */

/* A file that is brought in. */
struct ct_attach_file {
	char path[PATH_MAX];		/* "": it is not wanted */
	char name[64];			/* of its copy in memory */
};

/* What is the same for all processes of a recording. */
struct ct_attach_to {
	struct ct_attach_file file[CT_TARGET_FILES];
	const char *gpu;		/* what CUPTI is to collect, as CUDATRACE_GPU */
	char options[8192];		/* "NAME=VALUE" with a NUL each, and an empty one */
	size_t options_size;
	const char *dir;		/* of the trace; NULL: into the module's session */
	bool partly;			/* also where functions will be missed */
	const char *stacks;		/* of whom frames are recorded, as CUDATRACE_STACKS */
	bool sample;			/* threads are sampled */
	bool begun;			/* the processes have begun by themselves */
	const struct ct_capture_range *range;	/* which part of their time; NULL: all of it */
};

struct ct_attached {
	pid_t pid;
	pid_t own_pid;			/* in its own namespace of pids: what the trace calls it */
	uint64_t start, stack;		/* of the process, and of its stack, as /proc/PID/stat has them: an exec() changes the latter */
	uint64_t at[CT_TARGET_FILES];	/* where they are mapped there */
	uint32_t number;		/* of the recording there; 0: whichever runs */
	uint64_t stood_ns;		/* for which a thread stood still */
	bool standby;			/* the library was there and waited: no thread stood still */
	bool early;			/* libcuda was not there yet */
	bool partly;			/* libcuda's table is not known */
	bool gpu;			/* CUPTI was asked to begin there ... */
	bool gpu_said;			/* ... and how that went was said */
	bool range_said;		/* its capture range began, which was said */
	bool leaving, left;		/* nothing more is recorded of it */
};

/* For a recording into @dir with this @uuid, without the module.  @dir has to stay. */
int ct_attach_prepare(struct ct_attach_to *to, const char *library, const char *dir, const uint8_t uuid[16],
		      struct ct_error *err);

/* For the module's session, whichever runs.  A process leaves by itself when none has run for 5 s. */
int ct_attach_prepare_session(struct ct_attach_to *to, const char *library, struct ct_error *err);

/* A plugin that is to be brought in as well; @which: CT_ATTACH_GPU, CT_ATTACH_STACKS. */
int ct_attach_plugin(struct ct_attach_to *to, int which, const char *path, struct ct_error *err);

/* Adds an option, as an environment variable of the library. */
void ct_attach_option(struct ct_attach_to *to, const char *name, const char *value);

/* Brings the library into process @pid and begins, in this command's turn (turn.h).  -EBUSY: it is being recorded, or stands still. */
int ct_attach(struct ct_attached *a, const struct ct_attach_to *to, pid_t pid, struct ct_error *err);

/* A process that was attached to before, perhaps by another command: for ct_attach_end(). */
int ct_attach_find(struct ct_attached *a, const struct ct_attach_to *to, pid_t pid, struct ct_error *err);

/*
 * Ends it: puts everything back, waits up to a second for calls that are not over (@dir: the trace where they can be
 * seen), and lets go of the trace.  *kept: pointers that another tool has changed meanwhile, which stay.
 */
int ct_attach_end(struct ct_attached *a, const struct ct_attach_to *to, const char *dir, unsigned int *kept,
		  struct ct_error *err);

/*
 * Asks the plugin for the GPU to end; before ct_attach_end().  It does so by itself: an info line
 * "gpu_ended PID" of the trace says when.  Return: 1: that will come; 0: nothing is collected.
 */
int ct_attach_end_gpu(struct ct_attached *a, const struct ct_attach_to *to, struct ct_error *err);

/* The number of the recording that runs there now, perhaps of another command; 0: none, or it can't be seen. */
uint32_t ct_attach_running(const struct ct_attached *a, const struct ct_attach_to *to);

/* Is it still the process that was attached to, with the same program, and does it run? */
bool ct_attached_lives(const struct ct_attached *a);

/* It runs, with another program. */
bool ct_attached_replaced(const struct ct_attached *a);

#endif
