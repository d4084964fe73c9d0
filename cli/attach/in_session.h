/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cudatrace session attach and detach: calls of programs that already run go into the module's session. */
#ifndef CT_CLI_IN_SESSION_H
#define CT_CLI_IN_SESSION_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "capture/capture_range.h"

struct ct_in_session {
	const pid_t *pids;	/* asked for ... */
	unsigned int count;
	bool all;		/* ... or: every process with libcuda */
	bool watch;		/* stays, and takes those that come, until the session's end or Ctrl-C */
	bool partly;		/* also where calls will be missed */
	bool options;		/* which of their calls was asked for, by this process's environment */
	const struct ct_capture_range *range;	/* which part of their time */
};

/*
 * They are in the session when it returns, and leave it by themselves when none has run for 5 s; a later
 * session has them, too, if it begins before.  Says a line for each.  @library: the preload library's file
 *
 * Return: 0; a negative errno: no process is, with a line in @err.
 */
int ct_in_session_attach(const struct ct_in_session *asked, const char *library, struct ct_error *err);

/* Puts back what is in their way now, whether a session runs or not.  Not for processes that record --pid records. */
int ct_in_session_detach(const struct ct_in_session *asked, const char *library, struct ct_error *err);

#endif
