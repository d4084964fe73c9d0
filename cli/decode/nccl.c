// SPDX-License-Identifier: LGPL-2.1-or-later
/* See nccl.h. */
#include "decode/nccl.h"

#include <stddef.h>

#define NAME(names, i)	((uint64_t)(i) < sizeof(names) / sizeof(*(names)) ? (names)[i] : NULL)

const char *nccl_result_name(int64_t result)
{
	static const char *const names[] = {
		"ncclSuccess", "ncclUnhandledCudaError", "ncclSystemError", "ncclInternalError",
		"ncclInvalidArgument", "ncclInvalidUsage", "ncclRemoteError", "ncclInProgress",
	};

	return NAME(names, result);
}

const char *nccl_type_name(uint64_t type)
{
	static const char *const names[] = {
		"int8", "uint8", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64",
		"bfloat16", "float8e4m3", "float8e5m2",
	};

	return NAME(names, type);
}

const char *nccl_reduction_name(int64_t reduction)
{
	static const char *const names[] = { "sum", "prod", "max", "min", "avg" };

	return NAME(names, reduction);
}
