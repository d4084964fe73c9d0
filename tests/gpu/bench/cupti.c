// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * How NVIDIA's own interface traces, to be compared with; injected by
 * CUDA_INJECTION64_PATH.  CUPTI_MODE is
 *   callbacks  a callback at begin and end of each driver call, which reads the clock
 *   activity   records of kernels and copies, written by CUPTI
 *   driver     those, and records of the driver's calls
 *   graphs     a record of each graph launch in place of one for each of its kernels
 * The records are counted and dropped; the count goes to the error output at exit.
 */
#include <cupti.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BUFFER	(8u << 20)

static unsigned long records;
static __thread unsigned long long last;

static void CUPTIAPI called(void *unused, CUpti_CallbackDomain domain, CUpti_CallbackId id,
			    const void *data)
{
	struct timespec t;

	(void)unused, (void)domain, (void)id, (void)data;
	clock_gettime(CLOCK_MONOTONIC, &t);
	last = t.tv_sec * 1000000000ull + t.tv_nsec;
	records++;
}

static void CUPTIAPI give(uint8_t **buffer, size_t *size, size_t *most)
{
	*buffer = aligned_alloc(64, BUFFER);
	*size = *buffer ? BUFFER : 0;
	*most = 0;
}

static void CUPTIAPI take(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size,
			  size_t valid)
{
	CUpti_Activity *record = NULL;

	(void)context, (void)stream, (void)size;
	while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS)
		records++;
	free(buffer);
}

static void report(void)
{
	cuptiActivityFlushAll(1);
	fprintf(stderr, "cupti: %lu records\n", records);
}

int InitializeInjection(void);

int InitializeInjection(void)
{
	const char *mode = getenv("CUPTI_MODE");
	CUpti_SubscriberHandle subscriber;
	CUptiResult rc;

	if (mode && !strcmp(mode, "callbacks")) {
		rc = cuptiSubscribe(&subscriber, called, NULL);
		if (rc == CUPTI_SUCCESS)
			rc = cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API);
	} else {
		rc = cuptiActivityRegisterCallbacks(give, take);
		if (rc == CUPTI_SUCCESS)
			rc = cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
		if (rc == CUPTI_SUCCESS)
			rc = cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY);
		if (rc == CUPTI_SUCCESS && mode && !strcmp(mode, "driver"))
			rc = cuptiActivityEnable(CUPTI_ACTIVITY_KIND_DRIVER);
		if (rc == CUPTI_SUCCESS && mode && !strcmp(mode, "graphs"))
			rc = cuptiActivityEnable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
	}
	if (rc != CUPTI_SUCCESS) {
		fprintf(stderr, "cupti: refused: %d\n", rc);
		return 0;
	}
	atexit(report);
	return 1;
}
