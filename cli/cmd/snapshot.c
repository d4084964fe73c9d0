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
#include <time.h>
#include <unistd.h>

#include "analysis/summary.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/options.h"
#include "base/proc.h"
#include "base/rank.h"
#include "capture/copy.h"
#include "capture/on.h"
#include "capture/snapshot.h"
#include "cmd/cmd.h"
#include "live/rings.h"
#include "live/trouble.h"

struct env {
	struct ct_option_output output;
	bool wait;
	double last;			/* seconds, 0: everything */
	struct ct_trigger_set trigger;	/* the module looks for these */
	struct ct_on on;		/* and this command for these, by the calls in the session */
	bool on_signal;
	bool goes_on;			/* after a snapshot ... */
	double again;			/* ... and so many seconds */
	pid_t pid;			/* 0: the module's session */
};

enum { KEY_AGAIN = 0x100 };

#define LOOK_NS		50000000ull	/* between two looks at calls */
/* A record comes into its ring some time after its end was taken; those of all CPUs are given in order. */
#define LATE_NS		5000000ull
#define BEFORE_NS	1000000000ull	/* of a snapshot, before what made it */

static volatile sig_atomic_t signalled, interrupted;

static const struct argp_option options[] = {
	{ "output", 'o', "DIR", 0, "Directory of the trace (default: cudatrace-DATE-TIME)", 0 },
	{ "force", 'f', NULL, 0, "Replace DIR if it holds a trace", 0 },
	{ "last", 'l', "SECONDS", 0, "Only the last SECONDS (whole packets)", 0 },
	{ "on", 'w', "LIST", 0, "Wait until one of these happens: xid, status (an RM error), errno (an ioctl that fails), slow=TIME (a call of TIME or more: 10ms, 500us), error (a CUDA call fails), slow-iteration=3x (an iteration takes so many times the median), stuck=TIME (ranks wait so long for one that has not called an NCCL collective, as 60s), signal (SIGUSR2 to this command)", 0 },
	{ "again", KEY_AGAIN, "SECONDS", 0, "With --on: go on, and make DIR-1, DIR-2, ... until a signal ends it, with so many seconds between two of them", 0 },
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
	"  cudatrace snapshot -o trouble --on slow-iteration=3x,stuck=60s --again 60\n"
	"  cudatrace snapshot -o now --on signal & kill -USR2 $!\n";

static void snapshot_parse_on(struct argp_state *state, struct env *env, char *list)
{
	struct ct_trigger_set *t = &env->trigger;
	const char *why;
	char *save, *word;

	env->wait = true;
	for (word = strtok_r(list, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
		if (!strcmp(word, "xid")) {
			t->flags |= CT_TRIGGER_XID;
		} else if (!strcmp(word, "status")) {
			t->flags |= CT_TRIGGER_STATUS;
		} else if (!strcmp(word, "errno")) {
			t->flags |= CT_TRIGGER_ERRNO;
		} else if (!strcmp(word, "signal")) {
			env->on_signal = true;
		} else if (ct_on_word(&env->on, word, &why) == -ENOENT) {
			argp_error(state, "--on takes xid, status, errno, slow=TIME (10ms), error, slow-iteration=3x, stuck=TIME and signal, with commas between");
		} else if (ct_on_word(&env->on, word, &why)) {
			argp_error(state, "%s", why);
		}
	}
	/* The module sees calls of its own, too. */
	if (env->on.slow) {
		t->flags |= CT_TRIGGER_SLOW;
		t->slow_ns = env->on.slow;
		env->on.slow = 0;
	}
}

static error_t snapshot_parse(int key, char *arg, struct argp_state *state)
{
	struct env *env = state->input;

	if (!ct_option_output(key, arg, state, &env->output))
		return 0;
	switch (key) {
	case 'l':
		env->last = ct_option_seconds(arg);
		if (!(env->last > 0))
			argp_error(state, "--last takes a time, as 10 (seconds) or 5min, not '%s'", arg);
		break;
	case 'w':
		snapshot_parse_on(state, env, arg);
		break;
	case KEY_AGAIN:
		env->again = ct_option_seconds(arg);
		if (!(env->again >= 0 && env->again <= 1e6))
			argp_error(state, "--again takes a time, as 60 (seconds) or 5min, not '%s'", arg);
		env->goes_on = true;
		break;
	case 'p':
		env->pid = (pid_t)ct_option_number(state, "--pid", arg, 1, INT32_MAX);
		break;
	case ARGP_KEY_END:
		if (env->pid && env->wait)
			argp_error(state, "--on is for the module's session: give it to cudatrace record --keep");
		if (env->goes_on && (!env->wait || !env->output.dir))
			argp_error(state, "--again goes with --on and -o DIR");
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

/* ------------------------------------------------------ waiting ------------ */

/* What a waiting command knows of the session. */
struct waiting {
	const struct env *env;
	struct ct_recording rec;
	struct ct_rings rings;
	struct ct_trouble trouble;
	uint64_t looked, pause;		/* ns: at the calls; nothing counts until then */
};

static int waiting_record(void *arg, const struct ct_registry *reg, const struct ct_record *r)
{
	return ct_trouble_record(arg, reg, r);
}

static bool waiting_lives(uint32_t pid)
{
	return !kill((pid_t)pid, 0) || errno != ESRCH;
}

static int32_t waiting_rank(uint32_t pid)
{
	return ct_proc_is_first() ? ct_rank_number((pid_t)pid) : -1;
}

static int waiting_open(struct waiting *w, struct ct_error *err)
{
	int rc = ct_snapshot_attach(&w->rec, false, err);

	if (rc || !ct_on_any(&w->env->on))
		return rc;
	w->trouble = (struct ct_trouble){ .on = w->env->on, .from = ct_now_ns(), .stuck = { .lives = waiting_lives, .rank = waiting_rank } };
	ct_trouble_begin(&w->trouble);
	return ct_rings_open(&w->rings, &w->rec.device, err);
}

static void waiting_close(struct waiting *w)
{
	if (w->rings.cpus)
		ct_rings_close(&w->rings);
	ct_trouble_end(&w->trouble);
	ct_device_close(&w->rec.device);
}

/* Calls are looked at in the pause between two snapshots, too: iterations are learnt, and a hang lasts. */
static int waiting_look(void *arg, struct ct_error *err)
{
	struct waiting *w = arg;
	uint64_t now = ct_now_ns();
	int rc;

	if (!w->rings.cpus || now < w->looked + LOOK_NS)
		return 0;
	w->looked = now;
	rc = ct_rings_read(&w->rings, now - LATE_NS, waiting_record, &w->trouble);
	if (rc)
		return ct_fail(err, -rc, "the session's records can't be read: %s", strerror(-rc));
	if (now < w->pause) {
		w->trouble.happened = false;
		return 0;
	}
	ct_trouble_now(&w->trouble, now);
	return w->trouble.happened;
}

static void waiting_pause(struct waiting *w)
{
	const struct timespec moment = { .tv_nsec = 10000000 };
	struct ct_error ignored;

	w->pause = ct_now_ns() + (uint64_t)(w->env->again * 1e9);
	w->trouble.happened = false;
	while (!interrupted && ct_now_ns() < w->pause) {
		waiting_look(w, &ignored);
		nanosleep(&moment, NULL);
	}
}

/* DIR, or DIR-1, DIR-2, ... */
static int snapshot_make(const struct env *env, const struct ct_trouble *t)
{
	struct ct_recording rec = CT_RECORDING_INIT;
	const char *why = t && t->happened ? t->why : "";
	uint64_t since = snapshot_since(env);
	const char *dir = env->output.dir;
	static unsigned int number;
	struct ct_error err = { 0 };
	char name[PATH_MAX];
	bool made;
	int n;

	if (env->goes_on) {
		do
			snprintf(name, sizeof(name), "%.4000s-%u", dir, ++number);
		while (!access(name, F_OK));
		dir = name;
	}
	/* What happened is to be in it as a whole, with something before. */
	if (*why && since > t->since - BEFORE_NS)
		since = t->since - BEFORE_NS;
	n = ct_snapshot_attach(&rec, !env->wait, &err);
	if (n)
		return ct_complain("%s%s", err.text, n == -ENOENT ? "; of a recording without it: snapshot --pid PID" : "");
	n = ct_snapshot_take(&rec, dir, env->output.force, since, &made, &err);
	if (n < 0)
		ct_complain("%s", err.text);
	if (!made)
		return 1;
	fprintf(stderr, "cudatrace: %d packets in %s%s%s%s\n", n > 0 ? n : 0, dir ? dir : rec.dir, *why ? " (" : "", why,
		*why ? ")" : "");
	if (!env->output.quiet && ct_summary_print(rec.dir, stderr, &err))
		ct_complain("%s", err.text);
	return n < 0;
}

static int snapshot_wait(const struct env *env)
{
	struct waiting w = { .env = env, .rec = CT_RECORDING_INIT };
	const struct ct_snapshot_look look = { waiting_look, &w };
	struct ct_trigger_set trigger = env->trigger;
	struct ct_error err = { 0 };
	int rc = waiting_open(&w, &err);

	snapshot_catch_signals(env);
	if (!rc)
		fprintf(stderr, "cudatrace: waiting for a trigger\n");
	while (!rc) {
		signalled = 0;
		rc = ct_snapshot_wait(&w.rec, &trigger, &look, &signalled, &interrupted, &err);
		if (rc)
			break;
		rc = snapshot_make(env, &w.trouble);
		if (!env->goes_on) {
			waiting_close(&w);
			return rc;
		}
		/* A full disk may have room later. */
		rc = 0;
		waiting_pause(&w);
	}
	waiting_close(&w);
	return env->goes_on && rc == -EINTR ? 0 : ct_complain("%s", err.text);
}

int cmd_snapshot(int argc, char **argv)
{
	static const struct argp argp = { options, snapshot_parse, NULL, doc, NULL, NULL, NULL };
	struct env env = { 0 };

	if (argp_parse(&argp, argc, argv, 0, NULL, &env))
		return 1;
	ct_pipe_ignore();
	return env.pid ? snapshot_copy(&env) : env.wait ? snapshot_wait(&env) : snapshot_make(&env, NULL);
}
