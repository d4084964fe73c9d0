// SPDX-License-Identifier: LGPL-2.1-or-later
/* See running.h. */
#include "attach/running.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/attach.h"
#include "attach/standby.h"
#include "attach/target.h"
#include "attach/tried.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/proc.h"
#include "base/rank.h"
#include "capture/drain.h"
#include "capture/started.h"
#include "trace/directory.h"
#include "trace/registry.h"
#include "write/write_registry.h"

#define LOOK_MS		50
#define NEW_NS		500000000ull	/* between two looks for new processes */

#define RANGES_NS	200000000ull	/* between two looks whether a capture range has begun or ended */
#define GPU_NS		15000000000ull	/* for CUPTI to end */
#define GPU_LOOK_MS	5
#define RETURN_LOOKS	5		/* after this command stood still ... */
#define RETURN_NS	1000000000ull	/* ... so far apart */

struct running {
	const struct ct_running *asked;
	struct ct_attach_to to;
	struct ct_attached *attached;	/* CT_RUNNING_MAX: those that may still run */
	unsigned int count;
	unsigned int recorded;		/* in all, and of how many the range did not begin before they ended */
	unsigned int never;
	struct ct_tried refused;
	bool any_refused;
	const char *dir;		/* of the trace */
	struct ct_registry_writer *registry;
	struct ct_drain *drain;
	bool ranges;			/* processes say when the capture range begins and ends */
	bool searches;			/* for processes that come meanwhile */
	struct ct_started started;	/* what outlives the program that was started here */
	unsigned int looks;		/* that are left to those that may have left by themselves */
	uint64_t looks_at;		/* ns: the next one */
};

static volatile sig_atomic_t running_stop;

static void running_on_signal(int signal)
{
	(void)signal;
	running_stop = 1;
}

/* As nohup leaves it: the recording is to outlive the terminal. */
static bool running_ignored(int signal)
{
	struct sigaction now;

	return !sigaction(signal, NULL, &now) && now.sa_handler == SIG_IGN;
}

static void running_name(pid_t pid, char *name, size_t size)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	if (!ct_first_line(path, name, size))
		snprintf(name, size, "?");
}

void ct_running_command(const struct ct_running *r, char *text, size_t size)
{
	size_t len = snprintf(text, size, r->all ? "all processes with libcuda" : "attached to");
	char name[64];

	for (unsigned int i = 0; i < r->pids_count && len < size; i++) {
		running_name(r->pids[i], name, sizeof(name));
		len += snprintf(text + len, size - len, " %s[%d]", name, r->pids[i]);
	}
}

static bool running_has(const struct running *r, pid_t pid)
{
	for (unsigned int i = 0; i < r->count; i++)
		if (r->attached[i].pid == pid)
			return true;
	return ct_tried_has(&r->refused, pid);
}

static int running_try(struct running *r, struct ct_attached *a, pid_t pid, struct ct_error *err)
{
	if (r->count == CT_RUNNING_MAX)
		return ct_fail(err, E2BIG, "process %d is not recorded: more than %d processes at once", pid, CT_RUNNING_MAX);
	return ct_attach(a, &r->to, pid, err);
}

static int running_add(struct running *r, pid_t pid, struct ct_error *err)
{
	struct ct_attached *a = &r->attached[r->count];
	struct ct_tried_one process = ct_tried_look(pid);
	char name[64];
	int rc;

	running_name(pid, name, sizeof(name));
	rc = running_try(r, a, pid, err);
	if (rc) {
		/* Another command is at it: later it may go. */
		if (rc != -EAGAIN && rc != -E2BIG)
			r->any_refused |= ct_tried_add(&r->refused, process);
		return rc;
	}
	fprintf(stderr, "cudatrace: recording %s[%d]%s%s", name, pid, a->early ? ", which has no libcuda yet" : "",
		a->partly ? " in part: functions that it has looked up before are missed" : "");
	if (!a->standby)
		fprintf(stderr, ", one of its threads stood still for %.1f ms", (double)a->stood_ns / 1e6);
	else if (!r->to.begun)
		fprintf(stderr, ", which stood by");
	fprintf(stderr, "\n");
	r->count++;
	r->recorded++;
	return 0;
}

