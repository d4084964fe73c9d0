/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A process as /proc shows it.  What it says of itself (its name, its paths) may be anything. */
#ifndef CT_CLI_PROC_H
#define CT_CLI_PROC_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* /proc/PID/stat */
struct ct_proc_stat {
	char name[16];		/* as the kernel cuts it */
	char state;		/* R, S, D, T (stopped), t (traced), Z and X (ended) */
	pid_t parent;
	uint64_t started;	/* ticks since boot: with the pid it names a process */
	uint64_t stack;		/* where its stack begins; 0 where we may not look.  An exec() changes it */
};

/* False: it has gone. */
bool ct_proc_stat(pid_t pid, struct ct_proc_stat *s);

/* A field of /proc/PID/status, as "TracerPid:", as a number; -1: it is not there. */
long ct_proc_status(pid_t pid, const char *field);

/* Are the numbers here those of the kernel's first namespace of pids, as in the module's records? */
bool ct_proc_is_first(void);

/* The number that it has in its own namespace of pids, and so in what it records. */
pid_t ct_proc_own_pid(pid_t pid);

/* More than a program can begin with (Linux lets arguments and environment together have 6 MiB). */
#define CT_PROC_ENVIRONMENT_MOST (8ul << 20)

/*
 * ct_proc_environment() - what a process began with, each entry with its NUL
 * @most: bytes that are read: a process may have any number there, and of any length
 * @size: set to how many there are; behind them is one more NUL
 *
 * Return: for free(); NULL: we may not look, there is no such process, or no memory.
 */
char *ct_proc_environment(pid_t pid, size_t most, size_t *size);

/* A line of /proc/PID/maps. */
struct ct_proc_mapping {
	uint64_t start, end, offset;
	char path[PATH_MAX + 64];	/* "": it has none */
};

/* NULL, and errno: we may not look (EACCES), or there is no such process (ENOENT).  For fclose(). */
FILE *ct_proc_maps(pid_t pid);

/* The next mapping; false: there is none. */
bool ct_proc_next_mapping(FILE *maps, struct ct_proc_mapping *m);

/* The last part of a path. */
const char *ct_proc_file(const char *path);

#endif
