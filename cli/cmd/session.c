// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * cudatrace session: controls the module's session: a flight recorder that runs without
 * a recorder process, and what it records.
 */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "attach/in_session.h"
#include "base/error.h"
#include "base/options.h"
#include "capture/device.h"
#include "capture/launch.h"
#include "capture/ring.h"
#include "capture/session.h"
#include "cmd/cmd.h"
#include "cmd/common/which_calls.h"
#include "trace/class.h"

#define CT_SESSION_PIDS	1024	/* on one command line */

struct env;

struct verb {
	const char *name;
	int (*run)(struct env *env);
	uint32_t takes;			/* options: OPTION_BIT() */
};

struct env {
	const struct verb *verb;
	uint32_t given;			/* options, as bits */
	struct ct_in_session in;	/* attach, detach */
	struct ct_which_calls calls;	/* attach */
	pid_t pids[CT_SESSION_PIDS];
	struct ct_session session;
	uint32_t ring_size;
	struct ct_filter filter;
	struct ct_limits limits;
};

enum { KEY_FIRST = 0x100, KEY_RING_SIZE = KEY_FIRST, KEY_SUBBUF_SIZE, KEY_SUBBUFS, KEY_GROUPS, KEY_PID, KEY_CHILDREN, KEY_UID,
       KEY_COMM, KEY_CGROUP, KEY_TYPE, KEY_NONE, KEY_RATE, KEY_BANDWIDTH, KEY_SHARE, KEY_BY,
       KEY_ALL, KEY_WATCH, KEY_FORCE, KEY_CALLS /* any of ct_which_calls_argp */,
       KEY_GPU, KEY_GPU_METRICS, KEY_STACKS, KEY_SAMPLE, KEY_NO_NVTX };

#define OPTION_BIT(key)	(1u << ((key) - KEY_FIRST))

static const struct argp_option options[] = {
	{ NULL, 0, NULL, 0, "For start:", 1 },
	{ "groups", KEY_GROUPS, "LIST", 0, "What to record in the kernel: ioctl, memory, scheduler, interrupt, context, uvm, added, fence, switch (default: all)", 1 },
	{ "ring-size", KEY_RING_SIZE, "BYTES", 0, "Memory of each CPU's ring, as 32M (default: 1M to 16M, by memory and CPUs)", 1 },
	{ "subbuf-size", KEY_SUBBUF_SIZE, "BYTES", 0, "Size of a packet, a power of two (65536)", 1 },
	{ "subbufs", KEY_SUBBUFS, "N", 0, "Packets in each CPU's ring, a power of two, instead of --ring-size", 1 },
	{ NULL, 0, NULL, 0, "For filter (each may be repeated; a record passes if it passes every kind):", 2 },
	{ "pid", KEY_PID, "PID[,PID]", 0, "This process; also for attach and detach", 2 },
	{ "children", KEY_CHILDREN, NULL, 0, "And the processes that it forks from now on", 2 },
	{ "uid", KEY_UID, "USER", 0, "Tasks of this user, by name or number", 2 },
	{ "comm", KEY_COMM, "NAME", 0, "Tasks whose command name begins with NAME", 2 },
	{ "cgroup", KEY_CGROUP, "DIR", 0, "Tasks in this cgroup v2 directory or below", 2 },
	{ "type", KEY_TYPE, "TYPE", 0, "Records of this type: memory, transfer, kernel, ioctl, ...", 2 },
	{ "none", KEY_NONE, NULL, 0, "Remove the filter", 2 },
	{ NULL, 0, NULL, 0, "For limit (of each producer; without an option there is no such limit):", 3 },
	{ "rate", KEY_RATE, "N", 0, "Records a second; a burst may have as many as one second", 3 },
	{ "bandwidth", KEY_BANDWIDTH, "BYTES", 0, "Bytes a second", 3 },
	{ "share", KEY_SHARE, "PERCENT", 0, "Of each CPU's ring, in a lossless session, before it is read (75; 100: all)", 3 },
	{ "by", KEY_BY, "WHAT", 0, "What a producer is: user (the default; a container is one user), process or cgroup", 3 },
	{ NULL, 0, NULL, 0, "For attach and detach:", 4 },
	{ "all", KEY_ALL, NULL, 0, "Every process that has libcuda mapped; for detach: that was attached to", 4 },
	{ "watch", KEY_WATCH, NULL, 0, "With attach --all: stay, and attach to programs that start, until the session ends or Ctrl-C", 4 },
	{ "force", KEY_FORCE, NULL, 0, "Attach also to a process of which calls will be missed", 4 },
	/* Those of record that a session can't have. */
	{ "gpu", KEY_GPU, "WHAT", OPTION_ARG_OPTIONAL | OPTION_HIDDEN, NULL, 4 },
	{ "gpu-metrics", KEY_GPU_METRICS, "HZ", OPTION_ARG_OPTIONAL | OPTION_HIDDEN, NULL, 4 },
	{ "stacks", KEY_STACKS, "WHAT", OPTION_ARG_OPTIONAL | OPTION_HIDDEN, NULL, 4 },
	{ "sample", KEY_SAMPLE, "HZ", OPTION_ARG_OPTIONAL | OPTION_HIDDEN, NULL, 4 },
	{ "no-nvtx", KEY_NO_NVTX, NULL, OPTION_HIDDEN, NULL, 4 },
	{ 0 }
};

