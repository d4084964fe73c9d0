/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The program that the tests trace; see victim.c.
 */
#ifndef VICTIM_H
#define VICTIM_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "mock.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>

#define CHECK(x)	do { if (!(x)) {				\
	printf("%s:%d: %s\n", __FILE__, __LINE__, #x); exit(1); } } while (0)

/* A function of the libcuda that load() has loaded. */
#define GET(name)	((__typeof__(name) *)dlsym(lib, #name))

extern void *lib;

void load(void);

/* So many calls of cuCtxSetCurrent. */
void calls(int n);

/* Waits for the child: its exit status, or its signal's number below zero. */
int await(pid_t pid);

/* The subcommands, each 0 when all was as it should be. */
int basic(void);
int args(void);
int floats(void);
int edge(void);
int proc(void);
int lookups(void);
int namespaces(void);
int threads(void);
int crowd(void);
int many(void);
int held(void);
int capture(void);
int names(void);
int shutdown_calls(void);
int forks(void);
int fork_lookups(void);
int fork_first_look(void);
int fork_in_first_look(void);
int fork_early(void);
int vforks(void);
int vfork_calls(void);
int exec_self(void);
int exec_bare(void);
int killed(void);
int quick_exit_now(void);
int aborts(void);
int hang(void);
int crashes(void);
int longjmps(void);
int nested(void);
int jumped_to(void);
int signals(void);
int coroutines(void);
int signal_jumps(void);
int reload(void);
int errnos(void);
int marks(void);
int exits(void);
int closes_all(void);
int fds(void);
int limit(void);
int limit_all(void);
int unread(void);
int directory(void);
int clocks(void);
int until_killed(void);
int ioctls(void);
int losses(void);
int short_names(void);
int short_threads(void);
int short_crowd(void);
int short_hang(void);
int no_files(void);

#endif
