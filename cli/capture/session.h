/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The module's session, as an operator sees it: counters and control. */
#ifndef CT_CLI_SESSION_H
#define CT_CLI_SESSION_H

#include <stdint.h>

#include "base/error.h"
#include "capture/device.h"

struct ct_session_totals {
	uint64_t records, lost, overwritten;	/* overwritten: packets */
	uint64_t lost_for[CT_LOST_REASONS];	/* lost, by reason */
};

/* Of all CPUs, and of the records that limits kept out of thread buffers. */
void ct_session_totals(const struct ct_device *dev, struct ct_session_totals *t);

/**
 * ct_session_runs() - does a session run, be it paused?  For any user who may write records
 * @what: the verb, for the message
 *
 * Return: 0; -ENODATA: none runs; or another negative errno; with a line in @err that names the cure.
 */
int ct_session_runs(const char *what, struct ct_error *err);

/**
 * ct_session_control() - one ioctl on the session
 * @cmd, @arg: CT_IOC_STOP, _PAUSE, _RESUME, _FLUSH, _FILTER, _LIMITS and their getters
 * @what: the verb, for the message
 *
 * Return: 0 or a negative errno, with a line in @err that names the cure.
 */
int ct_session_control(unsigned long cmd, void *arg, const char *what, struct ct_error *err);

#endif
