// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * cudatrace record: runs a program and records it, through the module or through files
 * that the preload library writes, and prints which.  The program's output, status and
 * signals are its own.
 */
#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/unseen_processes.h"
#include "attach/running.h"
#include "cmd/cmd.h"
#include "cmd/common/which_calls.h"
#include "base/clock.h"
#include "base/error.h"
#include "capture/capture_cut.h"
#include "capture/launch.h"
#include "capture/capture_machine.h"
#include "capture/orphan_save.h"
#include "capture/ring.h"
#include "capture/unseen.h"
#include "base/options.h"
#include "capture/recording.h"
#include "analysis/summary.h"
#include "capture/drain.h"
#include "capture/flight.h"
#include "capture/native/resolve.h"
#include "capture/nvml/nvml_metrics.h"
#include "capture/sample/sampler.h"
#include "capture/started.h"
#include "live/hang.h"
#include "live/watch.h"
#include "view/term.h"

/*
 * Between two turns of draining the rings: a 4 MiB ring holds what 7 million records a
 * second write in that time.
 */
#define DRAIN_MS	10

#define OWN_STATUS	125	/* of this command's own failure, as of env, timeout and docker run: no program's status is likely it */

#define LONGEST		1e9	/* seconds: for what is to last longer nobody gives an end */

#define LOOK_MS		100	/* between two looks at what a flight recorder is to do */

struct env {
	struct ct_option_output output;
	bool no_module, no_nvtx;
	uint32_t subbuf_size, subbuf_count, ring_size;
	unsigned long long groups;
	int sample;	/* a second; -1: not said */
	int metrics;	/* a second; -1: not said */
	double stuck;	/* seconds; 0: never */
	char **argv;
	struct ct_flight flight;	/* --keep, --on */
	struct ct_running running;	/* --pid, --all */
	struct ct_which_calls calls;		/* which are recorded, and --capture-range */
	pid_t pids[CT_RUNNING_MAX];
};

struct recording {
	struct env *env;
	struct ct_watch watch;
	struct ct_hang hang;
	struct ct_recording to;
	struct ct_child child;
	struct ct_drain drain; /* without the module */
	struct ct_unseen unseen;
	struct ct_sampler *sampler;
	struct ct_metrics *metrics;
	char library[PATH_MAX];
	struct ct_started started;
};

enum { KEY_NO_MODULE = 0x100, KEY_RING_SIZE, KEY_SUBBUF_SIZE, KEY_SUBBUFS, KEY_GROUPS, KEY_INJECT, KEY_NO_NVTX,
       KEY_GPU, KEY_GPU_METRICS, KEY_STACKS, KEY_SAMPLE, KEY_ALL, KEY_DURATION, KEY_DELAY, KEY_KEEP, KEY_ON,
       KEY_STUCK };

