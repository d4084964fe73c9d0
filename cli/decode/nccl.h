/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of libnccl's numbers: facts of its ABI.  Each returns a constant string, or NULL. */
#ifndef CT_CLI_NCCL_H
#define CT_CLI_NCCL_H

#include <stdint.h>

/* "ncclInvalidArgument" */
const char *nccl_result_name(int64_t result);

/* "float32" */
const char *nccl_type_name(uint64_t type);

/* "sum"; an operation that the program made has no name. */
const char *nccl_reduction_name(int64_t reduction);

#endif