/* A recording may be left on for weeks: those that have ended make room for others, also of the same number. */
static void running_forget_ended(struct running *r)
{
	for (unsigned int i = 0; i < r->count;) {
		struct ct_attached *a = &r->attached[i];

		if (ct_attached_lives(a)) {
			i++;
			continue;
		}
		r->never += !a->range_said;
		*a = r->attached[--r->count];
	}
	ct_tried_forget(&r->refused);
}

/* Is it the program that was started here, or one that came from it? */
static bool running_is_ours(const struct running *r, pid_t pid)
{
	const struct ct_child *child = r->asked->child;
	struct ct_proc_stat s;

	if (ct_started_is(pid))
		return true;
	while (pid > 1 && pid != child->pid && ct_proc_stat(pid, &s))
		pid = s.parent;
	/* Its number may be another program's by now. */
	return pid == child->pid && !child->ended;
}

static bool running_is_wanted(const struct running *r, pid_t pid)
{
	if (pid <= 0 || pid == getpid() || running_has(r, pid))
		return false;
	return r->asked->child ? running_is_ours(r, pid) && ct_standby_is(pid) : ct_target_has_cuda(pid);
}

/* Processes that are not recorded yet. */
static void running_find(struct running *r)
{
	struct dirent *entry;
	DIR *proc;

	running_forget_ended(r);
	proc = opendir("/proc");
	while (proc && (entry = readdir(proc))) {
		pid_t pid = (pid_t)atoi(entry->d_name);
		struct ct_error err = { 0 };

		/* Of one that has ended meanwhile nothing is missed. */
		if (running_is_wanted(r, pid) && running_add(r, pid, &err) && running_has(r, pid))
			ct_complain("%s", err.text);
	}
	if (proc)
		closedir(proc);
}

static bool running_any(const struct running *r)
{
	for (unsigned int i = 0; i < r->count; i++)
		if (!r->attached[i].left && ct_attached_lives(&r->attached[i]))
			return true;
	return false;
}

static bool running_called(const char *dir, pid_t pid)
{
	struct dirent *entry;
	bool called = false;
	DIR *d = opendir(dir);
	unsigned int of;

	while (d && !called && (entry = readdir(d)))
		called = sscanf(entry->d_name, "u-%u-", &of) == 1 && of == (unsigned int)pid;
	if (d)
		closedir(d);
	return called;
}

/*
 * From here on its calls may be missing, while those of a process that is left after it are still recorded.  The library
 * says which rank it is with its first call: who made none may hang, and then that is asked first.
 */
static void running_note_left(struct running *r, const struct ct_attached *a)
{
	char text[48], rank[CT_RANK_TEXT];

	if (a->own_pid == a->pid && !running_called(r->dir, a->own_pid) && ct_rank_read(a->pid, rank))
		ct_registry_add_info(r->registry, "rank", rank);

	snprintf(text, sizeof(text), "%d %" PRIu64, a->own_pid, ct_now_ns());
	ct_registry_add_info(r->registry, CT_LEFT_INFO, text);
}

/* ------------------------------------------------------ CUPTI -------------- */

/* The text behind "PID" of "info KEY PID..."; NULL: there is no such line. */
static const char *running_said(const struct ct_registry *reg, const char *key, pid_t pid)
{
	for (unsigned int i = 0; i < reg->infos_count; i++) {
		const struct ct_info *info = &reg->infos[i];
		char *end;

		if (!strcmp(info->key, key) && strtol(info->text, &end, 10) == pid && (!*end || *end == ' '))
			return end;
	}
	return NULL;
}

