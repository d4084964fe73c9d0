/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From where calls were made: which node of the tree of stacks a call has, and what a node is
 * (section 9 of the ABI header).  Works on the points of a merge, in their order.
 */
#ifndef CT_CLI_STACKS_H
#define CT_CLI_STACKS_H

#include "trace/order.h"
#include "trace/registry.h"

/* Of the call @op of @who, as the merge knows both. */
struct ct_stack_of {
	uint64_t op, who;
	uint32_t node;
};

/* Zeros are none. */
struct ct_stacks {
	CT_KEYED(struct ct_stack_of) calls;	/* those whose record has not come yet */
};

/* Notes a stack record, of @who.  0 or -ENOMEM. */
int ct_stacks_note(struct ct_stacks *s, const struct ct_record *r, uint64_t who);

/* The node of a call, 0: it has none.  Its end forgets it. */
uint32_t ct_stacks_find(struct ct_stacks *s, const struct ct_point *p, uint64_t who);
void ct_stacks_free(struct ct_stacks *s);

/* A node. */
struct ct_stack_frame {
	uint32_t parent;		/* of the caller; 0: it is the outermost one */
	uint32_t function;		/* id of a string; equal functions have equal ids */
	uint32_t line;			/* 0: not known */
	const char *language, *name, *file;	/* not terminated: */
	int language_len, name_len, file_len;
	const char *object;		/* of compiled code: the file that holds it; file may be unknown then */
	int object_len;
};

/* False: there is no such node, or its lines are damaged. */
bool ct_stack_frame(const struct ct_registry *reg, uint32_t node, struct ct_stack_frame *f);

/* "name (file:line)" into @buf; of compiled code without lines "name (object)"; the name alone where neither is known. */
const char *ct_stack_words(const struct ct_stack_frame *f, char *buf, size_t size);

/* What a sampled thread did, by enum ct_sample_state: "lock"; and for people: "waiting for a lock". */
extern const char *const ct_sample_word[CT_SAMPLE_STATES];
extern const char *const ct_sample_words[CT_SAMPLE_STATES];

/*
 * The node of the line for which a sample counts, whose thread's stack is @stack: while it waits for Python's lock that of the
 * thread which holds it.
 */
static inline uint32_t ct_sample_counts(const struct ct_record *r, uint32_t stack)
{
	uint32_t holder = r->class->id == CT_CLASS_gil_wait ? ct_record_known(r, CT_KNOWN_HOLDER) : 0;

	return holder ? holder : stack;
}

/* Deeper than the library writes them. */
#define CT_STACK_DEPTH	512

#endif
