/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An error, in one line that a user can act on.  Functions that can fail
 * for a reason that the user must know take a struct ct_error and return a
 * negative errno; they never print.
 */
#ifndef CT_CLI_ERROR_H
#define CT_CLI_ERROR_H

#include <stdbool.h>

#define CT_USAGE	64	/* the status after a wrong command line, as argp's: EX_USAGE */

struct ct_error {
	int  code;		/* positive errno, 0: none */
	bool usage;		/* the command line is wrong, whatever the trace holds */
	char text[512];		/* names the file, the place and the cure */
};

/* Fills @err (may be NULL) and returns -@code.  @code is a positive errno. */
int ct_fail(struct ct_error *err, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The same of a wrong command line, with the code EINVAL. */
int ct_fail_usage(struct ct_error *err, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Prints "cudatrace: TEXT" to stderr and returns 1, the status to exit with. */
int ct_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * What a command says in the end: of @rc, a negative errno with a line in @err, "cudatrace: WHAT:
 * TEXT", but nothing of -EPIPE.  Return: the status to exit with; 0 of 0.
 */
int ct_tell(const char *what, int rc, const struct ct_error *err);

/* As ct_complain(), of a wrong command line; returns CT_USAGE. */
int ct_complain_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Beyond the limit on the size of files (ulimit -f) write() is to fail with EFBIG, and not to kill this command; where
 * nobody reads its messages any more, with EPIPE: for commands that others depend on as long as they run.
 * ct_signals_restore(): in a child, before it runs another program.
 */
void ct_file_limit_ignore(void);
void ct_pipe_ignore(void);
void ct_signals_restore(void);

#endif
