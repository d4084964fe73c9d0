// SPDX-License-Identifier: LGPL-2.1-or-later
/* See nvml_used.h. */
#include "capture/nvml/nvml_used.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/keyed.h"
#include "base/proc.h"
#include "base/thread.h"
#include "capture/nvml/nvml.h"

#define USED_MOST	1024u		/* processes of a device */
#define USED_NS		1000000000ull	/* between two looks; and so long the end waits for the thread */

struct ct_nvml_used {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool stop, ended, known;
	CT_KEYED(struct ct_nvml_process) processes;	/* of all devices together */
};

/* Adds up what the devices say.  False: no memory. */
static bool used_ask(struct ct_nvml *nvml, struct ct_nvml_process *list, struct ct_keyed *to)
{
	CT_KEYED(struct ct_nvml_process) sums = { 0 };
	bool whole = true;

	for (unsigned int device = 0; device < ct_nvml_count(nvml); device++) {
		unsigned int count = ct_nvml_processes(nvml, device, list, USED_MOST);

		for (unsigned int i = 0; i < count && i < USED_MOST; i++) {
			struct ct_nvml_process *one = ct_keyed_put(&sums, list[i].pid);

			whole &= one != NULL;
			if (one)
				one->bytes += list[i].bytes;
		}
	}
	if (!whole)
		ct_keyed_free(&sums);
	*to = sums.keyed;
	return whole;
}

/* Waits, with the lock, until somebody has changed something, or for so long. */
static bool used_wait(struct ct_nvml_used *u, const struct timespec *until)
{
	return pthread_cond_timedwait(&u->changed, &u->lock, until) != ETIMEDOUT;
}

static struct timespec used_after(uint64_t ns)
{
	const uint64_t at = ct_clock_ns(CLOCK_MONOTONIC) + ns;

	return (struct timespec){ .tv_sec = at / 1000000000, .tv_nsec = at % 1000000000 };
}

/* Shows what was asked, and rests.  False: it is to end. */
static bool used_show(struct ct_nvml_used *u, const struct ct_keyed *sums)
{
	const struct timespec until = used_after(USED_NS);
	bool stop;

	pthread_mutex_lock(&u->lock);
	ct_keyed_free(&u->processes);
	u->processes.keyed = *sums;
	u->known = true;
	while (!u->stop && used_wait(u, &until))
		;
	stop = u->stop;
	pthread_mutex_unlock(&u->lock);
	return !stop;
}

static void *used_run(void *arg)
{
	struct ct_nvml_process *list = malloc(USED_MOST * sizeof(*list));
	struct ct_nvml_used *u = arg;
	struct ct_keyed sums;
	const char *why;
	struct ct_nvml *nvml = list ? ct_nvml_open(&why) : NULL;

	while (nvml && used_ask(nvml, list, &sums) && used_show(u, &sums))
		;
	ct_nvml_close(nvml);
	free(list);
	pthread_mutex_lock(&u->lock);
	u->ended = true;
	pthread_cond_broadcast(&u->changed);
	pthread_mutex_unlock(&u->lock);
	return NULL;
}

struct ct_nvml_used *ct_nvml_used_start(void)
{
	struct ct_nvml_used *u = ct_proc_is_first() ? calloc(1, sizeof(*u)) : NULL;
	pthread_condattr_t attr;

	if (!u)
		return NULL;
	pthread_mutex_init(&u->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&u->changed, &attr);
	pthread_condattr_destroy(&attr);
	if (ct_thread_start(&u->thread, used_run, u)) {
		free(u);
		return NULL;
	}
	return u;
}

bool ct_nvml_used_known(struct ct_nvml_used *u)
{
	bool known;

	pthread_mutex_lock(&u->lock);
	known = u->known;
	pthread_mutex_unlock(&u->lock);
	return known;
}

bool ct_nvml_used_of(struct ct_nvml_used *u, uint64_t pid, uint64_t *bytes)
{
	const struct ct_nvml_process *one;

	pthread_mutex_lock(&u->lock);
	one = ct_keyed_get(&u->processes, pid);
	*bytes = one ? one->bytes : 0;
	pthread_mutex_unlock(&u->lock);
	return one != NULL;
}

void ct_nvml_used_stop(struct ct_nvml_used *u)
{
	const struct timespec until = used_after(USED_NS);
	bool ended;

	if (!u)
		return;
	pthread_mutex_lock(&u->lock);
	u->stop = true;
	pthread_cond_broadcast(&u->changed);
	while (!u->ended && used_wait(u, &until))
		;
	ended = u->ended;
	pthread_mutex_unlock(&u->lock);
	/* It hangs in the driver: what it uses stays its own. */
	if (!ended) {
		pthread_detach(u->thread);
		return;
	}
	pthread_join(u->thread, NULL);
	ct_keyed_free(&u->processes);
	free(u);
}
