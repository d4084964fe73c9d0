/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Slots: which function stands behind which thunk.
 */
#ifndef CT_SLOT_H
#define CT_SLOT_H

#include "call/frame.h"

/* Both in thunks.S. */
extern const char ct_thunks[];
extern struct ct_slot ct_slots[CT_THUNKS];

/* The paths of a call; see struct ct_call_above. */
ct_way ct_way_full, ct_way_query, ct_way_ask, ct_way_call, ct_way_args, ct_way_pass;

/* Is it a name of libcuda's (cu and a capital letter) or libcudart's functions (cuda)? */
static inline bool ct_is_name(const char *name)
{
	if (name[0] != 'c' || name[1] != 'u')
		return false;
	if (name[2] == 'd' && name[3] == 'a')
		name += 2;
	return name[2] >= 'A' && name[2] <= 'Z';
}

/*
 * The thunk for this function of libcuda; the same one each time for the same
 * symbol and address, so that pointers compare as without us.  When libcuda has
 * gone and come back elsewhere, its thunks are used again.  Gives the address
 * itself back when the pool is used up.  Takes the process's lock.
 */
void *ct_thunk_for(const char *symbol, void *target);

/* The thunk goes on with another function from now on.  No lock. */
void ct_thunk_retarget(void *thunk, void *target);

/* The function that the thunk goes on with. */
void *ct_thunk_target(const void *thunk);

/* The function of this name that a thunk goes on with; NULL if there is none.  No lock. */
void *ct_slot_function(const char *symbol);

/* Another recording begins: functions have no classes yet.  While no thunk is in use. */
void ct_slots_renew(void);

/* The capture range begins or ends: the paths of all functions. */
void ct_slots_route(void);

/* Is this the address of a thunk? */
bool ct_is_thunk(const void *address);

/* Slots whose target lies in no libcuda any more may be used again. */
void ct_slots_forget(u64 start, u64 end);

#endif