static const struct argp_option options[] = {
	{ "output", 'o', "DIR", 0, "Directory of the trace; made here (default: cudatrace-DATE-TIME)", 0 },
	{ "force", 'f', NULL, 0, "Replace DIR if it holds a trace; with --pid, also record a process of which calls will be missed", 0 },
	{ "pid", 'p', "PID[,PID]", 0, "Record processes that already run, instead of a program; nothing stays behind in them", 0 },
	{ "all", KEY_ALL, NULL, 0, "Record every process that has libcuda mapped, and those that start meanwhile", 0 },
	{ "duration", KEY_DURATION, "TIME", 0, "End the recording after TIME: 10 (seconds), 500ms, 5min. For a program that is started here the time begins with its first call; the program goes on (default: until Ctrl-C, or the end of the processes)", 0 },
	{ "delay", KEY_DELAY, "TIME", 0, "Begin TIME after the program's start; until then its calls cost nothing", 0 },
	{ "keep", KEY_KEEP, "LIMIT", 0, "Keep the newest records only: of a time (60s, 10min), of a size (2G), or both (60s,2G). The trace never takes more (default: half of the free disk). It goes on while something runs that the program has started. --max-size is the same", 0 },
	{ "max-size", KEY_KEEP, "LIMIT", OPTION_ALIAS | OPTION_HIDDEN, NULL, 0 },
	{ "on", KEY_ON, "LIST", 0, "With --keep: copy what there is to DIR-1, DIR-2, ... when one of these happens: error (a call fails), slow=TIME (a call takes TIME or more, as 50ms), slow-iteration=3x (an iteration takes so many times the median), stuck=TIME (ranks wait so long for one that has not called an NCCL collective, as 60s), xid (the driver reports one; with the module). One copy in 10 s, and ten at a time. SIGUSR2 always makes one", 0 },
	{ "stuck", KEY_STUCK, "TIME", 0, "Of a job of several ranks: warn when ranks wait longer for one that has not called an NCCL collective (default: 60; 0: never)", 0 },
	{ "no-module", KEY_NO_MODULE, NULL, 0, "Don't use the kernel module, even if it is loaded", 0 },
	{ "groups", KEY_GROUPS, "LIST", 0, "What to record in the kernel: ioctl, memory, scheduler, interrupt, context, uvm, added, fence, switch (default: all)", 0 },
	{ "inject", KEY_INJECT, NULL, 0, "Let libcuda load the library instead of LD_PRELOAD, for programs that can't be preloaded", 0 },
	{ "no-nvtx", KEY_NO_NVTX, NULL, 0, "Don't record NVTX ranges and marks, and don't make the program generate them", 0 },
	{ "gpu", KEY_GPU, "WHAT", OPTION_ARG_OPTIONAL, "Also record what the GPU does, by CUPTI: kernels (default: kernels, copies and sets; a graph launch as one), graphs (no single kernels, which costs least), nodes (what is inside graphs, too)", 0 },
	{ "gpu-metrics", KEY_GPU_METRICS, "HZ", OPTION_ARG_OPTIONAL, "Look so often a second at the GPUs' clocks, power, temperature, memory and use, by NVML (default: 10 with --gpu; 0: never)", 0 },
	{ "stacks", KEY_STACKS, "WHAT", OPTION_ARG_OPTIONAL, "Also record from which lines of the program launches, copies, allocations, synchronisations and the like are called: python (default: frames of Python, of compiled code where there are none), native or all", 0 },
	{ "sample", KEY_SAMPLE, "HZ", OPTION_ARG_OPTIONAL, "With stacks: look so often a second what the threads that call CUDA do, and before the first call the main thread (default: 200; 0: never)", 0 },
	{ "ring-size", KEY_RING_SIZE, "BYTES", 0, "Memory of each CPU's ring in the module, as 32M: what is recorded waits there until it is written (default: 1M to 16M, by memory and CPUs)", 0 },
	{ "subbuf-size", KEY_SUBBUF_SIZE, "BYTES", 0, "Size of a packet in the module's rings, a power of two (65536)", 0 },
	{ "subbufs", KEY_SUBBUFS, "N", 0, "Packets in each CPU's ring, a power of two, instead of --ring-size", 0 },
	{ "quiet", 'q', NULL, 0, "No summary at the end", 0 },
	{ 0 }
};

static const char doc[] =
	"Run a program and record what it does with CUDA.\v"
	"The status is the program's own (128 + N if signal N ended it), 127 or 126 if it could not "
	"be run; 125 if nothing could be recorded, or if the program succeeded and its trace could "
	"not be finished. Without a program (--pid, --all) it is 1 then.\n\n"
	"EXAMPLES:\n"
	"  cudatrace record -- python infer.py\n"
	"  cudatrace record -o trace -f -- ./vectoradd\n"
	"  cudatrace record --no-module -o trace -- ./server --port 8000\n"
	"  cudatrace record --gpu -- python infer.py\n"
	"  cudatrace record --stacks -- python infer.py   (then: report lines)\n"
	"  cudatrace record --pid 4242 --duration 10\n"
	"  cudatrace record --capture-range cudaProfilerApi --gpu -- python train.py\n"
	"  cudatrace record --keep 60s --on error,slow=50ms -- ./server\n"
	"    (also: cudatrace snapshot --pid PID)\n";