static const char doc[] =
	"Control the module's session.\n\n"
	"VERB is one of\n"
	"  start    start a flight recorder, which overwrites its oldest records\n"
	"  stop     end the session\n"
	"  status   show the session, its owner and its losses\n"
	"  pause, resume\n"
	"  flush    make all records until now readable\n"
	"  filter   choose what is recorded; without options: show the filter\n"
	"  limit    limit what a producer may record; without options: show that\n"
	"  attach   bring calls of programs that already run into the session\n"
	"  detach   leave them as they were\n\n"
	"The session has what the driver does for every process, and the calls of\n"
	"programs that were started with LD_PRELOAD=libcudatrace.so, or attached to:\n"
	"these are in each session, until none has run for 5 seconds. (Calls of a\n"
	"program that record --pid attached to go to the trace of that command.)\v"
	"EXAMPLES:\n"
	"  cudatrace session start && cudatrace session status\n"
	"  cudatrace snapshot -o last --last 10\n"
	"  cudatrace session filter --pid 4711 --children\n"
	"  cudatrace session filter --none\n"
	"  cudatrace session start --groups ioctl,memory --ring-size 16M\n"
	"  cudatrace session limit --rate 100000 --by process\n"
	"  cudatrace session attach --pid 4711 --types kernel,transfer,sync\n"
	"  cudatrace session attach --all && cudatrace session detach --all\n";

/* ------------------------------------------------------ what verbs do ------ */

/* By the flags of struct ct_limits. */
static const char *const producers[] = {
	[0] = "user", [CT_LIMIT_PROCESS] = "process", [CT_LIMIT_CGROUP] = "cgroup",
};

/* There is a flight recorder without the module, too. */
static int session_complain(const struct ct_error *err)
{
	return ct_complain("%s%s", err->text, err->code == ENOENT ? "; without it cudatrace record --keep is a flight recorder, with --pid of programs that run" : "");
}

/* The device for changing something. */
static int session_open_for_change(struct ct_device *dev)
{
	struct ct_error err = { 0 };

	return ct_device_open(dev, &err) ? session_complain(&err) : 0;
}

static int session_change(unsigned long cmd, void *arg, const char *what)
{
	struct ct_error err = { 0 };

	return ct_session_control(cmd, arg, what, &err) ? session_complain(&err) : 0;
}

static int session_start(struct env *env)
{
	struct ct_session *s = &env->session;
	/* Sizes that somebody chose are not made smaller behind his back. */
	bool chosen = s->subbuf_count;
	struct ct_device dev;
	uint64_t wanted;
	int ret;

	s->size = sizeof(*s);
	s->flags = CT_SESSION_OVERWRITE | CT_SESSION_PERSISTENT;
	if (session_open_for_change(&dev))
		return 1;
	ret = ct_ring_start(dev.fd, s, !chosen, &wanted);
	if (ret)
		ret = ret == -EBUSY ?
			      ct_complain("process %u records already (cudatrace session status)",
					  s->owner_pid) :
		      ret == -EINVAL ?
			      ct_complain(
				      "sizes: a packet has 4096 bytes to 16 MiB, a ring 2 packets to 1 GiB, both powers of two") :
			      ct_complain("the module refused to start: %s", strerror(-ret));
	ct_device_close(&dev);
	return ret;
}

