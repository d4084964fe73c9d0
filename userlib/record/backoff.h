/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How long to wait before something that failed is tried again, perhaps for a passing
 * reason: a number of records that doubles with each failure, but no longer than a second.
 */
#ifndef CT_BACKOFF_H
#define CT_BACKOFF_H

#include "base/sys.h"

#define CT_BACKOFF_MOST	1024u
#define CT_BACKOFF_NS	1000000000ull

struct ct_backoff {
	u32 left;		/* records to lose until the next try */
	u32 wait;		/* after the last failure; 0: there was none */
	u64 until;		/* ns: the next try, however few records there were */
};

/* At a record that can't be made without a try: true if it is too early for one. */
static inline bool ct_backoff_waits(struct ct_backoff *b, u64 now)
{
	if (!b->left || now >= b->until)
		return false;
	b->left--;
	return true;
}

/* A try ended. */
static inline void ct_backoff_note(struct ct_backoff *b, bool ok, u64 now)
{
	b->wait = ok ? 0 : !b->wait ? 1 :
		      b->wait < CT_BACKOFF_MOST ? b->wait * 2 : CT_BACKOFF_MOST;
	b->left = b->wait;
	b->until = now + CT_BACKOFF_NS;
}

#endif
