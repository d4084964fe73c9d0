/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The parts of the name of a C++ function or type: components that "::" separates, and their
 * template arguments.  Nothing is copied; texts point into the name.
 */
#ifndef CT_CLI_NAME_PARTS_H
#define CT_CLI_NAME_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct ct_name_text {
	const char *s;
	size_t n;
};

static inline bool ct_name_same(struct ct_name_text a, struct ct_name_text b)
{
	return a.n == b.n && !memcmp(a.s, b.s, a.n);
}

/* A component of a name: "reduce_kernel" and "<512, 1, ...>". */
struct ct_name_part {
	struct ct_name_text name;
	struct ct_name_text args;	/* without the brackets; s is NULL: no template */
};

struct ct_name {
	struct ct_name_part part[3];	/* the last ones; [0] is the last */
	char lambda[32];		/* "#2#1": the last component is in these lambdas */
	struct ct_name_text suffix;	/* "*", " const&" */
};

/**
 * ct_name_read() - read the components of @t
 * @function: the name of a function: what stands in front of a space is the return type.
 *	Else a type: what stands behind a space is " const*".
 */
void ct_name_read(struct ct_name *name, struct ct_name_text t, bool function);

/* Cuts the next template argument off @rest; false: there is none. */
bool ct_name_next(struct ct_name_text *rest, struct ct_name_text *arg);

/* The place behind the bracket that matches the one at @at; the end where none does. */
size_t ct_name_skip(struct ct_name_text t, size_t at);

/* A class, not a number or a type of the language. */
bool ct_name_is_class(struct ct_name_text arg);

bool ct_name_starts(struct ct_name_text t, size_t at, const char *word);

/* Without the spaces around it. */
struct ct_name_text ct_name_trim(struct ct_name_text t);

#endif
