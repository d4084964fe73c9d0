/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a kernel of a well-known library computes, in words: "MulFunctor elementwise float vec4",
 * "gemm nvjet sm90 hsh 96x64 TNT", "AllReduce f32 RING LL".
 */
#ifndef CT_CLI_OPERATION_H
#define CT_CLI_OPERATION_H

#include <stdbool.h>
#include <stddef.h>

#include "table/name_parts.h"

/**
 * ct_operation_name() - name a kernel by its operation
 * @buf: gets the operation, the kind of kernel or the library, the types, the shape
 * @size: at least 1
 * @name: a demangled name or a name of C; may be any text
 *
 * Return: false where the name is of no kind that is known; @buf is "" then.
 */
bool ct_operation_name(char *buf, size_t size, struct ct_name_text name);

#endif
