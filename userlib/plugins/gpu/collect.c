// SPDX-License-Identifier: LGPL-2.1-or-later
/* See collect.h.  A thread of the plugin's writes; the program's threads only fill buffers. */
#include "plugins/gpu/collect.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "plugins/gpu/activity.h"
#include "plugins/gpu/buffers.h"
#include "plugins/gpu/clock.h"
#include "plugins/gpu/find.h"
#include "plugins/gpu/loader.h"
#include "plugins/gpu/streams.h"

#define TICK		20000000u	/* ns: how often buffers are looked for */
#define FLUSH_TICKS	10		/* how often CUPTI is asked for those that are not full */
#define SETTLE_TICKS	5		/* for work that was launched before the end */
#define PATIENCE	250		/* ticks without progress, then nobody waits for the writer */

static pid_t owner;		/* the process that collects; 0: none */
static u64 starter;		/* pid and tid of who is in collect_start(); 0: none */
static u32 kinds[5], kinds_count;
static bool hardware;

/*
 * How collecting ends.  The writer does it, so that no thread of the program's waits for CUPTI or
 * the disk for ever: it may have been interrupted inside CUPTI by a handler that calls exit().
 */
enum { OUTSIDE_NO, OUTSIDE_BEFORE, OUTSIDE_AFTER };	/* host->outside */
enum { RUNNING, ASKED, LATE, ENDING, ENDED };
static u32 phase;
static u32 in_cupti;		/* the writer is */
static u32 late_ends;		/* collect_end_late() was called */
static struct {
	u32 taken;		/* by the first who asks */
	u32 state;
	const char *text;
	u64 when;
} end;

/* ------------------------------------------------------------ the writer --- */
/* Until phase is another, for a tick at most. */
static void collect_sleep(u32 seen)
{
	const struct timespec t = { .tv_nsec = TICK };

	syscall(SYS_futex, &phase, FUTEX_WAIT_PRIVATE, seen, &t, NULL, 0);
}

static void collect_set_phase(u32 to)
{
	store(&phase, to);
	syscall(SYS_futex, &phase, FUTEX_WAKE_PRIVATE, 1 << 30, NULL, NULL, 0);
}

