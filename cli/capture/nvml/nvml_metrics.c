// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * See nvml_metrics.h. The library is loaded and asked by the thread alone: its start takes tens of milliseconds, for
 * which the program need not wait.
 */
#include "capture/nvml/nvml_metrics.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/thread.h"
#include "capture/nvml/nvml.h"
#include "trace/registry.h"
#include "write/state.h"

#define METRICS_REST	3u	/* times as long as it works it rests at least */

struct ct_metrics {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t stopped;
	bool stop;
	int dirfd;
	char name[CT_STATE_NAME];	/* of its stream */
	unsigned int rate;
	struct ct_state out;
	struct ct_registry_writer *registry;
};

/* Waits until @until. False: it is to end. */
static bool metrics_wait(struct ct_metrics *m, uint64_t until)
{
	/* In a time namespace the clock of records is not the one that ends the wait. */
	uint64_t now = ct_now_ns(), at = ct_clock_ns(CLOCK_MONOTONIC) + (until > now ? until - now : 0);
	const struct timespec t = { .tv_sec = at / 1000000000, .tv_nsec = at % 1000000000 };
	int rc = 0;

	pthread_mutex_lock(&m->lock);
	while (!m->stop && rc != ETIMEDOUT)
		rc = pthread_cond_timedwait(&m->stopped, &m->lock, &t);
	rc = m->stop;
	pthread_mutex_unlock(&m->lock);
	return !rc;
}

static void metrics_look(struct ct_metrics *m, struct ct_nvml *nvml)
{
	struct ct_gpu_metrics now;

	for (unsigned int i = 0; i < ct_nvml_count(nvml); i++) {
		ct_nvml_read(nvml, i, &now);
		ct_state_gpu_metrics(&m->out, &now);
	}
}

static void *metrics_run(void *arg)
{
	struct ct_metrics *m = arg;
	uint64_t period = 1000000000ull / m->rate, next = ct_now_ns(), end;
	const char *why;
	struct ct_nvml *nvml = ct_nvml_open(&why);
	char text[320];

	if (!nvml) {
		ct_registry_add_info(m->registry, CT_METRICS_REFUSED_INFO, why);
		return NULL;
	}
	for (unsigned int i = 0; i < ct_nvml_count(nvml); i++) {
		ct_nvml_describe(nvml, i, text, sizeof(text));
		ct_registry_add_info(m->registry, CT_METRICS_INFO, text);
	}
	do {
		uint64_t begin = ct_now_ns();

		metrics_look(m, nvml);
		end = ct_now_ns();
		next += period;
		/* A driver that is slow to answer is asked less often. */
		if (next < end + METRICS_REST * (end - begin))
			next = end + METRICS_REST * (end - begin);
	} while (metrics_wait(m, next));
	/* What the last part of a period was like. */
	metrics_look(m, nvml);
	ct_nvml_close(nvml);
	return NULL;
}

/* A stream without a record would be taken for a damaged one. */
static void metrics_close(struct ct_metrics *m)
{
	bool empty = !m->out.seq;

	ct_state_close(&m->out);
	if (empty)
		unlinkat(m->dirfd, m->name, 0);
	pthread_cond_destroy(&m->stopped);
	pthread_mutex_destroy(&m->lock);
	free(m);
}

struct ct_metrics *ct_metrics_start(int dirfd, const uint8_t uuid[16], unsigned int rate,
				    struct ct_registry_writer *registry)
{
	struct ct_metrics *m = calloc(1, sizeof(*m));
	pthread_condattr_t clock;
	int rc;

	if (!m)
		return NULL;
	*m = (struct ct_metrics){ .dirfd = dirfd, .rate = rate, .registry = registry };
	pthread_mutex_init(&m->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&m->stopped, &clock);
	pthread_condattr_destroy(&clock);
	rc = ct_state_open_samples(&m->out, dirfd, getpid(), m->name, uuid);
	if (!rc) {
		rc = ct_thread_start(&m->thread, metrics_run, m);
		if (!rc)
			return m;
	}
	ct_registry_add_info(registry, CT_METRICS_REFUSED_INFO, strerror(-rc));
	metrics_close(m);
	return NULL;
}

void ct_metrics_stop(struct ct_metrics *m)
{
	if (!m)
		return;
	pthread_mutex_lock(&m->lock);
	m->stop = true;
	pthread_cond_signal(&m->stopped);
	pthread_mutex_unlock(&m->lock);
	pthread_join(m->thread, NULL);
	metrics_close(m);
}
