/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The program that is recorded: started with the preload library, its signals
 * forwarded, its status kept.
 */
#ifndef CT_CLI_LAUNCH_H
#define CT_CLI_LAUNCH_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct ct_child {
	pid_t pid;
	int pidfd;		/* readable when it has ended */
	bool ended;		/* it has ended, or never began */
	int status;		/* as in a shell: exit status, or 128 + signal */
};

/* Path of libcudatrace.so: $CUDATRACE_LIBRARY, beside this program, or installed. */
int ct_launch_library(char *path, size_t size, struct ct_error *err);

/*
 * LD_PRELOAD can't name a path with a blank or a colon: then @library becomes one by a link in
 * the trace directory @dir, to the library's folder, where the plugins are, too.
 */
int ct_launch_link(char *library, size_t size, const char *dir, struct ct_error *err);

/*
 * Path of a plugin, which lies beside the library: libcudatrace-NAME.so; false if it can't be
 * read.
 */
bool ct_launch_plugin(const char *library, const char *name, char *path, size_t size);

/**
 * ct_launch() - start argv, with the library preloaded unless @library is NULL
 * @dir: the trace directory, absolute
 * @uuid: of the trace, by which the library knows the directory
 * @backend: "device" or "files"
 *
 * From now on signals that are sent to this process are forwarded to the child.  (The
 * terminal sends its own to both.)
 *
 * Return: 0, or -ENOENT and the like when argv[0] can't be run: @child->status is
 * then what a shell would return (127 or 126).
 */
int ct_launch(struct ct_child *child, char **argv, const char *library, const char *dir,
	      const uint8_t uuid[16], const char *backend, struct ct_error *err);

/* Waits up to @ms milliseconds (-1: for ever).  1: ended, status is set; 0: not yet. */
int ct_launch_wait(struct ct_child *child, int ms);

/* Was this command told to end: by SIGINT, SIGTERM or SIGQUIT, which the child has got, too, or after its end by SIGHUP? */
bool ct_launch_stopped(void);

/* libcuda loads the library, it is not preloaded (--inject).  Set before ct_launch(). */
extern bool ct_launch_injected;

/* The library can be told to begin and to end (--delay, --duration): "1", or "begin"; NULL: no.  Before ct_launch(). */
extern const char *ct_launch_stands_by;

/* How many bytes of names a trace directory with bounds (--keep) may have; "": there are none.  Set before ct_launch(). */
extern char ct_launch_keeps[24];

/*
 * By what the program, and what it starts, is known where it is to be recorded as long as any of that runs (--keep): the
 * value of this variable in its environment, which its user and root alone can read.  "": before ct_launch().
 */
#define CT_LAUNCH_MARK	"CUDATRACE_STARTED"
extern char ct_launch_mark[33];

/* The plugin that NVTX is to load, "" for none.  Set before ct_launch(). */
extern char ct_launch_nvtx[PATH_MAX];

/*
 * The plugin that libcuda is to load for the GPU's activity, "" for none, and what it is to
 * collect: "kernels", "graphs" or "nodes".  Set before ct_launch().
 */
extern char ct_launch_gpu[PATH_MAX];
extern const char *ct_launch_gpu_what;

/* The plugin that takes stacks of calls, "" for none, and of what: "python".  Set before ct_launch(). */
extern char ct_launch_stacks[PATH_MAX];
extern const char *ct_launch_stacks_what;

/* The plugin makes a page for the sampler.  Set before ct_launch(). */
extern bool ct_launch_sampled;

#endif
