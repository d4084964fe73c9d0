/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Keeping up with objects that come and go.
 */
#ifndef CT_OBJECTS_H
#define CT_OBJECTS_H

#include "base/sys.h"

/*
 * Looks at the list of loaded objects if it has changed: finds libcuda, and
 * patches the GOT slots that lead into it.  Cheap when nothing changed; takes
 * the loader's lock of dl_iterate_phdr() and, inside, the process's.
 */
void ct_objects_check(void);

/* Calls that are not seen: a line of the trace for each cause, when there is a trace. */
enum ct_unseen {
	CT_UNSEEN_SLOTS = 1, CT_UNSEEN_NAMESPACE = 2,
	CT_UNSEEN_TABLE = 4,		/* libcuda's own table was not recognised */
	CT_UNSEEN_PUT_BACK = 8,		/* another tool put its words back: calls until then */
};
void ct_objects_unseen(enum ct_unseen cause);

/*
 * Puts back all words and slots, and will look at all objects anew.  Returns how many words
 * another tool has changed since, which stay.
 */
u32 ct_objects_put_back(void);

/* Of all that was seen so far: a libcuda without a table that is known. */
bool ct_objects_without_table(void);
void ct_objects_tell(void);

#endif
