// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Other users of CUPTI in the process.
 *
 * CUPTI has one collector: who registers buffers last gets all of them.  The plugin is
 * preloaded, so a profiler of the program (PyTorch's Kineto) that is linked to libcupti calls
 * these functions instead of CUPTI's.  If it is the first, the plugin stays out.  If it comes
 * later, the plugin fetches what there is, lets go of CUPTI and its clock, and says so; buffers
 * of the plugin's that come back afterwards are not shown to the other.
 */

#include "plugins/gpu/company.h"
#include "plugins/gpu/buffers.h"
#include "plugins/gpu/collect.h"
#include "plugins/gpu/cupti.h"
#include "plugins/gpu/find.h"
#include "plugins/gpu/loader.h"

bool company;

static cupti_requested *their_requested;
static cupti_completed *their_completed;

/*
 * What the caller would have called without the plugin.  It may not be of the first libcupti in
 * the process: first of those in the program's own scope, then of that which the caller's
 * object is linked to.
 */
static void *company_real(const char *name, const void *caller)
{
	void *found = loader_find(RTLD_NEXT, name), *handle;

	if (!found && (handle = find_object(caller)))
		found = loader_find(handle, name);
	if (!found && (handle = find_cupti_loaded()))
		found = loader_find(handle, name);
	return found;
}

#define REAL(function)	company_real(function, __builtin_return_address(0))

static void company_requested(u8 **buffer, size_t *size, size_t *most_records)
{
	load(&their_requested)(buffer, size, most_records);
}

static void company_completed(void *context, u32 stream, u8 *buffer, size_t size, size_t valid)
{
	if (buffers_is_ours(buffer))
		return;
	load(&their_completed)(context, stream, buffer, size, valid);
}

static void company_comes(void)
{
	__atomic_store_n(&company, true, __ATOMIC_SEQ_CST);
	collect_stop("another tool in the program began to collect GPU activity (torch.profiler, for "
		 "instance)");
}

#define EXPORT	__attribute__((visibility("default")))

EXPORT int cuptiActivityRegisterCallbacks(cupti_requested *requested, cupti_completed *completed);
EXPORT int cuptiActivityRegisterTimestampCallback(u64 (*now)(void));
EXPORT int cuptiActivityEnableHWTrace(u8 enable);
EXPORT int cuptiFinalize(void);

int cuptiActivityRegisterCallbacks(cupti_requested *requested, cupti_completed *completed)
{
	int (*real)(cupti_requested *, cupti_completed *) =
		(__typeof__(real))REAL("cuptiActivityRegisterCallbacks");

	company_comes();
	if (!real)
		return CUPTI_NOT_INITIALIZED;
	if (!requested || !completed)
		return real(requested, completed);
	store(&their_requested, requested);
	store(&their_completed, completed);
	return real(company_requested, company_completed);
}

int cuptiActivityRegisterTimestampCallback(u64 (*now)(void))
{
	int (*real)(u64 (*)(void)) =
		(__typeof__(real))REAL("cuptiActivityRegisterTimestampCallback");

	company_comes();
	return real ? real(now) : CUPTI_NOT_INITIALIZED;
}

/* Before we undo our own: it must stay as they want it. */
int cuptiActivityEnableHWTrace(u8 enable)
{
	int (*real)(u8) = (__typeof__(real))REAL("cuptiActivityEnableHWTrace");

	company_comes();
	return real ? real(enable) : CUPTI_NOT_INITIALIZED;
}

int cuptiFinalize(void)
{
	int (*real)(void) = (__typeof__(real))REAL("cuptiFinalize");

	company_comes();
	return real ? real() : CUPTI_NOT_INITIALIZED;
}
