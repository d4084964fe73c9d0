/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the recorder must know to sample threads from outside: a page in the trace directory,
 * .sample-PID, that this library has mapped.  Plugin and recorder are built from one tree.
 */
#ifndef CT_STACKS_PAGE_H
#define CT_STACKS_PAGE_H

#include "layout.h"

#define PAGE_MAGIC	0x70616765736d7006ull	/* its last byte: of this layout */
#define PAGE_SIZE	12288
#define PAGE_THREADS	1024u	/* a power of two */
#define PAGE_PREFIX	".sample-"

enum page_state {
	PAGE_FOUND,		/* the interpreter is known and was not checked */
	PAGE_CHECKED,		/* it is what it seems to be */
	PAGE_REFUSED,		/* it is not */
};

struct python_page {
	uint64_t magic;
	uint64_t self;		/* where the process has this page */
	uint8_t  uuid[16];	/* of the trace */
	uint32_t pid, state;
	uint32_t version;	/* of Python, as PY_VERSION_HEX; 0: there is none */
	uint32_t threads;	/* how many were written into tids[]; it only grows */
	uint64_t runtime, code_type, string_type, bytes_type;
	struct layout layout;
	/*
	 * Threads that make calls with stacks, a ring: the n-th one, counted from 0, is written as n + 1 in the upper half and its
	 * number in the lower one.  The recorder reads it often enough, unless a thousand come at once.
	 */
	uint64_t tids[PAGE_THREADS];
};

static inline uint64_t page_thread(uint32_t n, uint32_t tid)
{
	return (uint64_t)(n + 1) << 32 | tid;
}

_Static_assert(sizeof(struct python_page) <= PAGE_SIZE, "a page");

#endif