/* How long it took CUPTI to begin: said once for each process. */
static void running_tell_gpu(struct running *r, const char *dir)
{
	struct ct_registry reg = { 0 };
	struct ct_error err = { 0 };
	bool any = false;

	for (unsigned int i = 0; i < r->count; i++)
		any |= r->attached[i].gpu && !r->attached[i].gpu_said;
	if (!any || ct_registry_read(&reg, dir, &err))
		goto out;
	for (unsigned int i = 0; i < r->count; i++) {
		struct ct_attached *a = &r->attached[i];
		const char *begun = running_said(&reg, "gpu_begun", a->own_pid);

		if (!a->gpu || a->gpu_said || (!begun && !running_said(&reg, "gpu_ended", a->own_pid)))
			continue;
		a->gpu_said = true;
		if (begun)
			fprintf(stderr, "cudatrace: process %d: CUPTI took %.1f ms to begin, %s\n", a->pid,
				strtod(begun, NULL) / 1e6,
				r->ranges ? "for which the begin of the range waited" : "while the program went on");
		else
			fprintf(stderr, "cudatrace: process %d: nothing of the GPU is recorded: %s\n", a->pid,
				ct_registry_info(&reg, "gpu_refused") ? : "CUPTI refused");
	}
out:
	ct_registry_free(&reg);
}

/* Of those that are to be left, CUPTI ends before the trace is left: what it has is written, and it lets go of the process. */
static void running_end_gpu(struct running *r, const char *dir)
{
	uint64_t until = ct_now_ns() + GPU_NS;
	unsigned int waits = 0;

	for (unsigned int i = 0; i < r->count; i++) {
		struct ct_attached *a = &r->attached[i];
		struct ct_error err = { 0 };

		if (a->leaving && a->gpu && ct_attached_lives(a)) {
			int rc = ct_attach_end_gpu(a, &r->to, &err);

			if (rc < 0)
				ct_complain("%s", err.text);
			a->gpu = rc > 0;
			waits += a->gpu;
		}
	}
	while (waits && ct_now_ns() < until) {
		struct ct_registry reg = { 0 };
		struct ct_error err = { 0 };

		/* Launches meanwhile have no kernels. */
		poll(NULL, 0, GPU_LOOK_MS);
		waits = 0;
		if (!ct_registry_read(&reg, dir, &err))
			for (unsigned int i = 0; i < r->count; i++) {
				struct ct_attached *a = &r->attached[i];

				waits += a->leaving && a->gpu && ct_attached_lives(a) && !running_said(&reg, "gpu_ended", a->own_pid);
			}
		ct_registry_free(&reg);
	}
	if (waits)
		ct_complain("CUPTI did not end within %.0f s in %u processes: what it had is lost", (double)GPU_NS / 1e9, waits);
}

/* Those that are marked. */
static void running_leave(struct running *r, const char *dir)
{
	running_end_gpu(r, dir);
	for (unsigned int i = 0; i < r->count; i++) {
		struct ct_attached *a = &r->attached[i];
		struct ct_error err = { 0 };
		unsigned int kept;

		if (!a->leaving)
			continue;
		a->leaving = false;
		a->left = true;
		if (!r->searches && ct_attached_replaced(a))
			fprintf(stderr, "cudatrace: process %d runs another program by now (exec), which is not recorded\n", a->pid);
		if (!ct_attached_lives(a))
			continue;
		running_note_left(r, a);
		if (r->looks && ct_attach_running(a, &r->to) != a->number)
			ct_complain("process %d had left, since this command stood still, and was not recorded again", a->pid);
		if (ct_attach_end(a, &r->to, dir, &kept, &err) && ct_attached_lives(a))
			ct_complain("%s; it goes on being recorded until it notices that nobody reads, 5 s after this command's end", err.text);
		if (kept)
			fprintf(stderr, "cudatrace: process %d: %u pointers of libcuda were changed by another tool and stay, calls pass through cudatrace's library there\n",
				a->pid, kept);
	}
}

/* ------------------------------------------------------ capture ranges ----- */

/* Says which began; those of which it has ended are left, so that their calls cost nothing. */
static void running_follow_ranges(struct running *r)
{
	struct ct_registry reg = { 0 };
	struct ct_error err = { 0 };
	bool any = false;

	for (unsigned int i = 0; i < r->count; i++)
		any |= !r->attached[i].left;
	if (any && !ct_registry_read(&reg, r->dir, &err)) {
		any = false;
		for (unsigned int i = 0; i < r->count; i++) {
			struct ct_attached *a = &r->attached[i];

			if (!a->range_said && running_said(&reg, "range_begun", a->own_pid)) {
				a->range_said = true;
				fprintf(stderr, "cudatrace: process %d: the range %s has begun\n", a->pid, r->asked->range->text);
			}
			if (!a->left && running_said(&reg, "range_ended", a->own_pid)) {
				a->leaving = any = true;
				fprintf(stderr, "cudatrace: process %d: the range has ended\n", a->pid);
			}
		}
		if (any)
			running_leave(r, r->dir);
	}
	ct_registry_free(&reg);
}

