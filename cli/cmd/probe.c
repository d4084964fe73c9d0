// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * cudatrace probe: lists functions and probes, adds and removes probes.
 */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "capture/device.h"
#include "cmd/cmd.h"
#include "probe/discover.h"
#include "probe/functions.h"
#include "probe/status.h"
#include "probe/user_probes.h"
#include "trace/class.h"

static const char doc[] =
	"Probes on the driver's functions.\n\n"
	"  list GLOB...             functions that can be probed, and by which means\n"
	"  status                   all probes: state, how each name resolves, hits,\n"
	"                           missed hits, lost records, and the cost of a hit\n"
	"  add [MODULE:]NAME [ARG...]\n"
	"                           record one more function.  ARG is argN:NAME[:TYPE]\n"
	"                           or ret:NAME[:TYPE]; TYPE: u8 to u64, s8 to s64, x8\n"
	"                           to x64, ptr (= x64); without a TYPE x64, or u64 for\n"
	"                           a size or count\n"
	"  remove [MODULE:]NAME     remove a probe that was added\n"
	"  discover [--hot N] GLOB... -- CMD [ARG...]\n"
	"                           run CMD and count the calls of these functions, by\n"
	"                           all processes.  N: one that is called more often\n"
	"                           than N times a second is no longer counted\n"
	"                           (1000000; by breakpoint 50000)\v"
	"A GLOB matches functions of modules; vmlinux:GLOB those of the kernel itself.\n\n"
	"EXAMPLES:\n"
	"  cudatrace probe list 'nv_*'\n"
	"  cudatrace probe add nvidia:nv_alloc_contig_pages arg0:nv arg1:at\n"
	"  cudatrace probe status | sort -k5 -n\n"
	"  cudatrace probe remove nvidia:nv_alloc_contig_pages\n"
	"  cudatrace probe discover 'nvidia:nv*' -- python infer.py\n";

struct env {
	char **argv;
	int argc;
};