static const char *record_gpu_what(struct argp_state *state, const char *arg)
{
	static const char *const what[] = { "kernels", "graphs", "nodes" };

	for (unsigned int i = 0; arg && i < 3; i++)
		if (!strcmp(arg, what[i]))
			return what[i];
	if (arg)
		argp_error(state, "--gpu=%s: give kernels, graphs or nodes", arg);
	return what[0];
}

static bool record_is_running(const struct env *env)
{
	return env->running.pids_count || env->running.all || env->running.delay > 0 || env->running.seconds > 0 ||
	       env->calls.range.text;
}

/* Of the module: without it they would do nothing. */
static bool record_has_module_options(const struct env *env)
{
	return env->groups != ~0ull || env->ring_size || env->subbuf_size || env->subbuf_count;
}

static void record_pids(struct argp_state *state, struct env *env, char *arg)
{
	env->running.pids = env->pids;
	for (char *p = strtok(arg, ","); p; p = strtok(NULL, ",")) {
		char *end;
		long pid = strtol(p, &end, 10);

		if (*end || pid <= 0 || pid > INT_MAX)
			argp_error(state, "--pid: '%s' is no process number", p);
		if (env->running.pids_count == CT_RUNNING_MAX)
			argp_error(state, "--pid: at most %d processes", CT_RUNNING_MAX);
		env->pids[env->running.pids_count++] = (pid_t)pid;
	}
	if (!env->running.pids_count)
		argp_failure(state, CT_USAGE, 0, "--pid: give process numbers, with commas between them");
}

/* Not through the module: processes are told to begin and to end. */
static void record_check_running(struct argp_state *state, struct env *env)
{
	if (env->argv && !env->running.pids_count && !env->running.all) {
		if (record_is_running(env) && ct_launch_injected)
			argp_error(state, "--inject does not go with --delay, --duration and --capture-range");
		if (record_has_module_options(env) && (env->no_module || record_is_running(env)))
			argp_failure(state, CT_USAGE, 0, "--groups, --ring-size, --subbufs and --subbuf-size are of the module, which is not used with %s",
				     env->no_module ? "--no-module" : "--delay, --duration and --capture-range");
		return;
	}
	if (env->running.pids_count && env->running.all)
		argp_failure(state, CT_USAGE, 0, "give --pid or --all: --all takes every process");
	if (env->argv)
		argp_error(state, "give either a program or --pid and --all");
	if (ct_launch_injected)
		argp_error(state, "--inject is for programs that are started here, not for --pid and --all");
	if (record_has_module_options(env))
		argp_error(state, "--groups, --ring-size, --subbufs and --subbuf-size are of the module, which --pid and --all don't use: "
			   "cudatrace session start has them, and session attach");
	env->running.partly = env->output.force;
}

static void record_on(struct argp_state *state, struct env *env, char *list)
{
	const char *why;

	for (char *word = strtok(list, ","); word; word = strtok(NULL, ",")) {
		if (!strcmp(word, "xid")) {
			env->flight.on_xid = true;
			continue;
		}
		switch (ct_on_word(&env->flight.on, word, &why)) {
		case -ENOENT:
			argp_error(state, "--on takes error, slow=TIME (as slow=50ms), slow-iteration=3x, stuck=TIME and xid, with commas between");
			break;
		case -EINVAL:
			argp_error(state, "%s", why);
		}
	}
}