static int session_status(struct env *env)
{
	struct ct_error err = { 0 };
	struct ct_device dev;
	static const char *const reason[] = {
#define CT_ROW(id, word)	[CT_LOST_##id] = word,
		CT_LOSSES(CT_ROW)
#undef CT_ROW
	};
	struct ct_limits l = { .size = sizeof(l) };
	struct ct_session_totals t;

	(void)env;
	if (ct_device_attach(&dev, false, &err))
		return session_complain(&err);
	ct_session_totals(&dev, &t);
	printf("session      started by process %u%s%s%s\n", dev.session.owner_pid,
	       dev.session.flags & CT_SESSION_PERSISTENT ? ", runs on without it" : "",
	       dev.session.flags & CT_SESSION_PAUSED ? ", paused" : "",
	       dev.session.flags & CT_SESSION_DEFAULT ? ", for a reader of " CT_DEVICE_PATH : "");
	printf("mode         %s\n", dev.session.flags & CT_SESSION_OVERWRITE ?
	       "flight recorder: the oldest records are overwritten" : "lossless: records for which a ring has no space are dropped and counted");
	printf("rings        %u CPUs, %u packets of %u bytes each\n", dev.session.cpus,
	       dev.session.subbuf_count, dev.session.subbuf_size);
	printf("probes       %llu KiB of the kernel's memory for open calls\n",
	       (unsigned long long)(dev.session.probe_memory + 1023) / 1024);
	printf("records      %llu written, %llu lost, %llu packets overwritten\n",
	       (unsigned long long)t.records, (unsigned long long)t.lost,
	       (unsigned long long)t.overwritten);
	for (unsigned int i = 0; i < CT_LOST_REASONS; i++)
		if (t.lost_for[i])
			printf("lost         %llu (%s)\n", (unsigned long long)t.lost_for[i], reason[i]);
	if (!ioctl(dev.fd, CT_IOC_GET_LIMITS, &l) && (l.share < 100 || l.records || l.bytes)) {
		printf("producers    %llu of %u entries in use\n", (unsigned long long)l.producers,
		       CT_LIMIT_PRODUCERS);
		if (l.shared)
			printf("producers    %llu charges to the entry that further ones share\n",
			       (unsigned long long)l.shared);
	}
	printf("triggers     %u fired\n", dev.facts->triggers);
	ct_device_close(&dev);
	return 0;
}

static int session_show_filter(void)
{
	struct ct_filter f = { .size = sizeof(f) };
	uint32_t i;

	if (session_change(CT_IOC_GET_FILTER, &f, "filter"))
		return 1;
	for (i = 0; i < f.pids; i++)
		printf("--pid %u\n", f.pid[i]);
	if (f.flags & CT_FILTER_CHILDREN)
		printf("--children\n");
	for (i = 0; i < f.uids; i++)
		printf("--uid %u\n", f.uid[i]);
	for (i = 0; i < f.comms; i++)
		printf("--comm %.15s\n", f.comm[i]);
	if (f.cgroups)
		printf("--cgroup (%u of them)\n", f.cgroups);
	for (i = 0; i < CT_CAT_COUNT; i++)
		if (f.categories & 1ull << i)
			printf("--type %s\n", ct_category_word[i]);
	if (!f.pids && !f.uids && !f.comms && !f.cgroups && !f.categories)
		printf("--none\n");
	return 0;
}

