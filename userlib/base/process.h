/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the library knows of the process, and the one lock that guards what is
 * rare (slots, registry, the start of a thread's stream).
 *
 * It lies on a page that a forked child gets as zeros (MADV_WIPEONFORK): so a
 * child knows at its first call that it is one, and a lock that another thread
 * of the parent held is free.  Must never hold the lock while calling anything
 * that takes one of the dynamic loader's.
 */
#ifndef CT_PROCESS_H
#define CT_PROCESS_H

#include "base/sys.h"

struct ct_proc {
	u32 life;		/* 0: a child that has not begun yet */
	u32 no_begins;		/* 0, to compare struct ct_thread's begins with */
	u32 lock;
	u32 pid;
	u32 streams;		/* numbers given to threads' streams */
	u32 process_record;	/* 1 once written */
	u32 objects;		/* 1: the list of objects may be looked at; see elf.h */
	u32 finished;		/* 1: a child has done what its parent was at when it forked; see objects.c */
	u64 lost;		/* records that nothing counts yet: lost.c */
	u8 rest[4096 - 40];	/* nothing else is wiped */
};

/* A page of its own, so that the child's can be wiped. */
extern struct ct_proc ct_process_page __attribute__((visibility("hidden")));
static struct ct_proc *const ct_process = &ct_process_page;

extern u8 ct_ready;		/* the library's constructor ran */

/* No thread attaches until the library is told to begin. */
enum ct_stopped {
	CT_STOPPED = 1,		/* it was told to stop, and nothing of it is in the way */
	CT_STANDS_BY = 2,	/* ct_first_call() is called instead, by each thread that would attach */
};
extern u8 ct_stopped;
extern void (*ct_first_call)(void);

/*
 * Before anything else.  False if the kernel can't wipe the page (no MADV_WIPEONFORK): then
 * ct_process_wipe() is to be called in each child that fork() makes.
 */
bool ct_process_start(void);
void ct_process_wipe(void);

/*
 * Makes the page valid again in a child; calls it in the lock.  True if this was
 * the first call in this process.
 */
bool ct_process_renew(void);

/*
 * Another life in the same process: all threads attach again at their next call.  With the lock
 * held.
 */
void ct_process_restart(void);

/* Blocks all signals and takes the lock; the mask goes to ct_unlock(). */
u64 ct_lock(void);
void ct_unlock(u64 mask);

/* Says something once in this process and its children of one recording. */
enum ct_once {
	CT_ONCE_FULL, CT_ONCE_BACKEND, CT_ONCE_POOL, CT_ONCE_STREAM, CT_ONCE_REGISTRY,
	CT_ONCE_DEVICE, CT_ONCE_LOST, CT_ONCE_OBJECTS, CT_ONCE_KERNELS, CT_ONCE_SLOTS,
};
void ct_say_once(enum ct_once once, const char *text, const char *more);

#endif
