// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The judge of what the preload library sees: counts the driver's calls with
 * CUPTI's callbacks, function by function, in the process it is injected into
 * (CUDA_INJECTION64_PATH), and writes "NAME TAB COUNT" lines to the file
 * CUPTI_COUNT.PID, from the environment, when the process exits.  A callback comes
 * for each driver call, those that cudart makes through its private table included.
 */
#include <cupti.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static unsigned long count[CUPTI_DRIVER_TRACE_CBID_SIZE];

static void CUPTIAPI called(void *unused, CUpti_CallbackDomain domain, CUpti_CallbackId id,
			    const void *data)
{
	const CUpti_CallbackData *call = data;

	(void)unused;
	if (domain == CUPTI_CB_DOMAIN_DRIVER_API && call->callbackSite == CUPTI_API_ENTER &&
	    id < CUPTI_DRIVER_TRACE_CBID_SIZE)
		__atomic_add_fetch(&count[id], 1, __ATOMIC_RELAXED);
}

static void report(void)
{
	const char *prefix = getenv("CUPTI_COUNT");
	const char *name;
	char path[4096];
	FILE *out;

	snprintf(path, sizeof(path), "%s.%d", prefix ? prefix : "cupti_count", getpid());
	out = fopen(path, "w");
	if (!out) {
		perror(path);
		return;
	}
	for (CUpti_CallbackId id = 0; id < CUPTI_DRIVER_TRACE_CBID_SIZE; id++)
		if (count[id] && cuptiGetCallbackName(CUPTI_CB_DOMAIN_DRIVER_API, id, &name) == CUPTI_SUCCESS)
			fprintf(out, "%s\t%lu\n", name, count[id]);
	fclose(out);
}

int InitializeInjection(void);

int InitializeInjection(void)
{
	CUpti_SubscriberHandle subscriber;

	if (cuptiSubscribe(&subscriber, called, NULL) != CUPTI_SUCCESS ||
	    cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API) != CUPTI_SUCCESS) {
		fprintf(stderr, "cupti_count: CUPTI refuses its callbacks\n");
		return 0;
	}
	atexit(report);
	return 1;
}