/* Where the recording is at its end. */
static void running_tell_ranges(const struct running *r)
{
	unsigned int never = r->never;

	for (unsigned int i = 0; i < r->count; i++)
		never += !r->attached[i].range_said;
	if (never && never == r->recorded)
		fprintf(stderr, "cudatrace: the range %s never began: nothing was recorded\n", r->asked->range->text);
}

/* ------------------------------------------------------ from begin to end -- */

/*
 * Until that time, but not long.  True: the program that was started here has ended, and nothing runs with which a
 * flight recorder would go on.
 */
static bool running_wait(struct running *r, uint64_t until)
{
	uint64_t now = ct_now_ns(), ms = now < until ? (until - now) / 1000000 + 1 : 0;
	struct ct_child *child = r->asked->child;

	if (ms > LOOK_MS)
		ms = LOOK_MS;
	if (!child || child->ended)
		poll(NULL, 0, (int)ms);
	else
		ct_launch_wait(child, (int)ms);
	return child && child->ended && !(ct_flight_is_on(r->asked->flight) && ct_started_goes_on(&r->started));
}

/* Its recording has ended by itself: begins another one, or says why not, where that is the last try. */
static void running_again(struct running *r, struct ct_attached *a, bool last)
{
	bool other = ct_attach_running(a, &r->to);
	struct ct_attached again;
	struct ct_error err = { 0 };

	if (!other && !ct_attach(&again, &r->to, a->pid, &err)) {
		again.range_said = a->range_said;
		*a = again;
		ct_complain("process %d had left, since this command stood still: it is recorded again, but not what it did meanwhile", a->pid);
	} else if ((other || last) && ct_attached_lives(a)) {
		a->left = true;
		running_note_left(r, a);
		ct_complain("process %d had left, since this command stood still, and is not recorded any more: %s", a->pid,
			    other ? "another command records it now" : err.text);
	}
}

/*
 * After this command did nothing for a while: it was stopped, or the machine was.  Processes that noticed have put
 * everything back; one that is about to does so after the first look, and one may stand still itself.
 */
static void running_return(struct running *r)
{
	bool begun = r->to.begun;

	r->looks--;
	r->looks_at = ct_now_ns() + RETURN_NS;
	/* Nor do those that began by themselves do so again. */
	r->to.begun = false;
	for (unsigned int i = 0; i < r->count; i++) {
		struct ct_attached *a = &r->attached[i];

		if (!a->left && ct_attached_lives(a) && ct_attach_running(a, &r->to) != a->number)
			running_again(r, a, !r->looks);
	}
	r->to.begun = begun;
}

static void running_delay(struct running *r)
{
	uint64_t until = ct_now_ns() + (uint64_t)(r->asked->delay * 1e9);

	while (!running_stop && ct_now_ns() < until && !running_wait(r, until))
		;
}

static void running_follow(struct running *r)
{
	uint64_t end = ~0ull, look = ct_now_ns() + NEW_NS, ranges = 0;

	r->asked->begun(r->asked->arg);
	while (!running_stop && ct_now_ns() < end && (r->searches || running_any(r))) {
		/* A program that is recorded from its first call may be long in coming to it. */
		if (end == ~0ull && r->asked->seconds > 0 && (r->recorded || !r->to.begun))
			end = ct_now_ns() + (uint64_t)(r->asked->seconds * 1e9);
		if (running_wait(r, end) || __atomic_load_n(&r->asked->flight->over, __ATOMIC_ACQUIRE))
			break;
		if (__atomic_exchange_n(&r->drain->away, false, __ATOMIC_RELAXED)) {
			r->looks = RETURN_LOOKS;
			r->looks_at = 0;
		}
		if (r->looks && ct_now_ns() >= r->looks_at)
			running_return(r);
		ct_flight_look(r->asked->flight);
		running_tell_gpu(r, r->dir);
		if (r->ranges && ct_now_ns() >= ranges) {
			running_follow_ranges(r);
			ranges = ct_now_ns() + RANGES_NS;
		}
		if (r->searches && ct_now_ns() >= look) {
			running_find(r);
			look = ct_now_ns() + NEW_NS;
		}
	}
	r->asked->ended(r->asked->arg);
	/* The range may have ended before the process was found. */
	if (r->searches && !r->recorded)
		running_find(r);
}

