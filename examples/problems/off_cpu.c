// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * off_cpu.c - the thread that launches sleeps until another thread has loaded its data.
 *
 * The loader needs 2 ms a batch, as if it read a disk, and begins when the batch is asked for.
 * Mended: it is up to four batches ahead, so the launching thread finds its batch ready.
 */
#include <pthread.h>
#include <unistd.h>

#include "common.h"

enum { LOAD_US = 2000, AHEAD = 4, SLOTS = AHEAD + 1, STEPS = 6, NUMBERS = 1024, NS = 500000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int asked, loaded;		/* batches, since the begin */
static uint32_t *batches[SLOTS];	/* pinned */

static void *loader(void *unused)
{
	int ahead = problem.mended ? AHEAD : 0, i, k;

	(void)unused;
	for (i = 0; i < problem.iterations; i++) {
		pthread_mutex_lock(&lock);
		while (i >= asked + ahead)
			pthread_cond_wait(&changed, &lock);
		pthread_mutex_unlock(&lock);
		usleep(LOAD_US);
		for (k = 0; k < NUMBERS; k++)
			batches[i % SLOTS][k] = i;
		pthread_mutex_lock(&lock);
		loaded = i + 1;
		pthread_cond_broadcast(&changed);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

/* Batch i; the one before it is no longer used. */
static uint32_t *next_batch(int i)
{
	pthread_mutex_lock(&lock);
	asked = i + 1;
	pthread_cond_broadcast(&changed);
	while (loaded <= i)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
	return batches[i % SLOTS];
}

int main(int argc, char **argv)
{
	CUdeviceptr batch, sum;
	pthread_t thread;
	double us;
	bool right;
	int i, step;

	problem_options(argc, argv, "off_cpu", 400,
			"Waits in each iteration for a thread that loads its data.",
			"load up to four batches ahead");
	problem_open();
	for (i = 0; i < SLOTS; i++)
		CHECK(cuMemHostAlloc((void **)&batches[i], NUMBERS * sizeof(uint32_t), 0));
	batch = device_memory(NUMBERS * sizeof(uint32_t));
	sum = device_memory(NUMBERS * sizeof(uint32_t));
	if (pthread_create(&thread, NULL, loader, NULL))
		return 1;
	problem_begin();
	for (i = 0; i < problem.iterations; i++) {
		CHECK(cuMemcpyHtoDAsync(batch, next_batch(i), NUMBERS * sizeof(uint32_t),
					problem.stream));
		launch_work(batch, NUMBERS, 0);
		for (step = 0; step < STEPS; step++)
			launch_work(sum, NUMBERS, NS);
		CHECK(cuStreamSynchronize(problem.stream));
	}
	us = problem_end();
	pthread_join(thread, NULL);
	right = all_are(batch, NUMBERS, problem.iterations) &&
		all_are(sum, NUMBERS, STEPS * problem.iterations);
	CHECK(cuMemFree(sum));
	CHECK(cuMemFree(batch));
	for (i = 0; i < SLOTS; i++)
		CHECK(cuMemFreeHost(batches[i]));
	return problem_close(us, right);
}
