// SPDX-License-Identifier: LGPL-2.1-or-later
/* cudatrace metrics: counters of what is recorded now, for a monitoring system. */
#include <argp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/options.h"
#include "cmd/cmd.h"
#include "serve/scrape.h"

#define DEFAULT_LISTEN	"127.0.0.1:9464"

struct env {
	const char *dir, *listen;
};

static volatile bool stop;

static const char doc[] =
	"Answer a Prometheus with counters of what is recorded now: of the trace that\n"
	"is being recorded in DIR, or without DIR of the module's session.\n"
	"\vCalls by function, ioctls by escape and status, functions of the driver, their\n"
	"durations as histograms, launches, memory, copies, Xids, interrupts, the GPU's\n"
	"work, and records that were lost. Each family has at most 512 rows and one for\n"
	"all others. Without DIR there are only functions and durations. It runs until\n"
	"a signal ends it. 'export --format openmetrics' has the same of a whole trace.\n"
	"\n"
	"EXAMPLES\n"
	"  cudatrace record -o trace -- python serve.py & cudatrace metrics trace\n"
	"  curl http://127.0.0.1:9464/metrics\n"
	"  cudatrace metrics --listen /run/cudatrace/metrics.sock trace\n"
	"  sudo cudatrace metrics --listen '[::1]:9464'\n";

static const struct argp_option options[] = {
	{ "listen", 'l', "ADDRESS", 0, "ADDRESS:PORT, or the path of a unix socket (default: " DEFAULT_LISTEN ")", 0 },
	{ 0 },
};

static error_t metrics_parse(int key, char *arg, struct argp_state *state)
{
	struct env *env = state->input;

	switch (key) {
	case 'l':
		env->listen = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (env->dir)
			argp_failure(state, CT_USAGE, 0, "one DIR, not also '%s'", arg);
		env->dir = arg;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static void metrics_on_signal(int sig)
{
	(void)sig;
	stop = true;
}

int cmd_metrics(int argc, char **argv)
{
	static const struct argp argp = { options, metrics_parse, "[DIR]", doc, NULL, NULL, NULL };
	struct sigaction action = { .sa_handler = metrics_on_signal };
	struct env env = { .listen = DEFAULT_LISTEN };
	struct ct_error err = { 0 };
	struct ct_http http;
	int rc;

	argp_parse(&argp, argc, argv, 0, NULL, &env);
	ct_pipe_ignore();
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	rc = ct_http_open(&http, env.listen, &err);
	if (!rc) {
		fprintf(stderr, http.unix_socket ? "cudatrace: metrics at %s\n" : "cudatrace: metrics at http://%s/metrics\n",
			http.address);
		rc = ct_scrape_serve(&http, env.dir, &stop, &err);
		ct_http_close(&http);
	}
	return ct_tell("metrics", rc, &err);
}
