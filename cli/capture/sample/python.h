/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Stacks of CPython's threads in another process, which runs meanwhile.  Where things are its
 * plugin has said (userlib/plugins/stacks/page.h).  What is read may have changed while it was read: a
 * stack counts only if its frames were the same before and after the innermost one was read, and each has a
 * code object.
 */
#ifndef CT_CLI_SAMPLE_PYTHON_H
#define CT_CLI_SAMPLE_PYTHON_H

#include "base/keyed.h"
#include "capture/sample/remote.h"
#include "userlib/plugins/stacks/page.h"

#define CT_SAMPLED_DEPTH	256u	/* as the plugin has it */

/* Names of functions, and lines, of code objects. */
struct ct_sampled_code {
	uint64_t address;
	uint64_t filename, name, table;	/* objects that it names */
	int first;			/* line */
	char *function;			/* "python\tNAME\tFILE" */
	uint8_t *lines;
	size_t lines_size;
	uint32_t id;			/* of the function, by who asks; 0: not asked yet */
};

struct ct_sampled_frame {
	struct ct_sampled_code *code;	/* until the next stack */
	int line;			/* 0: not known */
};

struct ct_sampled_stack {
	struct ct_sampled_frame frames[CT_SAMPLED_DEPTH];	/* the innermost first */
	unsigned int depth;
	bool cut;			/* there are more */
};

#define CT_SAMPLED_INTERPRETERS	64u	/* that are looked at */
#define CT_SAMPLED_STATES	64u

/* Of programs with several interpreters, and of who holds Python's lock: where the frames of one's thread lay. */
struct ct_sampled_state {
	uint64_t state;
	struct ct_remote_known known;
};

struct ct_sampled_python {
	struct ct_remote remote;
	struct python_page about;
	bool several;			/* it has, or had, a second interpreter */
	uint64_t quickest;		/* ns: what reading a block takes at least; 0: not known */
	uint8_t kind;			/* bit of strings where their kind begins, once it was found; 0: as .about says */
	struct ct_sampled_state states[CT_SAMPLED_STATES];
	CT_KEYED(struct ct_sampled_code) codes;
};

/* Can a page be what a plugin says?  A program can write anything into its own. */
bool ct_sampled_page_fits(const struct python_page *page);

/* The thread's state as the interpreter keeps it, by its id; 0: there is none. */
uint64_t ct_sampled_thread(struct ct_sampled_python *p, pid_t tid);

/* The thread that has this state; 0: it is none. */
pid_t ct_sampled_tid(struct ct_sampled_python *p, uint64_t thread);

/* Where the frames of a state lay the last time, of one that is looked at now and then. */
struct ct_remote_known *ct_sampled_known(struct ct_sampled_python *p, uint64_t thread);

/*
 * The stack of thread @tid whose state is at @thread.  1: it is there, maybe empty; 0: it could not be
 * read now; -ESRCH: the state is not the thread's any more.  @known: where its frames lay the last time.
 */
int ct_sampled_stack(struct ct_sampled_python *p, pid_t tid, uint64_t thread, struct ct_remote_known *known,
		     struct ct_sampled_stack *stack);

/* Has the program several interpreters now, whose threads can be told apart? */
bool ct_sampled_several(struct ct_sampled_python *p);

/* As ct_sampled_stack(): of all interpreters that the thread runs, one called by the other. */
int ct_sampled_all(struct ct_sampled_python *p, pid_t tid, struct ct_sampled_stack *stack);
void ct_sampled_python_free(struct ct_sampled_python *p);

#endif
