/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The kernel's functions: which there are, and how each can be probed. */
#ifndef CT_CLI_FUNCTIONS_H
#define CT_CLI_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct ct_kfunc {
	char *module;		/* "" for the kernel itself */
	char *name;
	uint64_t address;	/* 0: the kernel does not show it */
	bool ftrace;		/* has an ftrace site; otherwise by breakpoint */
};

struct ct_functions {
	struct ct_kfunc *row;
	size_t count;
	bool sites_known;	/* tracefs could be read: ftrace means something */
};

/**
 * ct_functions_find() - functions whose name matches one of @globs
 * @globs: @count of "nv*", or "nvidia:nv*" for one module
 * @modules: only functions of modules, unless a glob names the kernel ("vmlinux:...")
 *
 * Symbols that are no functions of their own (parts that the compiler split off) are
 * left out.  Free with ct_functions_free() also after an error.
 */
int ct_functions_find(struct ct_functions *f, char *const *globs, size_t count,
		      bool modules, struct ct_error *err);
void ct_functions_free(struct ct_functions *f);

#endif
