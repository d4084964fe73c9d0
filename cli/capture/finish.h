/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finishing a trace: the work that its recorder could not do because it, or a traced
 * thread, was killed.  babeltrace2 opens a finished trace.
 */
#ifndef CT_CLI_FINISH_H
#define CT_CLI_FINISH_H

#include <stdbool.h>

#include "base/error.h"

#define CT_FINISH_LOCKED	true

/**
 * ct_finish() - finish the trace in @dir
 * @locked: CT_FINISH_LOCKED: the caller holds the trace's lock, and has recorded it: the
 *	trace is finished even if it looks finished.  Otherwise the lock is taken here.
 *	Nothing is changed while a thread lives that records into the trace
 *
 * Cuts off what follows a stream's last packet, turns in-flight pages into call_open
 * records, removes the pages, writes the losses that no packet counts, and writes
 * metadata.  Does nothing to a finished trace, so that it may be called for every trace.
 *
 * Return: 0: finished; 1: it is still being recorded, nothing was changed; a
 * negative errno, with a line in @err: it can't be finished (-EACCES and -EROFS: the
 * trace can still be read as it stands).
 */
int ct_finish(const char *dir, bool locked, struct ct_error *err);

#endif
