/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Programs that were started with CUDATRACE_STANDBY=1: the library is there and waits for what a
 * page of shared memory asks (struct ct_standby_page).  Nothing is traced and no thread stands still.
 */
#ifndef CT_CLI_STANDBY_H
#define CT_CLI_STANDBY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct ct_standby_answer {
	int result;	/* of the command */
	bool gpu;	/* CUPTI was asked to begin */
	uint32_t number;	/* of the recording, after CT_STANDBY_ATTACH */
};

struct ct_standby_request {
	uint32_t command;	/* CT_STANDBY_ATTACH and the like */
	uint32_t number;	/* as struct ct_standby_page has it */
	const char *options;	/* so, too, with both NULs at the end */
	size_t options_size;
};

/* Does process @pid stand by?  Also true where its page can't be opened. */
bool ct_standby_is(pid_t pid);

/* Asks it and waits for the answer. */
int ct_standby_ask(pid_t pid, const struct ct_standby_request *asked, struct ct_standby_answer *answer, struct ct_error *err);

/* The number of the recording that runs there; 0: none, or it can't be seen. */
uint32_t ct_standby_running(pid_t pid);

/* What became of what it asked itself at its first call (CUDATRACE_STANDBY=begin). */
int ct_standby_begun(pid_t pid, struct ct_standby_answer *answer, struct ct_error *err);

#endif
