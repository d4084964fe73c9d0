// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * proc_address.c - cuGetProcAddress, the way cudart and PyTorch reach
 * everything else, made from the table in calls.h.
 *
 * Takes base names only, hands out the newest version that the caller's CUDA
 * version may have, and hands itself out like any other. It must never hand
 * out an address that dlsym would not give for the same symbol.
 */
#include <string.h>

#include "sim.h"

enum mode { ANY, LEGACY, PER_THREAD };

struct call {
	const char *base;
	int since;
	enum mode mode;
	void *function;
};

/* The exported functions: entries.S. */
#define SIM_CALL(base, since, mode, symbol, args) \
	extern char entry_##symbol[];
#include "calls.h"
#undef SIM_CALL

static const struct call calls[] = {
#define SIM_CALL(base, since, mode, symbol, args) \
	{ #base, since, mode, entry_##symbol },
#include "calls.h"
#undef SIM_CALL
};

#define CALLS (sizeof(calls) / sizeof(calls[0]))

/* The newest row for @name; *@known tells "too old" from "no such name". A
 * name that has per-thread variants has nothing else for who asks for those. */
static const struct call *find(const char *name, int version, bool per_thread,
			       bool *known)
{
	const struct call *best = NULL;
	bool variants = false;
	unsigned int i;

	*known = false;
	for (i = 0; i < CALLS; i++) {
		if (strcmp(calls[i].base, name))
			continue;
		*known = true;
		variants |= calls[i].mode == PER_THREAD;
	}
	for (i = 0; *known && i < CALLS; i++) {
		const struct call *call = &calls[i];

		if (strcmp(call->base, name) || call->since > version)
			continue;
		if (variants && (call->mode == PER_THREAD) != per_thread)
			continue;
		if (!best || call->since >= best->since)
			best = call;
	}
	return best;
}

/*
 * Results as driver 580.159.04 gives them: a name that is unknown or too new
 * for @version is no error of cuGetProcAddress_v2, whose status says so, and
 * CUDA_ERROR_NOT_FOUND of the older one; both flags together mean per thread;
 * a version far beyond the driver's own is an error.
 */
static CUresult get(const char *name, void **function, int version,
		    cuuint64_t flags, CUdriverProcAddressQueryResult *status)
{
	const struct call *call;
	bool known;

	if (!name || !function || version > SIM_DRIVER_VERSION ||
	    flags & ~(cuuint64_t)(CU_GET_PROC_ADDRESS_LEGACY_STREAM |
				  CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM))
		return CUDA_ERROR_INVALID_VALUE;
	call = find(name, version,
		    flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM,
		    &known);
	*function = call ? call->function : NULL;
	if (status)
		*status = call ? CU_GET_PROC_ADDRESS_SUCCESS : known ?
			CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT :
			CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
	return CUDA_SUCCESS;
}

CUresult cuGetProcAddress(const char *name, void **function, int version,
			  cuuint64_t flags)
{
	CUresult result;

	SIM_ENTER(SIM_NEEDS_NOTHING);
	result = get(name, function, version, flags, NULL);
	if (result == CUDA_SUCCESS && !*function)
		return CUDA_ERROR_NOT_FOUND;
	return result;
}

CUresult cuGetProcAddress_v2(const char *name, void **function, int version,
			     cuuint64_t flags,
			     CUdriverProcAddressQueryResult *status)
{
	SIM_ENTER(SIM_NEEDS_NOTHING);
	return get(name, function, version, flags, status);
}

/* NVIDIA's private tables, which cudart needs, are not simulated. */
CUresult cuGetExportTable(const void **table, const CUuuid *id)
{
	SIM_ENTER(SIM_NEEDS_NOTHING);
	if (!table || !id)
		return CUDA_ERROR_INVALID_VALUE;
	*table = NULL;
	return CUDA_ERROR_NOT_FOUND;
}
