/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The functions of libcuda, libcudart and libnccl that this cudatrace knows: to say that a name is misspelled, and to
 * suggest one.  Never to decide what is recorded: a newer driver has more of them.
 */
#ifndef CT_CLI_FUNCTION_NAMES_H
#define CT_CLI_FUNCTION_NAMES_H

/* In strcmp() order, as users know them: cuMemAlloc, not cuMemAlloc_v2. */
extern const char *const ct_function_names[];
extern const unsigned int ct_function_names_count;

#endif
