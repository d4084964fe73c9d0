/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The processes of two traces that have the same role: the same rank of a job, the same command line but for its
 * numbers, else the same program, in the order in which they began; the others, in that order.
 */
#ifndef CT_CLI_DIFF_ROLES_H
#define CT_CLI_DIFF_ROLES_H

#include "analysis/engine.h"

#define CT_ROLES_MAX	4096u	/* processes of a trace that are compared */

/* Indices into the phases of both traces; -1: only the other one has such a process. */
struct ct_role {
	int index[2];
};

struct ct_roles {
	struct ct_role *list;	/* in the order of the first trace, then what only the second has */
	unsigned int count;
};

/* @a: of a pass over each trace that has ended.  Only processes with stages count.  0 or -ENOMEM. */
int ct_roles_find(struct ct_roles *roles, const struct ct_analysis *const a[2]);

/* What a role is called: the program's name, and the script of an interpreter. */
const char *ct_role_name(const struct ct_roles *roles, unsigned int i, const struct ct_analysis *const a[2],
			 char *buf, unsigned int size);

void ct_roles_free(struct ct_roles *roles);

#endif
