// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * cudatrace probe: lists functions and probes, adds and removes probes.
 */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "trace/class.h"
#include "cmd/cmd.h"
#include "capture/device.h"
#include "probe/discover.h"
#include "base/error.h"
#include "probe/functions.h"
#include "probe/status.h"

static const char doc[] =
	"Probes on the driver's functions.\n\n"
	"  list GLOB...                 functions that can be probed: module, name, by which means\n"
	"  status                       all probes: armed or not, how each name\n"
	"                               resolves, hits, missed, lost, and what a hit costs\n"
	"  add [MODULE:]NAME [ARG...]   record one more function; ARG is argN:NAME[:TYPE] or\n"
	"                               ret:NAME[:TYPE]; TYPE: u8 to u64, s8 to s64, x8 to x64,\n"
	"                               ptr (= x64); without a TYPE x64, or u64 for size and count\n"
	"  remove [MODULE:]NAME\n"
	"  discover GLOB... -- CMD [ARG...]\n"
	"                               run CMD: which of the functions it calls, how often\n"
	"                               and for how long\v"
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

static int probe_open_device(struct ct_device *dev)
{
	struct ct_error err = { 0 };

	return ct_device_open(dev, &err) ? ct_complain("%s", err.text) : 0;
}

static int probe_add(int argc, char **argv)
{
	struct ct_probe_add add = { .size = sizeof(add) };
	struct ct_device dev;
	int i, ret = 0;

	if (argc < 1)
		return ct_complain("probe add: no function; cudatrace probe add [MODULE:]NAME [argN:NAME[:TYPE]]...");
	if (probe_split(&add, argv[0]))
		return ct_complain("probe add: '%s' is no [MODULE:]NAME", argv[0]);
	if (argc - 1 > CT_ARGS_MAX)
		return ct_complain("probe add: %d arguments at most", CT_ARGS_MAX);
	for (i = 1; i < argc; i++)
		if (probe_parse_argument(&add.arg[add.args++], argv[i]))
			return ct_complain("probe add: '%s' is not argN:NAME[:TYPE] with N 0 to 5, nor ret:NAME[:TYPE] (types: u8..u64, s8..s64, x8..x64, ptr)",
					   argv[i]);
	if (probe_open_device(&dev))
		return 1;
	if (ioctl(dev.fd, CT_IOC_PROBE_ADD, &add))
		ret = errno == EEXIST ? ct_complain("%s is probed already (cudatrace probe status)", argv[0]) :
		      errno == ENOENT ? ct_complain("there is no function %s (cudatrace probe list '%.3s*'); one that was inlined can't be probed", argv[0], add.symbol) :
		      errno == EPERM ? ct_complain("adding a probe needs CAP_PERFMON or CAP_SYS_ADMIN") :
		      errno == EINVAL ? ct_complain("the kernel does not let %s be probed", argv[0]) :
		      ct_complain("%s: %s", argv[0], strerror(errno));
	ct_device_close(&dev);
	return ret;
}

static int probe_remove(int argc, char **argv)
{
	struct ct_probe_add add = { .size = sizeof(add) };
	struct ct_device dev;
	int ret = 0;

	if (argc != 1 || probe_split(&add, argv[0]))
		return ct_complain("probe remove: one [MODULE:]NAME");
	if (probe_open_device(&dev))
		return 1;
	if (ioctl(dev.fd, CT_IOC_PROBE_REMOVE, &add))
		ret = errno == ENOENT ? ct_complain("no probe of yours on %s (cudatrace probe status)", argv[0]) :
		      ct_complain("%s: %s", argv[0], strerror(errno));
	ct_device_close(&dev);
	return ret;
}

static int probe_list(int argc, char **argv)
{
	struct ct_functions f;
	struct ct_error err = { 0 };
	size_t i;

	if (argc < 1)
		return ct_complain("probe list: no GLOB; cudatrace probe list GLOB..., e.g. 'nv_*'");
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

static int probe_status(void)
{
	struct ct_device dev;
	int ret;

	if (probe_open_device(&dev))
		return 1;
	ret = ct_probe_status(&dev);
	ct_device_close(&dev);
	return ret;
}

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
	if (!strcmp(verb, "list"))
		return probe_list(env.argc - 1, env.argv + 1);
	if (!strcmp(verb, "status"))
		return probe_status();
	if (!strcmp(verb, "add"))
		return probe_add(env.argc - 1, env.argv + 1);
	if (!strcmp(verb, "remove"))
		return probe_remove(env.argc - 1, env.argv + 1);
	if (!strcmp(verb, "discover"))
		return ct_discover(env.argc - 1, env.argv + 1);
	return ct_complain("probe: no verb '%s' (list, status, add, remove, discover)", verb);
}
