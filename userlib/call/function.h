/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is known about an intercepted function, kept in its slot.
 */
#ifndef CT_FUNCTION_H
#define CT_FUNCTION_H

#include "call/frame.h"

/* What this layer calls of the one above, which sets it before it makes a slot. */
struct ct_call_above {
	/*
	 * Paths of a call (thunks.S).  full: through ct_enter() and ct_leave().  The others
	 * only make a record: of a query, or of a call, which has a begin; without arguments
	 * to record or with them.
	 */
	ct_way *full, *query, *ask, *call, *args;
	ct_way *pass;	/* of a call that is not recorded */
	/* New objects may have been loaded. */
	void (*check_objects)(void);
	/* A function has got its class: there is a libcuda, and a backend. */
	void (*announce)(void);
	/* Replaces the pointer that cuGetProcAddress gave. */
	void (*after_get_proc_address)(struct ct_frame *f);
};

extern const struct ct_call_above *ct_call_above;

/* Fills a new slot from its symbol.  Under the process's lock. */
void ct_function_fill(struct ct_slot *s);

/* Sets the path of its calls: inside or outside of the capture range. */
void ct_function_route(struct ct_slot *s);

/* Gives the function its class, by the backend, and its path; 0 if that failed. */
u16 ct_function_define(struct ct_slot *s);

#endif
