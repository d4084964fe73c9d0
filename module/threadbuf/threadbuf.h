/* SPDX-License-Identifier: GPL-2.0 */
/* Lanes: threads' streams in memory that the threads write.  See lane.c. */
#ifndef CT_LANE_H
#define CT_LANE_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/types.h>
#include "cudatrace.h"

struct ct_session_state;

/* A session's lanes. */
struct ct_lanes {
	struct mutex lock;	/* list, count, session; the lanes' previous and next */
	struct mutex read;	/* CT_IOC_LANE_READ against itself */
	struct list_head list;
	struct list_head making;	/* without memory yet, for the quota */
	u32 count;		/* of the list */
	u32 session;		/* number of those that it takes now, 0: it takes none */
	u32 streams;		/* numbers given out */
	u8 *buf;		/* a packet on its way to the reader */
};

/* ct_lanes_init - for a session; wanted: it takes lanes.  0 or -ENOMEM. */
int ct_lanes_init(struct ct_lanes *lanes, bool wanted);

/*
 * ct_lanes_close - the threads' lanes are closed: of what they write there from here on
 * nothing is passed on.  Those that come later have another number.  The clock page has
 * said before that no lanes are taken.  The caller holds ct_session_lock.
 */
void ct_lanes_close(struct ct_lanes *lanes);

/*
 * ct_lanes_unread - is there anything that CT_IOC_LANE_READ would tell?  Nobody may read
 * meanwhile.  May sleep.
 */
bool ct_lanes_unread(struct ct_lanes *lanes);

/* ct_lanes_free - nobody reads them any more; memory that is mapped lives on. */
void ct_lanes_free(struct ct_lanes *lanes);

/* CT_IOC_LANE, for the current thread.  May sleep.  Errors as in cudatrace.h. */
int ct_lane_make(struct ct_lane_new *arg);

/* CT_IOC_LANE_READ.  May sleep.  Errors as in cudatrace.h. */
int ct_lane_read(struct ct_session_state *s, struct ct_lane_read *arg);

#endif
