/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The flight recorder of `cudatrace record --keep`: a recording that holds the newest records, and
 * copies of it, which are made at SIGUSR2 or when something happens.
 */
#ifndef CT_CLI_FLIGHT_H
#define CT_CLI_FLIGHT_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "capture/drain.h"
#include "capture/keep.h"
#include "capture/on.h"
#include "capture/recording.h"

#define CT_FLIGHT_COPIES	10	/* that are made without being asked for, and are still there */

struct ct_flight {
	/* Set by the command's options. */
	struct ct_keep_asked asked;	/* both 0: there is no flight recorder */
	struct ct_on on;		/* a copy is made when one of these happens ... */
	bool on_xid;			/* ... or the driver reports an Xid, which the module sees */
	uint64_t first, last;		/* only these iterations are kept (--capture-range), 0: all */

	struct ct_recording *rec;
	uint32_t triggers;		/* that the module has told of */
	struct ct_keep keep;
	/* Set by another thread when something happened: what, then that it did. */
	char why[256];
	volatile bool happened;
	/* Of the iterations that are kept, set by another thread: nothing before is needed; they are over. */
	volatile uint64_t since;
	volatile bool over;
	uint32_t pid;			/* whose they are, 0: none were found */
	uint64_t begin, end, found;	/* ns, 0: not yet; and how many there were at last */
	uint64_t due;			/* ns: when it is copied, 0: nothing is due */
	uint64_t next;			/* ns: not before */
	unsigned int number;		/* of the last copy */
	unsigned int made[CT_FLIGHT_COPIES]; /* those that --on made, 0: none */
	bool failed;			/* the last of these, which was said */
};

static inline bool ct_flight_is_on(const struct ct_flight *f)
{
	return f->asked.ns || f->asked.bytes || f->first;
}

/*
 * Begins, for a recording whose directory and registry are there; before ct_drain_start().
 * @drain: NULL with the module.
 */
int ct_flight_open(struct ct_flight *f, struct ct_recording *rec, struct ct_drain *drain, struct ct_error *err);

/* From now on SIGUSR2 makes a copy; @always: also where all records are kept. */
void ct_flight_catch(const struct ct_flight *f, bool always);

/* Again and again, at least every 200 ms: what is due is done.  Drops packets with the module. */
void ct_flight_look(struct ct_flight *f);

void ct_flight_close(struct ct_flight *f);

/* Says what became of the iterations that were to be kept; the trace has it, too. */
void ct_flight_tell(const struct ct_flight *f, struct ct_registry_writer *w);

#endif
