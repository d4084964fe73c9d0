/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The stack of a call's caller: libcudatrace-stacks.so takes it, and its number is a record of its own
 * before the call.
 */
#ifndef CT_STACK_H
#define CT_STACK_H

#include "call/classify.h"
#include "record/thread.h"

/* Is this function one whose calls have stacks? */
bool ct_stack_wanted(const struct ct_symbol *f);

/* The number of the calling thread's stack; 0: there is none, or no plugin. */
u32 ct_stack_take(void);

/* Who takes them: of a process that was attached to, where nothing is found by its name. */
void ct_stack_use(u32 (*take)(void));

/* Says that the call with this op has this stack; own: the op of the record. */
void ct_stack_record(struct ct_thread *t, u32 stack, u64 own, u64 op, u32 level);

#endif
