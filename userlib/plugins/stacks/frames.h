/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The frames of a thread of CPython, and what a frame is of. */
#ifndef CT_STACKS_FRAMES_H
#define CT_STACKS_FRAMES_H

#include "plugins/stacks/layout.h"

/* Deeper frames are left out, the outermost ones. */
#define PYTHON_DEPTH	256

struct python_frame {
	uint64_t frame, code;		/* addresses */
	int64_t at;			/* byte of the code; negative: it has not begun */
	/*
	 * Of what the code says of itself: another one may lie at its address since, and so
	 * may its name.
	 */
	uint64_t digest;
};

/* A stack as it was walked: what differs from the one before, and from where on it does not. */
struct python_stack {
	unsigned int kept;		/* so many of the outermost frames are those of the last stack */
	unsigned int depth;		/* of frames[], which these have called */
	bool cut;			/* there are more frames; then none are kept */
	struct python_frame frames[PYTHON_DEPTH];	/* the innermost first */
};

/* The last stack of a thread, with its nodes. */
struct python_last {
	unsigned int depth;
	struct python_frame frames[PYTHON_DEPTH];	/* the outermost first */
	uint32_t nodes[PYTHON_DEPTH];
};

/* An interpreter of this process whose frames can be read. */
struct python {
	struct layout layout;
	struct layout unnumbered;	/* of programs with several interpreters: code has no numbers */
	uint32_t version;		/* as PY_VERSION_HEX */
	char text[32];			/* "3.11.7" */
	void *(*this_thread)(void);	/* PyGILState_GetThisThreadState() */
	void *(*current)(void);		/* _PyThreadState_UncheckedGet() */
	int (*finalizing)(void);
	uint64_t code_type, string_type, bytes_type;
	/* Of the runtime: the newest interpreter, the first one, the number of the next; NULL: not known. */
	const uint64_t *interpreters;
};

/* That of this process, once it was found, and whether it was checked. */
extern struct python python __attribute__((visibility("hidden")));
extern bool python_checked __attribute__((visibility("hidden")));

/* There was a second interpreter: numbers of code objects may be those of another one's. */
static inline bool python_were_several(void)
{
	return python.interpreters && __atomic_load_n(&python.interpreters[2], __ATOMIC_RELAXED) > 1;
}

/*
 * The frames of this thread state.  safe: nothing of it is believed yet.  last: what is compared with, or NULL.
 * False: they can't be read.
 */
bool frames_walk(bool safe, void *thread, const struct python_last *last, struct python_stack *s);

/* The name of a frame's function, its file and its line; false: it is no code object. */
struct python_text {
	char name[512], file[2048];
	size_t name_size, file_size;
	int line;
};
bool frames_describe(const struct python_frame *f, struct python_text *t);

#endif