static bool collect_move_phase(u32 from, u32 to)
{
	return __atomic_compare_exchange_n(&phase, &from, to, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

static void collect_flush(u32 flag)
{
	store(&in_cupti, 1u);
	cupti.ActivityFlushAll(flag);
	store(&in_cupti, 0u);
}

static void collect_disable_kinds(void)
{
	while (kinds_count)
		cupti.ActivityDisable(kinds[--kinds_count]);
}

/*
 * The program goes on (record --pid): what it launched until now may end, and is not lost, as a forced
 * flush would have it.
 */
static void collect_settle(void)
{
	collect_disable_kinds();
	/* What it launches from now on has no records. */
	end.when = host->clock();
	for (int i = 0; i < SETTLE_TICKS; i++) {
		collect_sleep(ENDING);
		collect_flush(0);
	}
}

/* Fetches what there is, if CUPTI is still ours. */
static void collect_finish(void)
{
	if (collect_move_phase(ASKED, ENDING)) {
		if (load(&late_ends)) {
			collect_settle();
			activity_leaves();
		}
		collect_flush(CUPTI_FLUSH_FORCED);
	}
	buffers_write();
	streams_state(end.state, end.text, end.when);
	collect_set_phase(ENDED);
}

/* The capture range has ended: the recorder, which is not so quick, ends the rest. */
static void collect_follow_range(void)
{
	if (load(host->outside) != OUTSIDE_AFTER || !kinds_count)
		return;
	collect_disable_kinds();
	host->followed(OUTSIDE_AFTER);
}

static void *collect_write(void *unused)
{
	(void)unused;
	for (unsigned tick = 1;; tick++) {
		collect_sleep(RUNNING);
		if (load(&phase) != RUNNING)
			break;
		/* Its recorder was killed, and the library has left: nobody takes what there is. */
		if (!host->recorded()) {
			buffers_forget();
			collect_set_phase(ENDED);
			return NULL;
		}
		collect_follow_range();
		if (tick % FLUSH_TICKS == 0)
			collect_flush(0);
		buffers_write();
	}
	collect_finish();
	return NULL;
}

/* By name: in older C libraries it is in a library of its own, which libcuda has loaded. */
static bool collect_start_thread(void *(*run)(void *), void *arg)
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
	ok = !create(&thread, NULL, run, arg);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return ok;
}

/* --------------------------------------------------------- begin and end --- */
/* One line, for people; the trace has it, too. */
void collect_refuse(const char *text)
{
	streams_state(CT_GPU_REFUSED, text, host->clock());
	host->info("gpu_refused", text);
}

static void collect_disable(void)
{
	collect_disable_kinds();
	if (hardware)
		cupti.ActivityEnableHWTrace(0);
	hardware = false;
	clock_give_back();
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

/* False: the writer makes no progress. */
static bool collect_wait(void)
{
	u32 seen = load(&progress), now;

	for (int idle = 0; (now = load(&phase)) != ENDED; idle++) {
		if (load(&progress) != seen) {
			seen = load(&progress);
			idle = 0;
		}
		if (idle == PATIENCE)
			return false;
		collect_sleep(now);
	}
	return true;
}

static u64 collect_thread(void)
{
	return (u64)getpid() << 32 | (u32)syscall(SYS_gettid);
}

/* Another thread of the process is in collect_start(). */
static bool collect_starts(void)
{
	u64 who = __atomic_load_n(&starter, __ATOMIC_SEQ_CST);

	return who >> 32 == (u32)getpid() && who != collect_thread();
}

/* True for the first who asks. */
static bool collect_end(u32 state, const char *text)
{
	if (__atomic_exchange_n(&end.taken, 1u, __ATOMIC_ACQ_REL))
		return false;
	end.state = state;
	end.text = text;
	end.when = host->clock();
	collect_set_phase(ASKED);
	return true;
}

void collect_stop(const char *text)
{
	const struct timespec tick = { .tv_nsec = TICK };
	int saved = errno;

	/* Another thread begins just now: what it registers must not be the last. */
	for (int i = 0; i < PATIENCE && collect_starts(); i++)
		nanosleep(&tick, NULL);
	if (load(&owner) == getpid() && collect_end(CT_GPU_STOPPED, text)) {
		/* The disk blocks the writer: it writes this as soon as it can. */
		if (!collect_wait() && collect_move_phase(ASKED, LATE) && !load(&in_cupti))
			cupti.ActivityFlushAll(CUPTI_FLUSH_FORCED);
		collect_disable();
		host->info("gpu_stopped", text);
	}
	errno = saved;
}

/* In exit(), before libcuda's end.  A child that was forked has nothing of its own. */
static void collect_exit(void)
{
	if (load(&owner) != getpid())
		return;
	collect_end(CT_GPU_COMPLETE, "the process ended");
	/* Where CUPTI hangs, nothing can be asked of it: no record says that the trace is complete. */
	if (!collect_wait() && !load(&in_cupti))
		buffers_lose();
}

static struct found f;

/* False: it was refused, and the trace says why. */
static bool collect_enable_all(const char *what)
{
	void *handle = find_cupti(&f);
	const char *missing;
	char text[4500];
	int error;

	if (!handle) {
		collect_refuse(f.why);
		return false;
	}
	missing = cupti_load(handle);
	if (missing || f.version < CUPTI_VERSION_LEAST) {
		snprintf(text, sizeof(text), "%s is too old: it %s%s", f.path, missing ? "lacks " :
			 "is from before CUDA 11.6", missing ? missing : "");
		collect_refuse(text);
		return false;
	}
	hardware = cupti.ActivityEnableHWTrace && cupti.ActivityEnableHWTrace(1) == CUPTI_OK;
	clock_start();
	error = cupti.ActivityRegisterCallbacks(buffers_requested, buffers_completed);
	if (error != CUPTI_OK || !collect_enable(what, &error)) {
		collect_disable();
		snprintf(text, sizeof(text), "CUPTI refuses to collect: %s (%d, %s)",
			 cupti_why(error), error, f.path);
		collect_refuse(text);
		return false;
	}
	snprintf(text, sizeof(text), "%s, version %u, %s%s", f.path, f.version, f.why,
		 hardware ? ", by hardware events" : "");
	streams_state(CT_GPU_STARTED, text, host->clock());
	return true;
}

static void collect_begin(const char *what)
{
	if (!collect_enable_all(what))
		return;
	if (!collect_start_thread(collect_write, NULL)) {
		collect_disable();
		streams_state(CT_GPU_STOPPED, "no thread could be made to write records", host->clock());
		return;
	}
	store(&owner, getpid());
	atexit(collect_exit);
}

void collect_start(const char *what, const bool *company)
{
	__atomic_store_n(&starter, collect_thread(), __ATOMIC_SEQ_CST);
	if (__atomic_load_n(company, __ATOMIC_SEQ_CST))
		collect_refuse("another tool in the program collects GPU activity already");
	else
		collect_begin(what);
	store(&starter, 0ull);
}

/* ------------------------------------- in a process that was attached to --- */

static struct {
	u32 busy;		/* 1: its thread is there */
	char what[16];
	const struct ct_host *(*get)(void);
} late;

static void late_tell(const char *key, u64 ns)
{
	char text[64];

	snprintf(text, sizeof(text), ns ? "%d %llu" : "%d", (int)getpid(), (unsigned long long)ns);
	host->info(key, text);
}

/* False: there is no range any more to wait for. */
static bool late_await_range(void)
{
	const struct timespec t = { .tv_nsec = 5 * TICK };
	u32 now = load(host->outside);

	if (now == OUTSIDE_NO)
		return true;
	host->followed(OUTSIDE_BEFORE);
	while ((now = load(host->outside)) == OUTSIDE_BEFORE && host->recorded() && !load(&late_ends))
		syscall(SYS_futex, host->outside, FUTEX_WAIT, now, &t, NULL, 0);
	if (now == OUTSIDE_NO)
		return true;
	host->followed(OUTSIDE_AFTER);
	late_tell("gpu_ended", 0);
	return false;
}

static void *late_run(void *unused)
{
	static bool at_exit;
	u64 before;

	(void)unused;
	host = late.get();
	if (!host || host->size != sizeof(*host) || host->schema != CT_SCHEMA_VERSION)
		goto out;
	streams_forget();
	buffers_forget();
	clock_forget();
	activity_forget();
	__atomic_store_n(&end.taken, 0u, __ATOMIC_RELEASE);
	kinds_count = 0;
	store(&phase, (u32)RUNNING);
	if (!late_await_range())
		goto out;
	before = host->clock();
	if (!collect_enable_all(late.what)) {
		host->followed(OUTSIDE_AFTER);
		late_tell("gpu_ended", 0);
		goto out;
	}
	host->followed(OUTSIDE_NO);
	late_tell("gpu_begun", host->clock() - before + 1);
	store(&owner, getpid());
	if (!at_exit)
		at_exit = !atexit(collect_exit);
	if (load(&late_ends))
		collect_end(CT_GPU_COMPLETE, "cudatrace record --pid left the process");
	collect_write(NULL);
	store(&owner, 0);
	/* No cuptiFinalize(): see docs/design.md, "CUPTI begins and ends". */
	collect_disable();
	late_tell("gpu_ended", 0);
out:
	store(&late.busy, 0u);
	return NULL;
}

int collect_start_late(const char *what, const struct ct_host *(*get)(void))
{
	if (__atomic_exchange_n(&late.busy, 1u, __ATOMIC_ACQ_REL))
		return -EBUSY;
	snprintf(late.what, sizeof(late.what), "%s", what);
	late.get = get;
	store(&late_ends, 0u);
	if (collect_start_thread(late_run, NULL))
		return 0;
	store(&late.busy, 0u);
	return -EAGAIN;
}

int collect_end_late(void)
{
	if (!load(&late.busy))
		return 0;
	/* It may still be beginning: then it ends at once, when it has begun. */
	__atomic_store_n(&late_ends, 1u, __ATOMIC_RELEASE);
	if (load(&owner) == getpid())
		collect_end(CT_GPU_COMPLETE, "cudatrace record --pid left the process");
	return 1;
}
