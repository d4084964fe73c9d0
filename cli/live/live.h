/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of calls as they happen: TIME(ms) PROCESS PID EVENT DETAILS, a row for
 * each call that returned and for each event without a duration.
 */
#ifndef CT_CLI_LIVE_H
#define CT_CLI_LIVE_H

#include <stdio.h>

#include "base/error.h"
#include "spans/processes.h"
#include "trace/record.h"

/* Instead of the time of a call that an exception or longjmp ended: it is not known. */
#define CT_LIVE_ABANDONED	"abandoned"

struct ct_live {
	const struct ct_registry *reg;	/* may grow between two rows */
	struct ct_processes processes;	/* names, from the trace or from /proc */
	bool colour;
	unsigned int width;		/* columns, 0: unlimited */
};

void ct_live_init(struct ct_live *live, const struct ct_registry *reg, FILE *out);
void ct_live_free(struct ct_live *live);
void ct_live_head(const struct ct_live *live, FILE *out);

/*
 * Prints @r's row to @out.  Prints nothing for an entry event, because the row is
 * printed when the call ends, nor for records about the trace itself.
 */
void ct_live_record(struct ct_live *live, const struct ct_record *r, FILE *out);

/* The name of a process; with @here of one of this machine, which /proc names.  "?": not known. */
const char *ct_live_process(struct ct_processes *processes, uint32_t pid, bool here);

/* A row of its five texts; @failed only colours it. */
void ct_live_row(struct ct_live *live, FILE *out, double ms, uint32_t pid, const char *event,
		 const char *details, bool failed);

/**
 * ct_live_follow() - print the rows of directory @dir until its trace is finished
 * @only_new: without the records that are there already
 * @stop: set by a signal handler to end it
 */
int ct_live_follow(const char *dir, bool only_new, FILE *out, const volatile bool *stop,
		   struct ct_error *err);

/* Prints the rows of the text of /dev/cudatrace, which @fd is open for. */
int ct_live_device(int fd, FILE *out, const volatile bool *stop, struct ct_error *err);

/* A call that returned. */
struct ct_live_call {
	const char *name;
	uint32_t pid;
	bool     timed, failed;
	uint64_t ns;		/* where timed */
	uint64_t bytes;		/* that it copied, allocated or the like; 0: none, or not known */
	bool     copies;	/* it copied them; only of the text of /dev/cudatrace */
};

/* Who gets calls.  Each returns 0 or a negative errno; -EPIPE ends without an error. */
struct ct_live_sink {
	void *arg;
	int (*call)(void *arg, const struct ct_live_call *call);
	int (*idle)(void *arg);		/* all calls that are there were given */
};

/* The calls in the text of /dev/cudatrace, which @fd is open for.  read() may return EINTR. */
int ct_live_device_calls(int fd, const struct ct_live_sink *sink, const volatile bool *stop,
			 struct ct_error *err);

#endif
