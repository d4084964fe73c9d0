/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Declarations that the parts of the fuzz share. */
#ifndef CT_TEST_FUZZ_H
#define CT_TEST_FUZZ_H

#include "../guest/session.h"

/* The results of a process, in memory that it shares with its parent. */
struct tally {
	uint64_t done, refused, starts, maps, threadbufs, bad;
	char said[256];		/* the first that was bad */
};
extern struct tally *tally;

/* Numbers of the thread's random generator, whose state is never 0. */
extern __thread uint64_t state;
uint64_t rnd(void);
uint64_t below(uint64_t n);
uint64_t odd_number(void);	/* one that something may trip over */

/* Is err (0: none) documented: an error of any ioctl, or one of the n in allowed? */
void judge(const char *name, int err, const int *allowed, int n);

/* A random descriptor of the device; an invalid address. */
int any_fd(void);
void *bad_pointer(void);

/*
 * Unmaps a mapping without its page at hole, which was unmapped before (hole >= size: none
 * was).  Another thread may have mapped something at that page: it stays.
 */
void unmap_rest(void *at, uint64_t size, uint64_t hole);

/*
 * fuzz_ioctl.c: calls an ioctl; writes an array of marks; writes into a thread buffer; starts
 * a session on this file and returns the errno.
 */
void fuzz_ioctl(void);
void fuzz_mark(void);
void fuzz_written(void);
int fuzz_start(int fd);

/* Defines classes for the marks of the process. */
void fuzz_define(int fd);

/* fuzz_shapes.c: each ioctl with each shape of its struct; prints TAP.  No session runs. */
void fuzz_shapes(void);

/* Thread buffers: fuzz_threadbuf.c. */

/* A nearly valid argument of CT_IOC_THREADBUF. */
void threadbuf_make(struct ct_threadbuf_new *arg);

/* A thread buffer that was made, for fuzz_play of this thread. */
void threadbuf_keep(const struct ct_threadbuf_new *arg);

/* Writes packets that are valid or not, and changes the mappings. */
void fuzz_threadbuf(const uint16_t *classes, const uint16_t *sizes, int n);

/* Reads the session's thread buffers as its owner; returns how many packets there were. */
uint64_t threadbuf_drain(int fd);

#endif
