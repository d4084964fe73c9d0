/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the parts of the fuzz have in common. */
#ifndef CT_TEST_FUZZ_H
#define CT_TEST_FUZZ_H

#include "../guest/session.h"

/* A process's, in memory that its parent sees. */
struct tally {
	uint64_t done, refused, starts, maps, threadbufs, bad;
	char said[256];		/* the first that was bad */
};
extern struct tally *tally;

/* Of the thread's own generator: its state is never 0. */
extern __thread uint64_t state;
uint64_t rnd(void);
uint64_t below(uint64_t n);
uint64_t odd_number(void);	/* one that something may trip over */

/* Was err (0: none) to be expected?  Beside what any ioctl may give, the n in allowed. */
void judge(const char *name, int err, const int *allowed, int n);

/* Any of the process's descriptors of the device; an address that can't be used. */
int any_fd(void);
void *bad_pointer(void);

/*
 * Unmaps what is left of a mapping whose page at hole is gone (hole >= size: none is).
 * Another thread may have got something of its own at that page: it stays.
 */
void unmap_rest(void *at, uint64_t size, uint64_t hole);

/*
 * fuzz_ioctl.c: an ioctl; an array of marks; writing into a thread buffer; and a session on this
 * file: its errno.
 */
void fuzz_ioctl(void);
void fuzz_mark(void);
void fuzz_written(void);
int fuzz_start(int fd);

/* Classes for what the process writes. */
void fuzz_define(int fd);

/* Thread buffers: fuzz_threadbuf.c. */

/* A valid argument of CT_IOC_THREADBUF, more or less. */
void threadbuf_make(struct ct_threadbuf_new *arg);

/* One that was made, for this thread to play with. */
void threadbuf_keep(const struct ct_threadbuf_new *arg);

/* Plays: packets that are valid, or nothing like it; mappings that are not whole. */
void fuzz_threadbuf(const uint16_t *classes, const uint16_t *sizes, int n);

/* Reads what the session's thread buffers have, as its owner: how many answers there were. */
uint64_t threadbuf_drain(int fd);

#endif
