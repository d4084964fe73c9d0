// SPDX-License-Identifier: LGPL-2.1-or-later
/* See collect.h.  A thread of the plugin's writes; the program's threads only fill buffers. */
#include "plugins/gpu/collect.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "plugins/gpu/buffers.h"
#include "plugins/gpu/clock.h"
#include "plugins/gpu/find.h"
#include "plugins/gpu/loader.h"
#include "plugins/gpu/streams.h"

#define TICK		20000000u	/* ns: how often buffers are looked for */
#define FLUSH_TICKS	10		/* how often CUPTI is asked for those that are not full */

static pid_t owner;		/* the process that collects; 0: none */
static u32 busy;		/* who writes has it */
static bool ended;		/* under it: nothing is collected any more */
static u32 kinds[5], kinds_count;

/* ------------------------------------------------------------ the writer --- */
static void collect_sleep(void)
{
	const struct timespec t = { .tv_nsec = TICK };

	nanosleep(&t, NULL);
}

/* Not for ever: a thread that has it may be gone, when the process ends. */
static bool collect_begin_writing(int ticks)
{
	while (__atomic_exchange_n(&busy, 1u, __ATOMIC_ACQUIRE)) {
		if (!ticks--)
			return false;
		collect_sleep();
	}
	return true;
}

static void collect_end_writing(void)
{
	store(&busy, 0u);
}

static void *collect_write(void *unused)
{
	(void)unused;
	for (unsigned tick = 1;; tick++) {
		collect_sleep();
		if (!collect_begin_writing(0))
			continue;
		if (ended) {
			collect_end_writing();
			return NULL;
		}
		if (tick % FLUSH_TICKS == 0)
			cupti.ActivityFlushAll(0);
		buffers_write();
		collect_end_writing();
	}
}

/* By name: in older C libraries it is in a library of its own, which libcuda has loaded. */
static bool collect_start_writer(void)
{
	int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
	sigset_t all, before;
	pthread_t thread;
	bool ok;

	create = (__typeof__(create))loader_find(RTLD_DEFAULT, "pthread_create");
	if (!create) {
		void *library = loader_open("libpthread.so.0", RTLD_LAZY);

		create = library ? (__typeof__(create))loader_find(library, "pthread_create") : NULL;
	}
	if (!create)
		return false;
	/* The program's signals are not for it. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	ok = !create(&thread, NULL, collect_write, NULL);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return ok;
}

/* --------------------------------------------------------- begin and end --- */
/* One line, for people; the trace has it, too. */
void collect_refuse(const char *text)
{
	streams_state(CT_GPU_REFUSED, text);
	host->info("gpu_refused", text);
}

static void collect_disable(void)
{
	while (kinds_count)
		cupti.ActivityDisable(kinds[--kinds_count]);
}

/* Kinds of what was asked for: false, with the error of the first that CUPTI refuses. */
static bool collect_enable(const char *what, int *error)
{
	bool nodes = !strcmp(what, "nodes"), only_graphs = !strcmp(what, "graphs");
	/* First the one that says how graphs are seen. */
	const u32 wanted[] = { CUPTI_GRAPH, CUPTI_KERNEL, CUPTI_MEMCPY, CUPTI_PEER_COPY, CUPTI_MEMSET };

	for (unsigned i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		if ((wanted[i] == CUPTI_GRAPH && nodes) || (wanted[i] == CUPTI_KERNEL && only_graphs))
			continue;
		*error = cupti.ActivityEnable(wanted[i]);
		if (*error == CUPTI_OK)
			kinds[kinds_count++] = wanted[i];
		else if ((wanted[i] != CUPTI_GRAPH || only_graphs) && wanted[i] != CUPTI_PEER_COPY)
			return false;
	}
	return true;
}

/* With the right to write.  Fetches what there is. */
static void collect_finish(u32 state, const char *text)
{
	cupti.ActivityFlushAll(CUPTI_FLUSH_FORCED);
	buffers_write();
	streams_state(state, text);
	ended = true;
}

void collect_stop(const char *text)
{
	int saved = errno;

	if (load(&owner) != getpid() || !collect_begin_writing(100))
		return;
	if (!ended) {
		collect_finish(CT_GPU_STOPPED, text);
		collect_disable();
		clock_give_back();
		host->info("gpu_stopped", text);
	}
	collect_end_writing();
	errno = saved;
}

/* In exit(), before libcuda's end.  A child that was forked has nothing of its own. */
static void collect_exit(void)
{
	if (load(&owner) != getpid() || !collect_begin_writing(100))
		return;
	if (!ended)
		collect_finish(CT_GPU_COMPLETE, "the process ended");
	collect_end_writing();
}

void collect_start(const char *what)
{
	static struct found f;
	void *handle = find_cupti(&f);
	const char *missing;
	char text[4500];
	int error;
	bool hardware;

	if (!handle) {
		collect_refuse(f.why);
		return;
	}
	missing = cupti_load(handle);
	if (missing || f.version < CUPTI_VERSION_LEAST) {
		snprintf(text, sizeof(text), "%s is too old: it %s%s", f.path, missing ? "lacks " :
			 "is from before CUDA 11.6", missing ? missing : "");
		collect_refuse(text);
		return;
	}
	hardware = cupti.ActivityEnableHWTrace && cupti.ActivityEnableHWTrace(1) == CUPTI_OK;
	clock_start();
	error = cupti.ActivityRegisterCallbacks(buffers_requested, buffers_completed);
	if (error != CUPTI_OK || !collect_enable(what, &error)) {
		collect_disable();
		clock_give_back();
		snprintf(text, sizeof(text), "CUPTI refuses to collect: %s (%d, %s)",
			 cupti_why(error), error, f.path);
		collect_refuse(text);
		return;
	}
	snprintf(text, sizeof(text), "%s, version %u, %s%s", f.path, f.version, f.why,
		 hardware ? ", by hardware events" : "");
	streams_state(CT_GPU_STARTED, text);
	store(&owner, getpid());
	if (!collect_start_writer()) {
		collect_stop("no thread could be made to write records");
		return;
	}
	atexit(collect_exit);
}
