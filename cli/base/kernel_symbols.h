/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The functions of the running kernel, by its own lists, and whether they may be probed. */
#ifndef CT_CLI_KERNEL_SYMBOLS_H
#define CT_CLI_KERNEL_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Called for each function; false ends the list.  @module is "" for the kernel itself.
 * @address is 0 if the kernel does not show it.
 */
typedef bool ct_symbol_fn(void *arg, const char *module, const char *name, uint64_t address);

/*
 * All functions of /proc/kallsyms, and those that have an ftrace site.
 * Return: 0 or a negative errno: the list can't be read (for the second: tracefs is not
 * mounted, or not readable).
 */
int ct_symbols_each(ct_symbol_fn *fn, void *arg);
int ct_ftrace_sites_each(ct_symbol_fn *fn, void *arg);

/* ct_kernel_is_confidential() - is the kernel locked down so far that it takes no new probe? */
bool ct_kernel_is_confidential(void);

#endif