static int session_show_limits(void)
{
	struct ct_limits l = { .size = sizeof(l) };

	if (session_change(CT_IOC_GET_LIMITS, &l, "limit"))
		return 1;
	printf("--by %s\n", l.flags <= CT_LIMIT_CGROUP ? producers[l.flags] : "?");
	if (l.records)
		printf("--rate %llu\n", (unsigned long long)l.records);
	if (l.bytes)
		printf("--bandwidth %llu\n", (unsigned long long)l.bytes);
	printf("--share %u\n", l.share);
	return 0;
}

static int session_stop(struct env *env)
{
	return session_change(CT_IOC_STOP, NULL, env->verb->name);
}

static int session_pause(struct env *env)
{
	return session_change(CT_IOC_PAUSE, NULL, env->verb->name);
}

static int session_resume(struct env *env)
{
	return session_change(CT_IOC_RESUME, NULL, env->verb->name);
}

static int session_flush(struct env *env)
{
	return session_change(CT_IOC_FLUSH, NULL, env->verb->name);
}

static int session_filter(struct env *env)
{
	return env->given ? session_change(CT_IOC_FILTER, &env->filter, env->verb->name) : session_show_filter();
}

static int session_limit(struct env *env)
{
	return env->given ? session_change(CT_IOC_LIMITS, &env->limits, env->verb->name) : session_show_limits();
}

static int session_in(struct env *env, __typeof__(ct_in_session_attach) *what)
{
	struct ct_error err = { 0 };
	char library[PATH_MAX];

	env->in.pids = env->pids;
	env->in.range = &env->calls.range;
	env->in.options = env->calls.given != NULL;
	if (ct_launch_library(library, sizeof(library), &err))
		return ct_complain("%s", err.text);
	return what(&env->in, library, &err) ? session_complain(&err) : 0;
}

static int session_attach(struct env *env)
{
	return session_in(env, ct_in_session_attach);
}

static int session_detach(struct env *env)
{
	return session_in(env, ct_in_session_detach);
}

/* ------------------------------------------------------ verbs -------------- */

#define WHICH	(OPTION_BIT(KEY_PID) | OPTION_BIT(KEY_ALL))

static const struct verb verbs[] = {
	{ "start", session_start, OPTION_BIT(KEY_GROUPS) | OPTION_BIT(KEY_RING_SIZE) | OPTION_BIT(KEY_SUBBUF_SIZE) | OPTION_BIT(KEY_SUBBUFS) },
	{ "stop", session_stop, 0 },
	{ "status", session_status, 0 },
	{ "pause", session_pause, 0 },
	{ "resume", session_resume, 0 },
	{ "flush", session_flush, 0 },
	{ "filter", session_filter, OPTION_BIT(KEY_PID) | OPTION_BIT(KEY_CHILDREN) | OPTION_BIT(KEY_UID) | OPTION_BIT(KEY_COMM) |
				    OPTION_BIT(KEY_CGROUP) | OPTION_BIT(KEY_TYPE) | OPTION_BIT(KEY_NONE) },
	{ "limit", session_limit, OPTION_BIT(KEY_RATE) | OPTION_BIT(KEY_BANDWIDTH) | OPTION_BIT(KEY_SHARE) | OPTION_BIT(KEY_BY) },
	{ "attach", session_attach, WHICH | OPTION_BIT(KEY_WATCH) | OPTION_BIT(KEY_FORCE) | OPTION_BIT(KEY_CALLS) },
	{ "detach", session_detach, WHICH },
};

#define VERBS	(sizeof(verbs) / sizeof(verbs[0]))

/* ------------------------------------------------------ the command line --- */

static uint32_t session_number(struct argp_state *state, const char *what, const char *arg)
{
	char *end;
	unsigned long v = strtoul(arg, &end, 10);

	if (*end || !*arg || v > UINT32_MAX)
		argp_error(state, "%s is a number, not '%s'", what, arg);
	return v;
}

static uint32_t session_user(struct argp_state *state, const char *arg)
{
	struct passwd *pw = getpwnam(arg);

	return pw ? pw->pw_uid : session_number(state, "--uid of no user's name", arg);
}

/* One more of a part of the filter. */
static uint32_t session_next(struct argp_state *state, uint32_t *count)
{
	if (*count == CT_FILTER_MAX)
		argp_error(state, "a filter has at most %d of each kind", CT_FILTER_MAX);
	return (*count)++;
}

