/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Processes that are not tried, or said, again, until they end or run another program. */
#ifndef CT_CLI_TRIED_H
#define CT_CLI_TRIED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define CT_TRIED_MAX	1024

/* A process and its program.  Another process may have the number later, or this one another program. */
struct ct_tried_one {
	pid_t pid;
	uint64_t start, stack;
};

struct ct_tried {
	struct ct_tried_one list[CT_TRIED_MAX];
	unsigned int count;
};

/* Who has the number now: before it is tried, as it may run another program afterwards. */
struct ct_tried_one ct_tried_look(pid_t pid);

/* False: it has ended, or runs another program by now, and that may be tried.  Says when the list is full. */
bool ct_tried_add(struct ct_tried *t, struct ct_tried_one one);

/* Before a look at all processes: forgets those that have ended or run another program. */
void ct_tried_forget(struct ct_tried *t);

/* True also for all others, once the list is full. */
bool ct_tried_has(const struct ct_tried *t, pid_t pid);

#endif
