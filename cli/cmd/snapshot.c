// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * cudatrace snapshot: copies what a running session's rings hold, at once or when
 * something happens, without stopping it.
 */
#include <argp.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/summary.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/options.h"
#include "capture/copy.h"
#include "capture/snapshot.h"
#include "cmd/cmd.h"

struct env {
	struct ct_option_output output;
	bool wait;
	double last;			/* seconds, 0: everything */
	struct ct_trigger_set trigger;
	bool on_signal;
	pid_t pid;			/* 0: the module's session */
};

static volatile sig_atomic_t signalled, interrupted;

static const struct argp_option options[] = {
	{ "output", 'o', "DIR", 0, "Directory of the trace (default: cudatrace-DATE-TIME)", 0 },
	{ "force", 'f', NULL, 0, "Replace DIR if it holds a trace", 0 },
	{ "last", 'l', "SECONDS", 0, "Only the last SECONDS (whole packets)", 0 },
	{ "on", 'w', "LIST", 0, "Wait until one of these happens: xid, status (an RM error), errno (an ioctl that fails), slow=TIME (a call of TIME or more: 10ms, 500us), signal (SIGUSR2 to this command)", 0 },
	{ "pid", 'p', "PID", 0, "Copy what is kept of this process, which is recorded without the module, instead (its own number, or that of the cudatrace record that records it)", 0 },
	{ "quiet", 'q', NULL, 0, "No summary", 0 },
	{ 0 }
};

static const char doc[] =
	"Write the records of a running flight recorder (cudatrace session start, or with --pid cudatrace "
	"record --keep) to a trace, or the unread records of a recorder that was killed.\v"
	"EXAMPLES:\n"
	"  cudatrace snapshot --pid 4242 -o last\n"
	"  cudatrace snapshot -o last --last 10\n"
	"  cudatrace snapshot -o trouble --on xid,slow=50ms\n"
	"  cudatrace snapshot -o now --on signal & kill -USR2 $!\n";

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
		else if (!strncmp(word, "slow=", 5) && (t->slow_ns = ct_option_time(word + 5)))
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

	if (!ct_option_output(key, arg, state, &env->output))
		return 0;
	switch (key) {
	case 'l':
		env->last = strtod(arg, &end);
		if (*end || env->last <= 0)
			argp_error(state, "--last takes seconds, not '%s'", arg);
		break;
	case 'w':
		if (snapshot_parse_on(env, arg))
			argp_error(state, "--on takes xid, status, errno, slow=TIME (10ms) and signal, with commas between");
		break;
	case 'p':
		env->pid = (pid_t)ct_option_number(state, "--pid", arg, 1, INT32_MAX);
		break;
	case ARGP_KEY_END:
		if (env->pid && env->wait)
			argp_error(state, "--on is for the module's session: give it to cudatrace record --keep");
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

static void snapshot_on_other(int sig)
{
	(void)sig;
}

static void snapshot_on_int(int sig)
{
	(void)sig;
	interrupted = 1;
}

/* So that a signal can end the waiting, or be the trigger (@env->on_signal). */
static void snapshot_catch_signals(const struct env *env)
{
	struct sigaction usr2 = { .sa_handler = snapshot_on_usr2 },
			 stop = { .sa_handler = snapshot_on_int };

	/* Without "signal", SIGUSR2 is caught, too, and ignored. */
	if (!env->on_signal)
		usr2.sa_handler = snapshot_on_other;
	sigaction(SIGUSR2, &usr2, NULL);
	sigaction(SIGINT, &stop, NULL);
	sigaction(SIGTERM, &stop, NULL);
}

static uint64_t snapshot_since(const struct env *env)
{
	uint64_t now = ct_now_ns(), back = env->last * 1e9;

	return env->last > 0 && back < now ? now - back : 0;
}

/* Of a recording without the module. */
static int snapshot_copy(const struct env *env)
{
	char dir[PATH_MAX], made[PATH_MAX];
	struct ct_error err = { 0 };

	if (ct_copy_find(env->pid, dir, &err) ||
	    ct_copy_take(dir, env->output.dir, env->output.force, snapshot_since(env), NULL, made, &err))
		return ct_complain("%s", err.text);
	fprintf(stderr, "cudatrace: snapshot in %s\n", env->output.dir ? env->output.dir : made);
	if (!env->output.quiet && ct_summary_print(made, stderr, &err))
		ct_complain("%s", err.text);
	return 0;
}

int cmd_snapshot(int argc, char **argv)
{
	static const struct argp argp = { options, snapshot_parse, NULL, doc, NULL, NULL, NULL };
	struct ct_recording rec = CT_RECORDING_INIT;
	struct ct_error err = { 0 };
	struct env env = { 0 };
	bool made;
	int n;

	if (argp_parse(&argp, argc, argv, 0, NULL, &env))
		return 1;
	if (env.pid)
		return snapshot_copy(&env);
	if (ct_snapshot_attach(&rec, !env.wait, &err))
		return ct_complain("%s", err.text);
	if (env.wait) {
		snapshot_catch_signals(&env);
		if (ct_snapshot_wait(&rec, &env.trigger, &signalled, &interrupted, &err))
			return ct_complain("%s", err.text);
	}
	n = ct_snapshot_take(&rec, env.output.dir, env.output.force, snapshot_since(&env), &made, &err);
	if (n < 0)
		ct_complain("%s", err.text);
	if (!made)
		return 1;
	fprintf(stderr, "cudatrace: %d packets in %s\n", n > 0 ? n : 0, env.output.dir ? env.output.dir : rec.dir);
	if (!env.output.quiet && ct_summary_print(rec.dir, stderr, &err))
		ct_complain("%s", err.text);
	return n < 0;
}
