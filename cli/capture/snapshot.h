/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Taking a snapshot of a running session, or of one whose recorder was killed. */
#ifndef CT_CLI_SNAPSHOT_H
#define CT_CLI_SNAPSHOT_H

#include <signal.h>
#include <stdbool.h>

#include "base/error.h"
#include "capture/recording.h"

/**
 * ct_snapshot_attach() - open the session that runs, for reading only
 * @orphaned: where none runs, the orphaned session of a killed recorder will do
 */
int ct_snapshot_attach(struct ct_recording *rec, bool orphaned, struct ct_error *err);

/* Who looks at the session meanwhile; 1: take the snapshot now; 0; a negative errno with a line in @err. */
struct ct_snapshot_look {
	int (*look)(void *arg, struct ct_error *err);	/* NULL: nobody */
	void *arg;
};

/**
 * ct_snapshot_wait() - wait until a trigger of the session fires
 * @trigger: what the module is to look for; no flags: nothing new
 * @fired, @stop: set by signal handlers: take the snapshot now, or none
 *
 * Return: 0; -EINTR: interrupted; -ENODATA: the session ended; what the module returns.
 */
int ct_snapshot_wait(struct ct_recording *rec, struct ct_trigger_set *trigger,
		     const struct ct_snapshot_look *look, const volatile sig_atomic_t *fired,
		     const volatile sig_atomic_t *stop, struct ct_error *err);

/**
 * ct_snapshot_take() - make a trace of what the rings hold
 * @dir, @force: as for ct_recording_directory()
 * @since: ns: only packets that ended later
 *
 * An orphaned session is forgotten by the module afterwards.
 *
 * Return: packets copied, or a negative errno with a line in @err.  The trace is finished
 * also if copying ended early: *@made says whether there is a trace.
 */
int ct_snapshot_take(struct ct_recording *rec, const char *dir, bool force, uint64_t since,
		     bool *made, struct ct_error *err);

#endif