static error_t probe_parse(int key, char *arg, struct argp_state *state)
{
	struct env *env = state->input;

	(void)arg;
	switch (key) {
	case ARGP_KEY_ARGS:
		env->argv = state->argv + state->next;
		env->argc = state->argc - state->next;
		break;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "no verb: list, status, add, remove or discover");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* "nvidia:nv_foo" into the two names; -EINVAL if one is too long. */
static int probe_split(struct ct_probe_add *add, const char *text)
{
	const char *colon = strchr(text, ':');
	size_t len = colon ? (size_t)(colon - text) : 0;

	if (colon && !strncmp(text, "vmlinux", len))
		len = 0;
	if (len >= sizeof(add->module))
		return -EINVAL;
	memcpy(add->module, text, len);
	text = colon ? colon + 1 : text;
	if (!*text || strlen(text) >= sizeof(add->symbol))
		return -EINVAL;
	strcpy(add->symbol, text);
	return 0;
}

/* "arg1:size:u64" */
static int probe_parse_argument(struct ct_probe_arg *a, const char *text)
{
	char from[8], name[CT_FIELD_LEN], type[8] = "";
	int n = sscanf(text, "%7[^:]:%23[^:]:%7s", from, name, type), i;

	if (n < 2)
		return -EINVAL;
	if (!strcmp(from, "ret"))
		a->number = CT_ARG_RETURN;
	else if (!strncmp(from, "arg", 3) && from[3] >= '0' && from[3] <= '5' && !from[4])
		a->number = from[3] - '0';
	else
		return -EINVAL;
	strcpy(a->name, name);
	if (n < 3)
		strcpy(type, strstr(name, "size") || strstr(name, "count") ? "u64" : "x64");
	else if (!strcmp(type, "ptr"))
		strcpy(type, "x64");
	i = ct_word_index(ct_type_word, CT_TYPE_COUNT, type);
	if (i < 0 || i > CT_TYPE_x64)
		return -EINVAL;
	a->type = i;
	return 0;
}

static int probe_add(int argc, char **argv)
{
	struct ct_probe_add add = { .size = sizeof(add) };
	struct ct_error err = { 0 };
	int i;

	if (argc < 1)
		return ct_complain_usage("probe add: no function; cudatrace probe add [MODULE:]NAME [argN:NAME[:TYPE]]...");
	if (probe_split(&add, argv[0]))
		return ct_complain_usage("probe add: '%s' is no [MODULE:]NAME", argv[0]);
	if (argc - 1 > CT_ARGS_MAX)
		return ct_complain_usage("probe add: %d arguments at most", CT_ARGS_MAX);
	for (i = 1; i < argc; i++)
		if (probe_parse_argument(&add.arg[add.args++], argv[i]))
			return ct_complain_usage("probe add: '%s' is not argN:NAME[:TYPE] with N 0 to 5, nor ret:NAME[:TYPE] (types: u8..u64, s8..s64, x8..x64, ptr)",
						 argv[i]);
	return ct_user_probe_add(&add, argv[0], &err) ? ct_complain("%s", err.text) : 0;
}

static int probe_remove(int argc, char **argv)
{
	struct ct_probe_add add = { .size = sizeof(add) };
	struct ct_error err = { 0 };

	if (argc != 1 || probe_split(&add, argv[0]))
		return ct_complain_usage("probe remove: one [MODULE:]NAME");
	return ct_user_probe_remove(&add, argv[0], &err) ? ct_complain("%s", err.text) : 0;
}

static int probe_list(int argc, char **argv)
{
	struct ct_functions f;
	struct ct_error err = { 0 };
	size_t i;

	if (argc < 1)
		return ct_complain_usage("probe list: no GLOB; cudatrace probe list GLOB..., e.g. 'nv_*'");
	if (ct_functions_find(&f, argv, argc, true, &err)) {
		ct_functions_free(&f);
		return ct_complain("%s", err.text);
	}
	for (i = 0; i < f.count; i++)
		printf("%-12s %-48s %s\n", *f.row[i].module ? f.row[i].module : "vmlinux",
		       f.row[i].name, !f.sites_known ? "" : f.row[i].ftrace ? "ftrace" : "breakpoint");
	fprintf(stderr, "cudatrace: %zu functions%s\n", f.count, f.sites_known ? "" :
		"; the means are not known (tracefs is not mounted, or not readable)");
	ct_functions_free(&f);
	return 0;
}

static int probe_status(int argc, char **argv)
{
	struct ct_error err = { 0 };
	struct ct_device dev;
	int ret;

	(void)argc;
	(void)argv;
	if (ct_device_open(&dev, &err))
		return ct_complain("%s", err.text);
	ret = ct_probe_status(&dev);
	ct_device_close(&dev);
	return ret;
}

/* The globs are the arguments before "--", or the first. */
static int probe_discover(int argc, char **argv)
{
	double hot = 0;
	int globs = 0;
	char *end;

	if (argc > 1 && !strcmp(argv[0], "--hot")) {
		hot = strtod(argv[1], &end);
		if (!(hot >= 1) || *end)
			return ct_complain_usage("probe discover: --hot %s is no number of calls a second", argv[1]);
		argc -= 2;
		argv += 2;
	}
	while (globs < argc && strcmp(argv[globs], "--"))
		globs++;
	if (globs == argc && argc > 1)
		return ct_discover(argv, 1, argv + 1, hot);
	if (!globs || globs + 1 >= argc)
		return ct_complain_usage("probe discover: cudatrace probe discover GLOB... -- CMD ARG...");
	return ct_discover(argv, globs, argv + globs + 1, hot);
}

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);	/* with what follows the verb */
} verbs[] = {
	{ "list", probe_list },
	{ "status", probe_status },
	{ "add", probe_add },
	{ "remove", probe_remove },
	{ "discover", probe_discover },
};

int cmd_probe(int argc, char **argv)
{
	static const struct argp argp = {
		NULL, probe_parse, "VERB [ARG...]", doc, NULL, NULL, NULL
	};
	struct env env = { 0 };
	const char *verb;

	if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &env))
		return 1;
	verb = env.argv[0];
	for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++)
		if (!strcmp(verb, verbs[i].name))
			return verbs[i].run(env.argc - 1, env.argv + 1);
	return ct_complain_usage("probe: no verb '%s' (list, status, add, remove, discover)", verb);
}