/* Calls of a program that was started here and has ended before it was looked for. */
static bool running_recorded(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	bool any = false;

	while (dir && !any && (entry = readdir(dir)))
		any = ct_stream_kind(entry->d_name) == CT_STREAM_THREAD && strcmp(entry->d_name, CT_LOST_STREAM);
	if (dir)
		closedir(dir);
	return any;
}

int ct_running_record(struct ct_recording *rec, const struct ct_running *asked, const char *library,
		      struct ct_error *err)
{
	struct sigaction act = { .sa_handler = running_on_signal };
	struct ct_drain drain = CT_DRAIN_INIT;
	struct running r = { .asked = asked, .drain = &drain };
	int rc;

	r.attached = calloc(CT_RUNNING_MAX, sizeof(*r.attached));
	rc = r.attached ? ct_attach_prepare(&r.to, library, rec->dir, rec->uuid, err) : ct_fail(err, ENOMEM, "no memory");
	if (!rc && asked->gpu)
		rc = ct_attach_plugin(&r.to, CT_ATTACH_GPU, asked->gpu, err);
	if (!rc && asked->stacks)
		rc = ct_attach_plugin(&r.to, CT_ATTACH_STACKS, asked->stacks, err);
	if (rc)
		goto out;
	if (asked->stacks)
		ct_attach_option(&r.to, "CUDATRACE_STACKS", asked->stacks_what);
	r.to.stacks = asked->stacks_what;
	r.to.gpu = asked->gpu_what;
	r.to.sample = asked->sample;
	r.to.partly = asked->partly;
	r.to.range = asked->range;
	r.to.begun = asked->child && !(asked->delay > 0);
	r.dir = rec->dir;
	r.registry = &rec->registry;
	r.ranges = asked->range->text && !asked->range->first;
	r.searches = asked->all || asked->child;
	/* Else they are the program's. */
	if (!asked->child) {
		sigaction(SIGINT, &act, NULL);
		sigaction(SIGTERM, &act, NULL);
		if (!running_ignored(SIGHUP))
			sigaction(SIGHUP, &act, NULL);
	}
	ct_drain_open(&drain, rec->dirfd, true);
	rc = ct_flight_open(asked->flight, rec, &drain, err);
	if (rc) {
		ct_drain_close(&drain);
		goto out;
	}
	if (ct_flight_is_on(asked->flight))
		ct_attach_option(&r.to, "CUDATRACE_KEEP", ct_launch_keeps);
	ct_drain_start(&drain);
	rc = asked->child ? asked->launch(asked->arg, err) : 0;
	if (rc) {
		ct_drain_close(&drain);
		ct_flight_close(asked->flight);
		goto out;
	}
	running_delay(&r);
	for (unsigned int i = 0; i < asked->pids_count && !running_stop; i++) {
		rc = running_add(&r, asked->pids[i], err);
		if (rc && asked->pids_count > 1)
			ct_complain("%s", err->text);
	}
	if (r.searches)
		running_find(&r);
	if (r.recorded || r.searches) {
		running_follow(&r);
		if (r.ranges) {
			running_follow_ranges(&r);
			running_tell_ranges(&r);
		}
		for (unsigned int i = 0; i < r.count; i++)
			r.attached[i].leaving = !r.attached[i].left;
		running_leave(&r, rec->dir);
		rc = (int)r.recorded;
	}
	ct_drain_close(&drain);
	ct_flight_close(asked->flight);
	if (!rc && asked->child && running_recorded(rec->dir))
		rc = 1;
	if (!rc)
		rc = ct_fail(err, ESRCH, asked->child ? "the program called no CUDA in that time (--delay, --duration)" :
							r.any_refused ? "no process with libcuda could be recorded" :
							"no process with libcuda was there");
out:
	free(r.attached);
	return rc;
}
