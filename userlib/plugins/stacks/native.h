/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Frames of compiled code: return addresses on the stack of the calling thread, found by libgcc's unwinder, which
 * each C++ exception uses.  Their names are found afterwards, by the command.
 */
#ifndef CT_STACKS_NATIVE_H
#define CT_STACKS_NATIVE_H

#include "plugins/stacks/frames.h"

/* Deeper frames are left out, the outermost ones. */
#define NATIVE_DEPTH	192

/* What python_frame.digest is of such a frame; frame: where its return address lies, code: that address. */
#define NATIVE_DIGEST	2

struct native_frame {
	uint64_t slot, ip;
};

/* Of a thread. */
struct native_stack {
	uint64_t low, high;		/* of its own stack, as it was the last time; high 0: not known */
	uint32_t elsewhere;		/* calls that were not on it */
	unsigned int depth;
	bool cut;			/* there are more frames */
	struct native_frame frames[NATIVE_DEPTH];	/* the last stack, the innermost first, ours too */
	struct native_frame next[NATIVE_DEPTH];
};

/* Looks for the unwinder. */
void native_begin(void);

/* The stack that is above @here, the caller's frame address, into @s.  False: there is no unwinder. */
bool native_walk(struct native_stack *n, uint64_t here, struct python_stack *s);

/*
 * The frames inside the interpreter, which called compiled code, in front of those of Python in @s; as many as there is
 * room for.
 */
void native_inside(struct native_stack *n, uint64_t here, struct python_stack *s);

/* Where the thread's own stack begins, on which @here lies; 0: it runs on another one. */
uint64_t native_begins(struct native_stack *n, uint64_t here);

struct nodes_room;

/* The id of the function of such a frame; 0: none could be had. */
uint32_t native_function(struct nodes_room *room, uint64_t ip);

#endif
