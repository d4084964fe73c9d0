/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A snapshot of a trace that is being recorded without the module: a copy of its newest packets,
 * those in its threads' memory, too, as a trace of its own.  The recording goes on.
 */
#ifndef CT_CLI_COPY_H
#define CT_CLI_COPY_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct ct_device;

/**
 * ct_copy_find() - the trace directory that process @pid records into
 *
 * Of a program that is recorded, or of the command that records it.
 */
int ct_copy_find(pid_t pid, char dir[PATH_MAX], struct ct_error *err);

/**
 * ct_copy_take() - copy the trace in @dir
 * @to: NULL for cudatrace-DATE-TIME; @force: replace it if it holds a trace
 * @since: ns: without packets that ended before
 * @dev: of the recording, whose open packets are to be copied, too; NULL: without the module, or another command's
 * @made: its absolute path
 *
 * Return: 0 or a negative errno, with a line in @err; then nothing is left in @to.
 */
int ct_copy_take(const char *dir, const char *to, bool force, uint64_t since, struct ct_device *dev,
		 char made[PATH_MAX], struct ct_error *err);

#endif
