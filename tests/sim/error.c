// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * error.c - names and descriptions of the results that the simulation gives.
 *
 * Needs no cuInit, like the real ones. It must never know a result that
 * cuda_sim.h does not name.
 */
#include "sim.h"

struct error {
	CUresult result;
	const char *name;
	const char *text;
};

#define E(name, text) { CUDA_##name, "CUDA_" #name, text }

static const struct error errors[] = {
	E(SUCCESS, "no error"),
	E(ERROR_INVALID_VALUE, "invalid argument"),
	E(ERROR_OUT_OF_MEMORY, "out of memory"),
	E(ERROR_NOT_INITIALIZED, "initialization error"),
	E(ERROR_DEINITIALIZED, "driver shutting down"),
	E(ERROR_NO_DEVICE, "no CUDA-capable device is detected"),
	E(ERROR_INVALID_DEVICE, "invalid device ordinal"),
	E(ERROR_INVALID_IMAGE, "device kernel image is invalid"),
	E(ERROR_INVALID_CONTEXT, "invalid device context"),
	E(ERROR_INVALID_SOURCE, "device kernel image is invalid"),
	E(ERROR_FILE_NOT_FOUND, "file not found"),
	E(ERROR_INVALID_HANDLE, "invalid resource handle"),
	E(ERROR_ILLEGAL_STATE,
	  "the operation cannot be performed in the present state"),
	E(ERROR_NOT_FOUND, "named symbol not found"),
	E(ERROR_NOT_READY, "device not ready"),
	E(ERROR_ILLEGAL_ADDRESS, "an illegal memory access was encountered"),
	E(ERROR_LAUNCH_OUT_OF_RESOURCES,
	  "too many resources requested for launch"),
	E(ERROR_PRIMARY_CONTEXT_ACTIVE,
	  "cannot set while device is active in this process"),
	E(ERROR_CONTEXT_IS_DESTROYED, "context is destroyed"),
	E(ERROR_HOST_MEMORY_ALREADY_REGISTERED,
	  "part or all of the requested memory range is already mapped"),
	E(ERROR_HOST_MEMORY_NOT_REGISTERED,
	  "pointer does not correspond to a registered memory region"),
	E(ERROR_LAUNCH_FAILED, "unspecified launch failure"),
	E(ERROR_NOT_PERMITTED, "operation not permitted"),
	E(ERROR_NOT_SUPPORTED, "operation not supported"),
	E(ERROR_STREAM_CAPTURE_UNSUPPORTED,
	  "operation not permitted when stream is capturing"),
	E(ERROR_STREAM_CAPTURE_INVALIDATED,
	  "operation failed due to a previous error during capture"),
	E(ERROR_STREAM_CAPTURE_UNMATCHED,
	  "capture was not ended in the same stream as it began"),
	E(ERROR_STREAM_CAPTURE_IMPLICIT,
	  "operation would make the legacy stream depend on a capturing blocking stream"),
	E(ERROR_GRAPH_EXEC_UPDATE_FAILURE,
	  "the graph update was not performed because it included changes which violated constraints specific to instantiated graph update"),
	E(ERROR_UNKNOWN, "unknown error"),
};

static const struct error *find(CUresult result)
{
	unsigned int i;

	for (i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (errors[i].result == result)
			return &errors[i];
	return NULL;
}

CUresult cuGetErrorName(CUresult result, const char **name)
{
	const struct error *error = find(result);

	SIM_ENTER(SIM_NEEDS_NOTHING);
	if (!name)
		return CUDA_ERROR_INVALID_VALUE;
	*name = error ? error->name : NULL;
	return error ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult result, const char **text)
{
	const struct error *error = find(result);

	SIM_ENTER(SIM_NEEDS_NOTHING);
	if (!text)
		return CUDA_ERROR_INVALID_VALUE;
	*text = error ? error->text : NULL;
	return error ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
