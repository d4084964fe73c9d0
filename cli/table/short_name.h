/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Short names of kernels, for tables.  The names are of C++ functions as c++filt prints them;
 * a trace may hold any other text in their place.
 */
#ifndef CT_CLI_SHORT_NAME_H
#define CT_CLI_SHORT_NAME_H

#include <stddef.h>

/* Columns that a short name should not exceed where nothing else limits it. */
#define CT_SHORT_COLUMNS	96

/**
 * ct_short_kernel() - shorten the demangled name of a kernel
 * @buf: gets the short name; cut where @size bytes are too few
 * @size: at least 1
 *
 * A kernel of a well-known library begins with its operation: "MulFunctor elementwise float
 * vec4", "gemm nvjet sm90 hsh 96x64 TNT".  Of others, leaves out the return type, the parameters,
 * the namespaces, types that stand twice in a row and how data is reached; keeps as many template
 * arguments as fit into CT_SHORT_COLUMNS.  ".." stands for some that are left out; the shortest
 * forms have none in front of a class.  Other names of C are kept.  The result may hold control
 * characters if @name does.
 *
 * Return: @buf.
 */
char *ct_short_kernel(char *buf, size_t size, const char *name);

/*
 * The same for @columns columns; where they are few, the function's own name is cut with a "~"
 * so that its arguments tell kernels apart.  The result is longer where all that is not enough.
 */
char *ct_short_kernel_fit(char *buf, size_t size, const char *name, unsigned int columns);

#endif
