// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * cudatrace live: calls as they happen.
 */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "live/live.h"

struct env {
	const char *dir;
	bool only_new, watermarked;
	struct ct_watermark watermark;
};

static volatile bool stop;

static const char doc[] =
	"Show calls as they happen, a row each when it returns: of all processes, from\n"
	"/dev/cudatrace, or of the trace that is being recorded in DIR.\n"
	"\v"
	"With DIR it ends with the recording; Ctrl-C ends it in any case.\n"
	"\n"
	"EXAMPLES\n"
	"  cudatrace live\n"
	"  cudatrace live --watermark 64k,200ms\n"
	"  cudatrace record -o trace -- python train.py & cudatrace live trace\n"
	"  cudatrace live --new trace | grep Memcpy\n";

static const struct argp_option options[] = {
	{ "watermark", 'w', "LIST", 0, "without DIR: print new rows only when there are 64k (bytes), 100r (records), or after 50ms; several with commas between", 0 },
	{ "new", 'n', NULL, 0, "with DIR: only calls from now on", 0 },
	{ 0 },
};

static int live_parse_watermark(struct ct_watermark *wm, const char *list)
{
	static const struct {
		const char *unit;
		char what;
		double factor;
	} units[] = {
		{ "", 'b', 1 }, { "k", 'b', 1 << 10 }, { "M", 'b', 1 << 20 }, { "r", 'r', 1 },
		{ "ms", 't', 1e6 }, { "s", 't', 1e9 },
	};
	size_t i, len;
	char *unit;
	double v;

	for (;; list = unit + len + 1) {
		v = strtod(list, &unit);
		len = strcspn(unit, ",");
		for (i = 0; i < sizeof(units) / sizeof(*units); i++)
			if (len == strlen(units[i].unit) && !strncmp(unit, units[i].unit, len))
				break;
		if (unit == list || v <= 0 || v > 1e12 || i == sizeof(units) / sizeof(*units))
			return -EINVAL;
		v *= units[i].factor;
		if (units[i].what == 'b')
			wm->bytes = v;
		else if (units[i].what == 'r')
			wm->records = v;
		else
			wm->ns = v;
		if (!unit[len])
			return 0;
	}
}

static error_t live_parse(int key, char *arg, struct argp_state *state)
{
	struct env *env = state->input;

	switch (key) {
	case 'n':
		env->only_new = true;
		return 0;
	case 'w':
		env->watermarked = true;
		if (live_parse_watermark(&env->watermark, arg))
			argp_failure(state, 64, 0, "--watermark takes 64k, 100r and 50ms, with commas between, not '%s'", arg);
		return 0;
	case ARGP_KEY_ARG:
		if (env->dir)
			argp_failure(state, 64, 0, "one DIR, not also '%s'", arg);
		env->dir = arg;
		return 0;
	case ARGP_KEY_END:
		if (env->only_new && !env->dir)
			argp_failure(state, 64, 0, "--new goes with DIR: without it only what happens now is shown");
		if (env->watermarked && env->dir)
			argp_failure(state, 64, 0, "--watermark is of /dev/cudatrace: not with DIR");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static void live_on_signal(int sig)
{
	(void)sig;
	stop = true;
}

static int live_device(struct ct_watermark *watermark)
{
	struct ct_error err;
	int fd, rc;

	fd = open(CT_DEVICE_PATH, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return ct_complain("%s: not there; 'modprobe cudatrace' loads the module, or give the DIR of a recording",
				   CT_DEVICE_PATH);
	if (fd < 0)
		return ct_complain("%s: %s; 'cudatrace doctor' says how to get access",
				   CT_DEVICE_PATH, strerror(errno));
	watermark->size = sizeof(*watermark);
	if (ioctl(fd, CT_IOC_WATERMARK, watermark))
		ct_complain("--watermark is not known to this module: %s", strerror(errno));
	rc = ct_live_device(fd, stdout, &stop, &err);
	close(fd);
	return rc ? ct_complain("%s: %s", CT_DEVICE_PATH, err.text) : 0;
}

int cmd_live(int argc, char **argv)
{
	static const struct argp argp = { options, live_parse, "[DIR]", doc, NULL, NULL, NULL };
	struct sigaction action = { .sa_handler = live_on_signal };
	struct env env = { 0 };
	struct ct_error err;

	argp_parse(&argp, argc, argv, 0, NULL, &env);
	/* Without SA_RESTART: a signal must end a blocking read(). */
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	if (!env.dir)
		return live_device(&env.watermark);
	if (ct_live_follow(env.dir, env.only_new, stdout, &stop, &err))
		return ct_complain("%s", err.text);
	return 0;
}
