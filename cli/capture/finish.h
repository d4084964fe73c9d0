/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finishing a trace: what its recorder could not do because it, or a traced
 * thread, was killed.  A finished trace is one that babeltrace2 opens.
 */
#ifndef CT_CLI_FINISH_H
#define CT_CLI_FINISH_H

#include <stdbool.h>

#include "base/error.h"

/**
 * ct_trace_lock() - be the one that writes the trace in @dir
 *
 * A recorder holds it from the first packet to the last; it also keeps two
 * commands from finishing one trace.  Goes with the process.
 *
 * Return: a file descriptor for ct_trace_unlock(); -EWOULDBLOCK: somebody else
 * holds it; what open() returns.
 */
int ct_trace_lock(const char *dir);
void ct_trace_unlock(const char *dir, int fd);

/* How many threads live that record into @dir by themselves; or a negative errno. */
int ct_trace_lives(const char *dir);

#define CT_FINISH_LOCKED	true

/**
 * ct_finish() - finish the trace in @dir
 * @locked: CT_FINISH_LOCKED: the caller holds the trace's lock, and has recorded it: it
 *	is finished also if it looks so.  Otherwise the lock is taken here.  Nothing is
 *	touched while a thread lives that records into it
 *
 * Cuts off what follows a stream's last packet, turns .open pages into call_open
 * records, removes them, writes what no packet counts as lost, and writes metadata.
 * Does nothing where there is nothing to do, so that it may be called for every trace.
 *
 * Return: 0: finished; 1: it is still being recorded, nothing was changed; a
 * negative errno, with a line in @err: nothing more can be done (-EACCES and
 * -EROFS: the trace can still be read as it stands).
 */
int ct_finish(const char *dir, bool all_dead, struct ct_error *err);

#endif
