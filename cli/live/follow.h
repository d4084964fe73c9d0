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
	/*
	 * Records of this process (0: of any) are not given: they ended until @after, or record --keep dropped them.
	 * NULL: nobody asks.  It may be called many times.
	 */
	void (*left_out)(void *arg, uint32_t pid);
	uint64_t after;		/* ns: only records that ended later; older packets are not read.  0: all */
};

/**
 * ct_follow() - read directory @dir until its trace is finished
 * @stop: set by a signal handler to end it
 *
 * Return: 0 or a negative errno with a line in @err.
 */
int ct_follow(const char *dir, const struct ct_follow_sink *sink, const volatile bool *stop,
	      struct ct_error *err);

/* The same step by step, for who follows several directories. */
struct ct_follower;

struct ct_follow_state {
	bool more;		/* something was new */
	bool full;		/* and there may be more of it now */
	bool finished;		/* nobody writes any more: what comes next is the last of it */
};

/*
 * @dir, @name (of the directory, in messages) and @sink are used until it is closed; idle() is not called.  @quiet: of
 * packets that are damaged, and left out, nothing is said.
 */
int ct_follower_open(struct ct_follower **follower, const char *dir, const char *name, bool quiet,
		     const struct ct_follow_sink *sink, struct ct_error *err);

/* Gives what is new, but not more than some time of it. */
int ct_follower_read(struct ct_follower *f, struct ct_follow_state *state, struct ct_error *err);

/* NULL: nothing. */
void ct_follower_close(struct ct_follower *f);

#endif
