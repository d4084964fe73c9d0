/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Functions of libnccl: how they take their arguments, and what is recorded of them.
 *
 * Names, orders of arguments and the numbers of types are facts of NCCL's ABI, written down here;
 * NCCL's header is not needed.  A function that is not in the table is recorded without arguments.
 */
#ifndef CT_COLLECTIVE_H
#define CT_COLLECTIVE_H

#include "call/decode.h"

struct ct_collective_symbol {
	u8 words;		/* of its arguments on the stack; CT_WORDS_UNKNOWN */
	struct ct_binding binding;
};

/* Is it a name of libnccl's functions?  nccl and a capital letter. */
static inline bool ct_collective_is_name(const char *name)
{
	return name[0] == 'n' && name[1] == 'c' && name[2] == 'c' && name[3] == 'l' &&
	       name[4] >= 'A' && name[4] <= 'Z';
}

/* What is known of the function. */
struct ct_collective_symbol ct_collective_symbol(const char *name);

/*
 * Asks the libnccl whose function was called how many ranks a communicator has, and which it is.  Only set in a process
 * that was attached to: a preloaded library has seen it made.
 */
extern bool (*ct_collective_asked)(const struct ct_frame *f, u64 comm, u32 *ranks, u32 *rank);

/* Another recording begins: communicators are not known, and collectives are counted from 1.  While no thunk is in use. */
void ct_collectives_renew(void);

#endif
