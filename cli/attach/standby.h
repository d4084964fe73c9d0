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
};

/* Does process @pid stand by?  Also true where its page can't be opened. */
bool ct_standby_is(pid_t pid);

/*
 * Asks it and waits for the answer.  @command: CT_STANDBY_ATTACH and the like; @options: as struct ct_standby_page
 * has them, with both NULs at the end.
 */
int ct_standby_ask(pid_t pid, uint32_t command, const char *options, size_t options_size, struct ct_standby_answer *answer,
		   struct ct_error *err);

/* What became of what it asked itself at its first call (CUDATRACE_STANDBY=begin). */
int ct_standby_begun(pid_t pid, struct ct_standby_answer *answer, struct ct_error *err);

#endif