static error_t record_parse(int key, char *arg, struct argp_state *state)
{
	struct env *env = state->input;

	if (!ct_option_output(key, arg, state, &env->output))
		return 0;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &env->calls;
		break;
	case KEY_NO_MODULE:
		env->no_module = true;
		break;
	case KEY_GROUPS:
		if (ct_option_groups(arg, &env->groups))
			argp_error(state, "no probe group in '%s': give some of " CT_OPTION_GROUPS, arg);
		break;
	case KEY_INJECT:
		ct_launch_injected = true;
		break;
	case KEY_NO_NVTX:
		env->no_nvtx = true;
		break;
	case 'p':
		record_pids(state, env, arg);
		break;
	case KEY_ALL:
		env->running.all = true;
		break;
	case KEY_DURATION:
		env->running.seconds = ct_option_seconds(arg);
		if (!(env->running.seconds > 0 && env->running.seconds <= LONGEST))
			argp_error(state, "--duration: give a time, as 10 (seconds), 0.5 or 5min");
		break;
	case KEY_DELAY:
		env->running.delay = ct_option_seconds(arg);
		if (!(env->running.delay > 0 && env->running.delay <= LONGEST))
			argp_error(state, "--delay: give a time, as 10 (seconds), 0.5 or 5min");
		break;
	case KEY_STUCK:
		env->stuck = ct_option_seconds(arg);
		if (!(env->stuck >= 0 && env->stuck <= 1e6))
			argp_error(state, "--stuck: give a time, as 60 (seconds), 0.5 or 5min; 0: never");
		break;
	case KEY_KEEP:
		switch (ct_keep_parse(arg, &env->flight.asked)) {
		case -ERANGE:
			argp_error(state, "--keep: give at least 16M");
			break;
		case -EINVAL:
			argp_error(state, "--keep: give a time or a size or both, as 60s, 2G or 60s,2G");
		}
		break;
	case KEY_ON:
		record_on(state, env, arg);
		break;
	case KEY_GPU:
		ct_launch_gpu_what = record_gpu_what(state, arg);
		break;
	case KEY_GPU_METRICS:
		env->metrics = arg ? strtol(arg, &arg, 10) : CT_METRICS_RATE;
		if ((arg && *arg) || env->metrics < 0 || env->metrics > CT_METRICS_MOST)
			argp_error(state, "--gpu-metrics: give a number a second, at most %d", CT_METRICS_MOST);
		break;
	case KEY_STACKS:
		ct_launch_stacks_what = arg ? arg : "python";
		if (strcmp(ct_launch_stacks_what, "python") && strcmp(ct_launch_stacks_what, "native") &&
		    strcmp(ct_launch_stacks_what, "all"))
			argp_error(state, "--stacks=%s: give python, native or all", arg);
		break;
	case KEY_SAMPLE:
		env->sample = arg ? strtol(arg, &arg, 10) : CT_SAMPLER_RATE;
		if ((arg && *arg) || env->sample < 0 || env->sample > CT_SAMPLER_MOST)
			argp_error(state, "--sample: give a number a second, at most %d", CT_SAMPLER_MOST);
		if (env->sample && !ct_launch_stacks_what)
			ct_launch_stacks_what = "python";
		break;
	case KEY_RING_SIZE:
		env->ring_size = ct_option_bytes(state, "--ring-size", arg);
		break;
	case KEY_SUBBUF_SIZE:
		env->subbuf_size = ct_option_power(state, "--subbuf-size", arg);
		break;
	case KEY_SUBBUFS:
		env->subbuf_count = ct_option_power(state, "--subbufs", arg);
		break;
	case ARGP_KEY_ARGS:
		env->argv = state->argv + state->next;
		break;
	case ARGP_KEY_NO_ARGS:
		if (!env->running.pids_count && !env->running.all)
			argp_error(state, "no program to record: cudatrace record [-o DIR] -- CMD ARGS");
		break;
	case ARGP_KEY_END:
		record_check_running(state, env);
		if ((ct_on_any(&env->flight.on) || env->flight.on_xid) && !ct_flight_is_on(&env->flight))
			argp_error(state, "--on goes with --keep");
		env->flight.first = env->calls.range.first;
		env->flight.last = env->calls.range.last;
		if (ct_launch_stacks_what && ct_launch_injected)
			argp_error(state, "--stacks needs the preloaded library: not with --inject");
		ct_option_ring(state, env->ring_size, &env->subbuf_size, &env->subbuf_count);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static void record_say_smaller(const struct ct_device *device)
{
	char has[CT_TERM_TEXT], wanted[CT_TERM_TEXT];

	if (ct_ring_bytes(&device->session) < device->ring_wanted)
		fprintf(stderr, "cudatrace: each CPU's ring has %s instead of %s: the kernel has no memory for more\n",
			ct_term_bytes(has, ct_ring_bytes(&device->session)),
			ct_term_bytes(wanted, device->ring_wanted));
}

/* Uses the module if it can; prints which is used, and why not the module. */
static void record_choose_backend(struct recording *rec)
{
	const struct env *env = rec->env;
	struct ct_error err = { 0 };
	int ret;

	if (env->no_module) {
		fprintf(stderr, "cudatrace: recording without the module (--no-module): calls inside the kernel driver are not recorded\n");
		return;
	}
	ret = ct_device_open(&rec->to.device, &err);
	if (!ret) {
		ct_orphan_save(rec->to.dir);
		ret = ct_device_start(&rec->to.device, env->subbuf_size, env->subbuf_count,
				      env->groups, true, &err);
	}
	rec->to.module = !ret;
	if (rec->to.module) {
		fprintf(stderr, "cudatrace: recording through the module, %u CPUs\n",
			rec->to.device.session.cpus);
		record_say_smaller(&rec->to.device);
		return;
	}
	ct_device_close(&rec->to.device);
	fprintf(stderr, "cudatrace: recording without the module, so calls inside the kernel driver are not recorded: %s\n",
		err.text);
}

/* ms until there is something to do, -1: not before the program has ended. */
static int record_pause(const struct recording *rec)
{
	if (rec->to.module)
		return DRAIN_MS;
	if (ct_flight_is_on(&rec->env->flight))
		return LOOK_MS;
	/* Without a pidfd the end of the program would be noticed later. */
	return rec->child.pidfd < 0 ? -1 : ct_unseen_due(&rec->unseen);
}

/*
 * Without this command nobody would drop the oldest records, and later ones were lost: so a flight recorder goes on as long
 * as something runs that the program has started.
 */
static bool record_goes_on(struct recording *rec)
{
	return ct_flight_is_on(&rec->env->flight) && ct_started_goes_on(&rec->started);
}

static bool record_runs(struct recording *rec)
{
	if (!rec->child.ended)
		return !ct_launch_wait(&rec->child, record_pause(rec)) || record_goes_on(rec);
	poll(NULL, 0, record_pause(rec));
	return record_goes_on(rec);
}

/* Copy packets until the program has ended.  A full disk ends the copying only. */
static void record_follow(struct recording *rec)
{
	struct ct_error err = { 0 };
	bool broken = false;

	while (record_runs(rec)) {
		/* Later its number may be another program's. */
		if (!rec->child.ended)
			ct_unseen_look(&rec->unseen);
		ct_flight_look(&rec->env->flight);
		if (!rec->to.module || broken)
			continue;
		if (ct_device_drain(&rec->to.device, rec->to.dirfd, false, &err) < 0 ||
		    ct_device_drain_threadbufs(&rec->to.device, rec->to.dirfd, false, &err) < 0) {
			ct_complain("%s", err.text);
			broken = true;
		}
		ct_device_registry(&rec->to.device, &rec->to.registry);
	}
	if (!rec->to.module)
		return;
	ct_recording_probes(&rec->to);
	ct_device_stop(&rec->to.device);
	if (!broken && (ct_device_drain(&rec->to.device, rec->to.dirfd, true, &err) < 0 ||
			ct_device_drain_threadbufs(&rec->to.device, rec->to.dirfd, true, &err) < 0))
		ct_complain("%s", err.text);
	ct_recording_streams(&rec->to);
	ct_device_registry(&rec->to.device, &rec->to.registry);
}

static void record_command_line(const struct env *env, char *command, size_t size)
{
	size_t len = 0;
	char **arg;

	*command = '\0';
	for (arg = env->argv; *arg && len < size - 1; arg++)
		len += snprintf(command + len, size - len, "%s%s",
				arg == env->argv ? "" : " ", *arg);
}

static void record_find_nvtx(const struct recording *rec)
{
	if (rec->env->no_nvtx)
		return;
	if (ct_launch_plugin(rec->library, "nvtx", ct_launch_nvtx, sizeof(ct_launch_nvtx)))
		return;
	fprintf(stderr, "cudatrace: NVTX ranges and marks are not recorded: cannot read %s "
		"(make install, or --no-nvtx)\n", ct_launch_nvtx);
	*ct_launch_nvtx = '\0';
}

/* A plugin that was asked for by @what, if it was; @info: what the trace says of it then. */
static void record_find_plugin(struct recording *rec, const char *name, char path[PATH_MAX], const char *what,
			       const char *info, const char *lost)
{
	if (!what)
		return;
	if (ct_launch_plugin(rec->library, name, path, PATH_MAX)) {
		ct_registry_add_info(&rec->to.registry, info, what);
		return;
	}
	fprintf(stderr, "cudatrace: %s not recorded: cannot read %s (make install)\n", lost, path);
	*path = '\0';
}

static void record_begun(void *arg)
{
	struct recording *rec = arg;

	/* A program that was started here has SIGUSR2 itself. */
	ct_flight_catch(&rec->env->flight, !rec->env->argv);
	ct_watch_start(&rec->watch, &rec->env->flight);
	ct_hang_start(&rec->hang, rec->to.dir, rec->env->stuck * 1e9);
}

static void record_ended(void *arg)
{
	struct recording *rec = arg;

	ct_watch_end(&rec->watch);
	ct_hang_end(&rec->hang);
}

/* Of an error before there is a program, or where there is none. */
static int record_failed(const struct recording *rec, const struct ct_error *err)
{
	ct_complain("%s", err->text);
	return rec->env->argv ? OWN_STATUS : 1;
}

/*
 * At the program's end: its own status.  @err: the recording failed; NULL: it did not.  A program that failed keeps its status
 * then: who looks at it must not take it for another one.
 */
static int record_status(struct recording *rec, const struct ct_error *err)
{
	if (rec->child.pid <= 0)
		return err ? record_failed(rec, err) : 0;
	while (!rec->child.ended && !ct_launch_wait(&rec->child, -1))
		;
	if (!err)
		return rec->child.status;
	ct_complain("%s", err->text);
	if (rec->child.status)
		return rec->child.status;
	return ct_complain("the program succeeded, but its recording failed: so the status is %d", OWN_STATUS), OWN_STATUS;
}

/* Begins to look at the GPUs, where that is wanted. */
static void record_metrics(struct recording *rec)
{
	if (rec->env->metrics)
		rec->metrics = ct_metrics_start(rec->to.dirfd, rec->to.uuid, rec->env->metrics, &rec->to.registry);
}

/* Begins to sample threads, where stacks are recorded.  False: none are sampled. */
static bool record_samples(struct recording *rec)
{
	if (*ct_launch_stacks && ct_launch_sampled)
		rec->sampler = ct_sampler_start(rec->to.dir, rec->to.dirfd, rec->to.uuid, rec->to.module, !rec->env->argv,
						rec->env->sample);
	return rec->sampler != NULL;
}

static int record_launch(void *arg, struct ct_error *err)
{
	struct recording *rec = arg;

	return ct_launch(&rec->child, rec->env->argv, rec->library, rec->to.dir, rec->to.uuid, "files", err);
}

/*
 * CUPTI that begins to record whole graphs in a process that has some takes that process down with it, in the next launch
 * of one (seen with CUPTI of CUDA 13.0). So their kernels are recorded, unless CUPTI is there before the first call.
 */
static void record_late_graphs(const struct env *env)
{
	bool first = env->argv && !(env->running.delay > 0) && (!env->calls.range.text || env->calls.range.first);

	if (first || !ct_launch_gpu_what || !strcmp(ct_launch_gpu_what, "nodes"))
		return;
	if (!strcmp(ct_launch_gpu_what, "graphs"))
		fprintf(stderr, "cudatrace: the kernels of CUDA graphs are recorded (--gpu=nodes): CUPTI can't begin with whole graphs in a program that has some\n");
	ct_launch_gpu_what = "nodes";
}

/* The processes' own ioctls are seen as without the module. */
static int record_running(struct recording *rec)
{
	struct env *env = rec->env;
	struct ct_error err = { 0 };
	char command[4096];
	int n;

	record_late_graphs(env);
	if (env->argv) {
		record_command_line(env, command, sizeof(command));
		ct_launch_stands_by = env->running.delay > 0 ? "1" : "begin";
		env->running.child = &rec->child;
		env->running.launch = record_launch;
	} else {
		ct_running_command(&env->running, command, sizeof(command));
	}
	if (ct_launch_library(rec->library, sizeof(rec->library), &err) ||
	    ct_recording_directory(&rec->to, env->output.dir, env->output.force, &err))
		return record_failed(rec, &err);
	if (ct_recording_registry(&rec->to, command, &err) ||
	    (env->argv && ct_launch_link(rec->library, sizeof(rec->library), rec->to.dir, &err))) {
		ct_recording_abandon(&rec->to);
		return record_failed(rec, &err);
	}
	if (env->argv)
		ct_machine_environment(&rec->to.registry);
	ct_chosen_info(&env->calls.chosen, &rec->to.registry);
	ct_capture_range_info(&env->calls.range, &rec->to.registry);
	if (!env->argv || env->running.delay > 0 || env->calls.range.text)
		ct_registry_add_info(&rec->to.registry, CT_ATTACHED_INFO, "yes");
	if (env->argv)
		record_find_nvtx(rec);
	record_find_plugin(rec, "gpu", ct_launch_gpu, ct_launch_gpu_what, "gpu_activity", "what the GPU does is");
	record_find_plugin(rec, "stacks", ct_launch_stacks, ct_launch_stacks_what, "stacks", "stacks of calls are");
	env->running.gpu = *ct_launch_gpu ? ct_launch_gpu : NULL;
	env->running.gpu_what = ct_launch_gpu_what;
	env->running.stacks = *ct_launch_stacks ? ct_launch_stacks : NULL;
	env->running.stacks_what = ct_launch_stacks_what;
	env->running.sample = record_samples(rec);
	record_metrics(rec);
	env->running.flight = &env->flight;
	env->running.range = &env->calls.range;
	env->running.begun = record_begun;
	env->running.ended = record_ended;
	env->running.arg = rec;
	n = ct_running_record(&rec->to, &env->running, rec->library, &err);
	if (n > 0)
		ct_flight_tell(&env->flight, &rec->to.registry);
	ct_sampler_stop(rec->sampler, &rec->to.registry);
	ct_metrics_stop(rec->metrics);
	if (*ct_launch_stacks)
		ct_native_resolve(rec->to.dir, rec->to.module);
	if (n <= 0)
		ct_recording_abandon(&rec->to);
	if (n <= 0 || ct_recording_finish(&rec->to, &err))
		return record_status(rec, &err);
	if (env->calls.range.text && ct_cut(rec->to.dir, env->flight.end, &err))
		ct_complain("%s", err.text);
	fprintf(stderr, "cudatrace: trace in %s\n", env->output.dir ? env->output.dir : rec->to.dir);
	if (!env->output.quiet && ct_summary_print(rec->to.dir, stderr, &err))
		ct_complain("%s", err.text);
	return record_status(rec, NULL);
}

int cmd_record(int argc, char **argv)
{
	static const struct argp_child children[] = { { &ct_which_calls_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = { options, record_parse, "-- CMD [ARG...]", doc, children, NULL, NULL };
	struct env env = { .groups = ~0ull, .sample = -1, .metrics = -1, .stuck = CT_ON_STUCK / 1e9 };
	struct recording rec = { .env = &env, .to = CT_RECORDING_INIT, .drain = CT_DRAIN_INIT };
	struct ct_error err = { 0 };
	char command[4096];

	/* Options end at the program's name: those after it are the program's. */
	if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &env))
		return 1;
	ct_pipe_ignore();
	if (env.sample < 0)
		env.sample = CT_SAMPLER_RATE;
	ct_launch_sampled = env.sample > 0;
	if (env.metrics < 0)
		env.metrics = ct_launch_gpu_what ? CT_METRICS_RATE : 0;
	if (record_is_running(&env))
		return record_running(&rec);
	record_command_line(&env, command, sizeof(command));
	if (ct_launch_library(rec.library, sizeof(rec.library), &err) ||
	    ct_recording_directory(&rec.to, env.output.dir, env.output.force, &err))
		return record_failed(&rec, &err);
	record_choose_backend(&rec);
	if (ct_recording_registry(&rec.to, command, &err) ||
	    ct_launch_link(rec.library, sizeof(rec.library), rec.to.dir, &err)) {
		ct_recording_abandon(&rec.to);
		return record_failed(&rec, &err);
	}
	ct_machine_environment(&rec.to.registry);
	ct_chosen_info(&env.calls.chosen, &rec.to.registry);
	if (ct_launch_injected)
		ct_registry_add_info(&rec.to.registry, CT_INJECTED_INFO, "yes");
	if (!rec.to.module)
		ct_drain_open(&rec.drain, rec.to.dirfd, ct_flight_is_on(&env.flight));
	if (ct_flight_open(&env.flight, &rec.to, rec.to.module ? NULL : &rec.drain, &err)) {
		ct_drain_close(&rec.drain);
		ct_recording_abandon(&rec.to);
		return record_failed(&rec, &err);
	}
	record_find_nvtx(&rec);
	record_find_plugin(&rec, "gpu", ct_launch_gpu, ct_launch_gpu_what, "gpu_activity", "what the GPU does is");
	record_find_plugin(&rec, "stacks", ct_launch_stacks, ct_launch_stacks_what, "stacks", "stacks of calls are");
	if (ct_launch(&rec.child, env.argv, rec.library, rec.to.dir, rec.to.uuid,
		      rec.to.module ? "device" : "files", &err)) {
		ct_drain_close(&rec.drain);
		ct_recording_abandon(&rec.to);
		return record_status(&rec, &err);
	}
	ct_drain_start(&rec.drain);
	record_samples(&rec);
	record_metrics(&rec);
	ct_flight_catch(&env.flight, false);
	ct_watch_start(&rec.watch, &env.flight);
	ct_hang_start(&rec.hang, rec.to.dir, env.stuck * 1e9);
	ct_unseen_open(&rec.unseen, rec.child.pid, rec.to.dirfd, rec.library);
	record_follow(&rec);
	ct_watch_end(&rec.watch);
	ct_hang_end(&rec.hang);
	ct_sampler_stop(rec.sampler, &rec.to.registry);
	ct_metrics_stop(rec.metrics);
	if (*ct_launch_stacks)
		ct_native_resolve(rec.to.dir, rec.to.module);
	ct_drain_close(&rec.drain);
	ct_flight_close(&env.flight);
	ct_unseen_close(&rec.unseen, &rec.to.registry);
	if (ct_recording_finish(&rec.to, &err))
		return record_status(&rec, &err);
	fprintf(stderr, "cudatrace: trace in %s\n", env.output.dir ? env.output.dir : rec.to.dir);
	if (!env.output.quiet && ct_summary_print(rec.to.dir, stderr, &err))
		ct_complain("%s", err.text);
	return rec.child.status;
}