static void session_pids(struct argp_state *state, struct env *env, char *arg)
{
	for (char *p = strtok(arg, ","); p; p = strtok(NULL, ",")) {
		uint32_t pid = session_number(state, "--pid", p);

		if (!pid || pid > INT32_MAX)
			argp_error(state, "--pid: '%s' is no process number", p);
		if (env->in.count == CT_SESSION_PIDS)
			argp_error(state, "--pid: at most %d processes", CT_SESSION_PIDS);
		env->pids[env->in.count++] = (pid_t)pid;
	}
	if (!env->in.count)
		argp_failure(state, CT_USAGE, 0, "--pid: give process numbers, with commas between them");
}

/* The names of those that take the option, or with 0 of all: "start, stop, ... or detach". */
static const char *session_verbs(uint32_t option, const char *last)
{
	static char text[128];
	unsigned int count = 0, left;
	size_t used = 0;

	for (unsigned int i = 0; i < VERBS; i++)
		count += (verbs[i].takes & option) == option;
	left = count;
	for (unsigned int i = 0; i < VERBS; i++) {
		if ((verbs[i].takes & option) != option)
			continue;
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", left == count ? "" : left == 1 ? last : ", ",
					 verbs[i].name);
		left--;
	}
	return text;
}

/* "--groups" */
static const char *session_option(const struct env *env, int key)
{
	static char text[32];

	if (key == KEY_CALLS)
		return env->calls.given;
	for (unsigned int i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (options[i].name && options[i].key == key)
			snprintf(text, sizeof(text), "--%s", options[i].name);
	return text;
}

static void session_verb(struct argp_state *state, struct env *env, const char *word)
{
	if (env->verb)
		argp_failure(state, CT_USAGE, 0, "one verb at a time, not '%s' too", word);
	for (unsigned int i = 0; i < VERBS; i++)
		if (!strcmp(verbs[i].name, word))
			env->verb = &verbs[i];
	if (!env->verb)
		argp_failure(state, CT_USAGE, 0, "no verb '%s' (%s)", word, session_verbs(0, ", "));
}

/* Those that were given, and the verb. */
static void session_check(struct argp_state *state, struct env *env)
{
	bool in = env->verb->run == session_attach || env->verb->run == session_detach;

	if (env->calls.given)
		env->given |= OPTION_BIT(KEY_CALLS);
	for (int key = KEY_FIRST; key <= KEY_CALLS; key++)
		if (env->given & ~env->verb->takes & OPTION_BIT(key))
			argp_failure(state, CT_USAGE, 0, "%s takes no %s, which goes with %s", env->verb->name, session_option(env, key),
				   session_verbs(OPTION_BIT(key), " and "));
	if (in && !env->in.count == !env->in.all)
		argp_failure(state, CT_USAGE, 0, "%s: give --pid or --all", env->verb->name);
	if (env->in.watch && !env->in.all)
		argp_failure(state, CT_USAGE, 0, "--watch goes with attach --all");
	if (env->calls.range.first)
		argp_failure(state, CT_USAGE, 0, "--capture-range iteration: a session does not cut itself: cudatrace record --pid PID --capture-range %s",
			   env->calls.range.text);
	if (env->given & OPTION_BIT(KEY_NONE) && env->given & ~OPTION_BIT(KEY_NONE))
		argp_failure(state, CT_USAGE, 0, "filter: --none goes alone");
	if (env->given & OPTION_BIT(KEY_CHILDREN) && !env->in.count)
		argp_failure(state, CT_USAGE, 0, "filter: --children goes with --pid");
	for (unsigned int i = 0; i < env->in.count && !in; i++)
		env->filter.pid[session_next(state, &env->filter.pids)] = (uint32_t)env->pids[i];
}

/* What the library writes beside its calls needs a directory: a session has none. */
static void session_refuse(struct argp_state *state, int key)
{
	const char *option = session_option(state->input, key);

	if (key == KEY_NO_NVTX)
		argp_failure(state, CT_USAGE, 0, "--no-nvtx: NVTX ranges of what is attached to are there only if it stands by with NVTX_INJECTION64_PATH set: start it without");
	argp_failure(state, CT_USAGE, 0, "%s: a session has no directory for that: use cudatrace record --pid PID --keep 60s %s, which can run beside the session",
		     option, option);
}

static error_t session_parse(int key, char *arg, struct argp_state *state)
{
	struct env *env = state->input;
	struct ct_filter *f = &env->filter;
	int i;

	if (key >= KEY_GPU && key <= KEY_NO_NVTX)
		session_refuse(state, key);
	if (key >= KEY_FIRST && key < KEY_CALLS)
		env->given |= OPTION_BIT(key);
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &env->calls;
		break;
	case KEY_GROUPS:
		if (ct_option_groups(arg, &env->session.groups))
			argp_error(state, "no probe group in '%s': give some of " CT_OPTION_GROUPS, arg);
		break;
	case KEY_RING_SIZE:
		env->ring_size = ct_option_bytes(state, "--ring-size", arg);
		break;
	case KEY_SUBBUF_SIZE:
		env->session.subbuf_size = ct_option_power(state, "--subbuf-size", arg);
		break;
	case KEY_SUBBUFS:
		env->session.subbuf_count = ct_option_power(state, "--subbufs", arg);
		break;
	case KEY_PID:
		session_pids(state, env, arg);
		break;
	case KEY_ALL:
		env->in.all = true;
		break;
	case KEY_WATCH:
		env->in.watch = true;
		break;
	case KEY_FORCE:
		env->in.partly = true;
		break;
	case KEY_CHILDREN:
		f->flags |= CT_FILTER_CHILDREN;
		break;
	case KEY_UID:
		f->uid[session_next(state, &f->uids)] = session_user(state, arg);
		break;
	case KEY_COMM:
		if (!*arg || strlen(arg) > 15)
			argp_error(state, "--comm: a command name has 1 to 15 characters, not '%s'", arg);
		memcpy(f->comm[session_next(state, &f->comms)], arg, strlen(arg));
		break;
	case KEY_CGROUP:
		i = open(arg, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (i < 0)
			argp_error(state, "--cgroup %s: %s", arg, strerror(errno));
		f->cgroup[session_next(state, &f->cgroups)] = i;
		break;
	case KEY_TYPE:
		i = ct_word_index(ct_category_word, CT_CAT_COUNT, arg);
		if (i < 0)
			argp_error(state, "no type '%s' (types: see \"type\" in the JSON Lines)", arg);
		f->categories |= 1ull << i;
		break;
	case KEY_NONE:
		break;
	case KEY_RATE:
		env->limits.records = session_number(state, "--rate", arg);
		break;
	case KEY_BANDWIDTH:
		env->limits.bytes = session_number(state, "--bandwidth", arg);
		break;
	case KEY_SHARE:
		env->limits.share = session_number(state, "--share", arg);
		if (!env->limits.share || env->limits.share > 100)
			argp_error(state, "--share is 1 to 100 percent, not '%s'", arg);
		break;
	case KEY_BY:
		i = ct_word_index(producers, 3, arg);
		if (i < 0)
			argp_error(state, "--by is user, process or cgroup, not '%s'", arg);
		env->limits.flags = i;
		break;
	case ARGP_KEY_ARG:
		session_verb(state, env, arg);
		break;
	case ARGP_KEY_END:
		ct_option_ring(state, env->ring_size, &env->session.subbuf_size,
			       &env->session.subbuf_count);
		session_check(state, env);
		break;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "no verb: %s", session_verbs(0, " or "));
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

int cmd_session(int argc, char **argv)
{
	static const struct argp_child children[] = { { &ct_which_calls_argp, 0, "For attach, as for record (iteration: is record's alone):", 5 }, { 0 } };
	static const struct argp argp = { options, session_parse, "VERB", doc, children, NULL, NULL };
	struct env env = { .session.groups = ~0ull };

	env.filter.size = sizeof(env.filter);
	env.limits.size = sizeof(env.limits);
	if (argp_parse(&argp, argc, argv, 0, NULL, &env))
		return 1;
	return env.verb->run(&env);
}
