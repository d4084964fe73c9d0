// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * cudatrace snapshot: takes what a running session's rings hold, at once or when
 * something happens, without stopping it.  Must never change the session, but for
 * the trigger that it was asked to wait for.
 */
#include <argp.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "cmd/cmd.h"
#include "capture/device.h"
#include "base/error.h"
#include "capture/recording.h"
#include "analysis/analyses.h"

struct env {
	const char *dir;
	bool force, quiet, wait;
	double last;			/* seconds, 0: everything */
	struct ct_trigger_set trigger;
	bool on_signal;
};

static volatile sig_atomic_t signalled, interrupted;

static const struct argp_option options[] = {
	{ "output", 'o', "DIR", 0, "Directory of the trace (default: cudatrace-DATE-TIME)", 0 },
	{ "force", 'f', NULL, 0, "Replace DIR if it holds a trace", 0 },
	{ "last", 'l', "SECONDS", 0, "Only the last so many seconds (whole packets)", 0 },
	{ "on", 'w', "LIST", 0, "Wait until one of these happens: xid, status (an RM error), errno (an ioctl that fails), slow=TIME (a call of TIME or more: 10ms, 500us), signal (SIGUSR2 to us)", 0 },
	{ "quiet", 'q', NULL, 0, "No summary", 0 },
	{ 0 }
};

static const char doc[] =
	"Take a snapshot of a flight recorder that runs (cudatrace session start), or what "
	"a recorder left that was killed.\v"
	"EXAMPLES:\n"
	"  cudatrace snapshot -o last --last 10\n"
	"  cudatrace snapshot -o trouble --on xid,slow=50ms\n"
	"  cudatrace snapshot -o now --on signal & kill -USR2 $!\n";

/* "10ms" in ns; 0 if it is no time. */
static uint64_t snapshot_parse_time(const char *text)
{
	char *unit;
	double v = strtod(text, &unit);

	if (v <= 0)
		return 0;
	return !strcmp(unit, "ns") ? v : !strcmp(unit, "us") ? v * 1e3 :
	       !strcmp(unit, "ms") ? v * 1e6 : !strcmp(unit, "s") ? v * 1e9 : 0;
}

static int snapshot_parse_on(struct env *env, char *list)
{
	struct ct_trigger_set *t = &env->trigger;
	char *save, *word;

	for (word = strtok_r(list, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
		if (!strcmp(word, "xid"))
			t->flags |= CT_TRIGGER_XID;
		else if (!strcmp(word, "status"))
			t->flags |= CT_TRIGGER_STATUS;
		else if (!strcmp(word, "errno"))
			t->flags |= CT_TRIGGER_ERRNO;
		else if (!strcmp(word, "signal"))
			env->on_signal = true;
		else if (!strncmp(word, "slow=", 5) && (t->slow_ns = snapshot_parse_time(word + 5)))
			t->flags |= CT_TRIGGER_SLOW;
		else
			return -EINVAL;
	}
	env->wait = true;
	return 0;
}

static error_t snapshot_parse(int key, char *arg, struct argp_state *state)
{
	struct env *env = state->input;
	char *end;

	switch (key) {
	case 'o':
		env->dir = arg;
		break;
	case 'f':
		env->force = true;
		break;
	case 'q':
		env->quiet = true;
		break;
	case 'l':
		env->last = strtod(arg, &end);
		if (*end || env->last <= 0)
			argp_error(state, "--last takes seconds, not '%s'", arg);
		break;
	case 'w':
		if (snapshot_parse_on(env, arg))
			argp_error(state, "--on takes xid, status, errno, slow=TIME (10ms) and signal, with commas between");
		break;
	case ARGP_KEY_ARG:
		argp_error(state, "snapshot takes no '%s' (the directory is -o DIR)", arg);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static void snapshot_on_usr2(int sig)
{
	(void)sig;
	signalled = 1;
}

static void snapshot_on_int(int sig)
{
	(void)sig;
	interrupted = 1;
}

/* Until a trigger fires.  1: interrupted, or the session ended; complained. */
static int snapshot_wait_for(struct env *env, struct ct_device *dev)
{
	struct sigaction usr2 = { .sa_handler = snapshot_on_usr2 },
			 stop = { .sa_handler = snapshot_on_int };
	struct timespec pause = { .tv_nsec = 10000000 };
	uint32_t before = dev->facts->triggers;
	struct ct_device change;
	struct ct_error err = { 0 };

	if (env->trigger.flags) {
		env->trigger.size = sizeof(env->trigger);
		if (ct_device_open(&change, &err))
			return ct_complain("%s", err.text);
		if (ioctl(change.fd, CT_IOC_TRIGGER, &env->trigger)) {
			ct_device_close(&change);
			return ct_complain("the trigger can't be set: %s", strerror(errno));
		}
		ct_device_close(&change);
	}
	sigaction(SIGUSR2, &usr2, NULL);
	sigaction(SIGINT, &stop, NULL);
	sigaction(SIGTERM, &stop, NULL);
	fprintf(stderr, "cudatrace: waiting for a trigger\n");
	while (dev->facts->triggers == before && !(env->on_signal && signalled)) {
		if (interrupted)
			return ct_complain("interrupted before a trigger fired: no snapshot");
		if (!dev->facts->running)
			return ct_complain("the session ended before a trigger fired: no snapshot");
		nanosleep(&pause, NULL);
	}
	return 0;
}

static uint64_t snapshot_since(const struct env *env)
{
	uint64_t now = ct_now_ns(), back = env->last * 1e9;

	return env->last > 0 && back < now ? now - back : 0;
}

int cmd_snapshot(int argc, char **argv)
{
	static const struct argp argp = { options, snapshot_parse, NULL, doc, NULL, NULL, NULL };
	struct ct_recording rec = CT_RECORDING_INIT;
	struct ct_error err = { 0 }, ignored;
	struct env env = { 0 };
	int n;

	if (argp_parse(&argp, argc, argv, 0, NULL, &env))
		return 1;
	n = ct_device_attach(&rec.device, &err);
	if (n == -ENODATA && !env.wait)
		n = ct_device_adopt(&rec.device, &ignored) ? n : 0;
	if (n)
		return ct_complain("%s", err.text);
	rec.module = true;
	if (env.wait && snapshot_wait_for(&env, &rec.device))
		return 1;
	if (ct_recording_directory(&rec, env.dir, env.force, &err))
		return ct_complain("%s", err.text);
	if (ct_recording_registry(&rec, NULL, &err)) {
		ct_recording_abandon(&rec);
		return ct_complain("%s", err.text);
	}
	n = ct_device_snapshot(&rec.device, rec.dirfd, snapshot_since(&env), &err);
	if (n < 0)
		ct_complain("%s", err.text);
	ct_recording_probes(&rec);
	ct_recording_streams(&rec);
	ct_device_registry(&rec.device, &rec.registry);
	/* What a killed recorder left needs not be kept twice; others are not ours. */
	if (n >= 0 && rec.device.session.flags & CT_SESSION_ORPHANED)
		ct_device_stop(&rec.device);
	if (ct_recording_finish(&rec, &err))
		return ct_complain("%s", err.text);
	fprintf(stderr, "cudatrace: %d packets in %s\n", n > 0 ? n : 0, env.dir ? env.dir : rec.dir);
	if (!env.quiet && ct_report_summary(rec.dir, stderr, &err))
		ct_complain("%s", err.text);
	return n < 0;
}
