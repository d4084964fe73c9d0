/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An error, in one line that a user can act on.  Functions that can fail
 * for a reason that the user must know take a struct ct_error and return a
 * negative errno; they never print.
 */
#ifndef CT_CLI_ERROR_H
#define CT_CLI_ERROR_H

struct ct_error {
	int  code;		/* positive errno, 0: none */
	char text[512];		/* names the file, the place and the cure */
};

/* Fills @err (may be NULL) and returns -@code.  @code is a positive errno. */
int ct_fail(struct ct_error *err, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Prints "cudatrace: TEXT" to stderr and returns 1, the status to exit with. */
int ct_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
