/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The count of lost records that stand in no packet's head: .lost-UID of the trace
 * directory, which all processes of a recording have mapped since their first call.
 */
#ifndef CT_LOST_H
#define CT_LOST_H

#include "base/sys.h"

/* Maps the page, made if it is absent.  Under the lock. */
void ct_lost_open(const char *dir);

/* Another recording begins: its directory has another page.  Under the lock. */
void ct_lost_forget(void);

/*
 * One more.  At any time, in any thread.  Without a page it is counted in the process, until
 * there is one, or until a packet's head takes it.
 */
void ct_lost_add(void);
void ct_lost_add_many(u64 records);

/* Gives what the process has counted, once. */
u64 ct_lost_take(void);

#endif
