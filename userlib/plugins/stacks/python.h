/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The frames of CPython's threads, read where the interpreter keeps them.  No code of the interpreter
 * runs, no reference is taken, and nobody waits for its lock.
 */
#ifndef CT_STACKS_PYTHON_H
#define CT_STACKS_PYTHON_H

#include "plugins/stacks/frames.h"
#include "plugins/stacks/native.h"

enum python_state {
	PYTHON_NONE,			/* there is none yet */
	PYTHON_REFUSED,			/* there is one, but not for us */
	PYTHON_READY,
};

/* What a thread keeps of its stacks. */
struct python_own {
	uint64_t here;			/* where on its stack one is being taken */
	struct python_stack stack, more;
	struct python_last last;
	struct native_stack native;
};

/* Once, as the library is loaded: is the program itself an interpreter?  It has not begun yet. */
void python_begin(void);

/* Looks for an interpreter, at first now and then, and checks it at its first stack. */
enum python_state python_ready(struct python_own *own);

/* The stack of the calling thread, compared with its last one.  False: it has none that could be read now. */
bool python_walk(struct python_own *own);

/* The interpreter is not what it seemed: no more stacks are taken of it. */
void python_refuse(const char *why);

#endif
