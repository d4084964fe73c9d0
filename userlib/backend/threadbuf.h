/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A thread's lane: memory of the module's that it writes its records into, without a
 * system call.  The protocol is in section 6 of cudatrace.h.
 */
#ifndef CT_USERLIB_LANE_H
#define CT_USERLIB_LANE_H

#include "backend/backend.h"

/* What the module says; never NULL, also where it says nothing. */
extern const struct ct_clock_page *ct_threadbuf_page;

/* The device is open, for the first time or in a child. */
void ct_threadbuf_open(void);

/*
 * Puts the thread on a lane of the session that runs now, or off the one that it has,
 * if that is over.  True if it has a valid lane then.  open: its page for open calls
 * while it has none.
 */
bool ct_threadbuf_renew(struct ct_thread *t);

/* A call is about to begin: a good moment for a larger lane, if one is wanted. */
void ct_threadbuf_grow(struct ct_thread *t);

static inline bool ct_threadbuf_valid(const struct ct_thread *t)
{
	return t->lane && *(const volatile u32 *)t->accepting == t->session;
}

/* The backend's next: a new packet, perhaps in a larger lane. */
bool ct_threadbuf_next(struct ct_thread *t, u64 op, u64 end);

/* The thread ends. */
void ct_threadbuf_leave(struct ct_thread *t);

/* A child has nothing of its parent's lane. */
void ct_threadbuf_forget(struct ct_thread *t);

#endif
