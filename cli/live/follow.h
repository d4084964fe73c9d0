/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Following a trace directory that is being written. */
#ifndef CT_CLI_FOLLOW_H
#define CT_CLI_FOLLOW_H

#include "base/error.h"
#include "trace/record.h"

/* Who gets what is read.  Each returns 0 or a negative errno. */
struct ct_follow_sink {
	void *arg;
	/* A record, in the order of its stream.  @old: it was there when following began. */
	int (*record)(void *arg, const struct ct_registry *reg, const struct ct_record *r, bool old);
	/*
	 * All that was there was read.  *@more: set to whether something was new; may be cleared
	 * to wait before the next look.
	 */
	int (*idle)(void *arg, bool *more);
};

/**
 * ct_follow() - read directory @dir until its trace is finished
 * @stop: set by a signal handler to end it
 *
 * Return: 0 or a negative errno with a line in @err.
 */
int ct_follow(const char *dir, const struct ct_follow_sink *sink, const volatile bool *stop,
	      struct ct_error *err);

#endif
