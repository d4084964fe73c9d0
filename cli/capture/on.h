/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The words of --on by which calls are looked at: of record --keep and of snapshot. */
#ifndef CT_CLI_ON_H
#define CT_CLI_ON_H

#include <stdbool.h>
#include <stdint.h>

#define CT_ON_STUCK	60000000000ull	/* ns: checkpoints and evaluation on one rank may take some */

/* What makes a copy. */
struct ct_on {
	bool error;		/* a call fails ... */
	uint64_t slow;		/* ... or takes so many ns; 0: never */
	double slow_iteration;	/* ... or an iteration takes so many times the median; 0: never */
	uint64_t stuck;		/* ... or ranks wait so many ns for one that does not call a collective; 0: never */
};

/* A word of the list.  0; -ENOENT: it is another one; -EINVAL, with the line *@why: its value is none. */
int ct_on_word(struct ct_on *on, const char *word, const char **why);

static inline bool ct_on_any(const struct ct_on *on)
{
	return on->error || on->slow || on->slow_iteration > 0 || on->stuck;
}

#endif
