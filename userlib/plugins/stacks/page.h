/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the recorder must know to sample threads from outside: a page in the trace directory,
 * .sample-PID, that this library has mapped.  Plugin and recorder are built from one tree.
 */
#ifndef CT_STACKS_PAGE_H
#define CT_STACKS_PAGE_H

#include "layout.h"

#define PAGE_MAGIC	0x70616765736d7004ull	/* its last byte: of this layout */
#define PAGE_SIZE	4096
#define PAGE_THREADS	512
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
	uint32_t threads;	/* how many of tids[] are set; it only grows */
	uint64_t runtime, code_type, string_type, bytes_type;
	struct layout layout;
	uint32_t tids[PAGE_THREADS];	/* threads that make calls with stacks */
};

_Static_assert(sizeof(struct python_page) <= PAGE_SIZE, "a page");

#endif
