// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * cudatrace record: runs a program and records it.  Chooses the way (the module,
 * or files written by the preload library alone) and says which; the program's
 * output, status and signals are its own.
 */
#include <argp.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "cmd.h"
#include "device.h"
#include "error.h"
#include "finish.h"
#include "launch.h"
#include "registry.h"
#include "report.h"
#include "state.h"

/* How long packets may wait in the rings: a 4 MiB ring takes 7 million records a
 * second at this rate.
 */
#define DRAIN_MS	10

struct env {
	const char *dir;
	bool force, no_module, quiet;
	uint32_t subbuf_size, subbuf_count;
	uint64_t groups;
	char **argv;
};

struct recording {
	const struct env *env;
	char dir[PATH_MAX];		/* absolute */
	int dirfd;
	int lock;			/* of the directory: we write the trace */
	bool module;
	struct ct_device device;
	struct ct_registry_writer registry;
	struct ct_state state;
	struct ct_child child;
	char library[PATH_MAX];
};

enum { KEY_NO_MODULE = 0x100, KEY_SUBBUF_SIZE, KEY_SUBBUFS, KEY_GROUPS, KEY_TIME_QUERIES };

static const struct argp_option options[] = {
	{ "output", 'o', "DIR", 0, "Directory of the trace; made here (default: cudatrace-DATE-TIME)", 0 },
	{ "force", 'f', NULL, 0, "Replace DIR if it holds a trace", 0 },
	{ "no-module", KEY_NO_MODULE, NULL, 0, "Don't use the kernel module, even if it is loaded", 0 },
	{ "groups", KEY_GROUPS, "LIST", 0, "Driver functions to probe: ioctl, memory, scheduler, interrupt, context, uvm (default: all)", 0 },
	{ "time-queries", KEY_TIME_QUERIES, NULL, 0, "Time getters of a few ns too, not only count them", 0 },
	{ "subbuf-size", KEY_SUBBUF_SIZE, "BYTES", 0, "Size of a packet in the module's rings, a power of two (65536)", 0 },
	{ "subbufs", KEY_SUBBUFS, "N", 0, "Packets in each CPU's ring, a power of two (64)", 0 },
	{ "quiet", 'q', NULL, 0, "No summary at the end", 0 },
	{ 0 }
};

static const char doc[] =
	"Run a program and record what it does with CUDA.\v"
	"The status is the program's own (128 + N if signal N ended it), 127 or 126 if it could not "
	"be run, 1 if nothing could be recorded.\n\n"
	"EXAMPLES:\n"
	"  cudatrace record -- python infer.py\n"
	"  cudatrace record -o trace -f -- ./vectoradd\n"
	"  cudatrace record --no-module -o trace -- ./server --port 8000\n";

static int parse_groups(const char *list, uint64_t *groups)
{
	static const char *const words[] = {
#define CT_ROW(id, word)	word,
		CT_GROUPS(CT_ROW)
#undef CT_ROW
	};
	char *copy = strdup(list), *save, *word;
	int i;

	*groups = 0;
	for (word = strtok_r(copy, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
		i = ct_word_index(words, CT_GROUP_COUNT, word);
		if (i < 0)
			break;
		*groups |= 1ull << i;
	}
	free(copy);
	return word || !*groups ? -EINVAL : 0;
}

static uint32_t parse_power(struct argp_state *state, const char *what, const char *arg)
{
	char *end;
	unsigned long v = strtoul(arg, &end, 0);

	if (*end || !v || v & (v - 1) || v > 1u << 30)
		argp_error(state, "%s is a power of two, not '%s'", what, arg);
	return v;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct env *env = state->input;

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
	case KEY_NO_MODULE:
		env->no_module = true;
		break;
	case KEY_GROUPS:
		if (parse_groups(arg, &env->groups))
			argp_error(state, "no probe group in '%s': give some of ioctl,memory,scheduler,interrupt,context,uvm", arg);
		break;
	case KEY_TIME_QUERIES:
		setenv("CUDATRACE_TIME_QUERIES", "1", 1);
		break;
	case KEY_SUBBUF_SIZE:
		env->subbuf_size = parse_power(state, "--subbuf-size", arg);
		break;
	case KEY_SUBBUFS:
		env->subbuf_count = parse_power(state, "--subbufs", arg);
		break;
	case ARGP_KEY_ARGS:
		env->argv = state->argv + state->next;
		break;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "no program to record: cudatrace record [-o DIR] -- CMD ARGS");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* ------------------------------------------------------ the directory ---- */

/* Only what a recording made is ever removed. */
static bool is_ours(const char *name)
{
	return !strcmp(name, "metadata") || !strcmp(name, "state") ||
	       !strcmp(name, CT_REGISTRY_FILE) || !strncmp(name, ".open-", 6) ||
	       !strncmp(name, "k-", 2) || !strncmp(name, "u-", 2) ||
	       !strncmp(name, ".metadata", 9) || !strcmp(name, ".lock");
}

static int remove_trace(const char *dir, struct ct_error *err)
{
	struct dirent *entry;
	DIR *d = opendir(dir);

	if (!d)
		return ct_fail(err, errno, "%s: %s", dir, strerror(errno));
	if (faccessat(dirfd(d), CT_REGISTRY_FILE, F_OK, 0) &&
	    faccessat(dirfd(d), CT_METADATA_FILE, F_OK, 0)) {
		readdir(d);
		closedir(d);
		if (!rmdir(dir))
			return 0;
		return ct_fail(err, EEXIST, "%s is no trace: it is left alone (give another -o)", dir);
	}
	while ((entry = readdir(d)))
		if (is_ours(entry->d_name))
			unlinkat(dirfd(d), entry->d_name, 0);
	closedir(d);
	if (rmdir(dir))
		return ct_fail(err, errno, "%s holds files that are not of a trace: %s (give another -o)",
			       dir, strerror(errno));
	return 0;
}

static int make_directory(struct recording *rec, struct ct_error *err)
{
	const struct env *env = rec->env;
	char name[64];
	const char *dir = env->dir;
	time_t now = time(NULL);
	int ret;

	if (!dir) {
		strftime(name, sizeof(name), "cudatrace-%Y%m%d-%H%M%S", localtime(&now));
		dir = name;
	}
	if (!access(dir, F_OK)) {
		if (!env->force)
			return ct_fail(err, EEXIST, "%s exists already: give another -o, or -f to replace it", dir);
		ret = remove_trace(dir, err);
		if (ret)
			return ret;
	}
	/* Programs that change their user write into it too. */
	if (mkdir(dir, 0777))
		return ct_fail(err, errno, "%s can't be made: %s", dir, strerror(errno));
	if (!realpath(dir, rec->dir))
		return ct_fail(err, errno, "%s: %s", dir, strerror(errno));
	rec->dirfd = open(rec->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (rec->dirfd < 0)
		return ct_fail(err, errno, "%s: %s", dir, strerror(errno));
	rec->lock = ct_trace_lock(rec->dir);
	return rec->lock < 0 ? ct_fail(err, -rec->lock, "%s: %s", dir, strerror(-rec->lock)) : 0;
}

static void abandon_directory(struct recording *rec)
{
	struct ct_error ignored;

	if (rec->dir[0])
		remove_trace(rec->dir, &ignored);
}

/* ------------------------------------------------------ the trace -------- */

static uint64_t clock_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static void add_driver_version(struct recording *rec)
{
	char line[256], *p;
	FILE *f = fopen("/proc/driver/nvidia/version", "re");

	if (!f)
		return;
	p = fgets(line, sizeof(line), f);
	fclose(f);
	if (p) {
		line[strcspn(line, "\n")] = '\0';
		ct_registry_add_info(&rec->registry, "driver", line);
	}
}

static void add_infos(struct recording *rec)
{
	char command[4096] = "";
	size_t len = 0;
	struct utsname uts;
	char **arg;

	for (arg = rec->env->argv; *arg && len < sizeof(command) - 1; arg++)
		len += snprintf(command + len, sizeof(command) - len, "%s%s",
				arg == rec->env->argv ? "" : " ", *arg);
	uname(&uts);
	ct_registry_add_info(&rec->registry, "tracer", "cudatrace " CT_VERSION);
	ct_registry_add_info(&rec->registry, "way", rec->module ? "module" : "files");
	ct_registry_add_info(&rec->registry, "command", command);
	ct_registry_add_info(&rec->registry, "hostname", uts.nodename);
	ct_registry_add_info(&rec->registry, "kernel", uts.release);
	add_driver_version(rec);
}

static int make_registry(struct recording *rec, struct ct_error *err)
{
	uint64_t start = clock_ns(CLOCK_MONOTONIC), realtime = clock_ns(CLOCK_REALTIME);
	uint8_t uuid[16];
	int ret;

	if (rec->module) {
		memcpy(uuid, rec->device.session.uuid, sizeof(uuid));
		realtime -= start - rec->device.session.start;
		start = rec->device.session.start;
	} else if (getrandom(uuid, sizeof(uuid), 0) != sizeof(uuid)) {
		return ct_fail(err, errno, "no random numbers: %s", strerror(errno));
	}
	ret = ct_registry_create(&rec->registry, rec->dir, uuid, start, realtime, err);
	if (ret)
		return ret;
	add_infos(rec);
	ret = ct_state_open(&rec->state, rec->dirfd, uuid);
	if (ret)
		return ct_fail(err, -ret, "%s/state: %s", rec->dir, strerror(-ret));
	ct_state_clock(&rec->state);
	return 0;
}

/* Say which way is taken, and why not the better one. */
static void choose_way(struct recording *rec)
{
	const struct env *env = rec->env;
	struct ct_error err = { 0 };
	int ret;

	if (env->no_module) {
		fprintf(stderr, "cudatrace: recording without the module, as asked: the kernel driver's inside is not seen\n");
		return;
	}
	ret = ct_device_open(&rec->device, &err);
	if (!ret)
		ret = ct_device_start(&rec->device, env->subbuf_size, env->subbuf_count,
				      env->groups, &err);
	rec->module = !ret;
	if (rec->module) {
		fprintf(stderr, "cudatrace: recording through the module, %u CPUs\n",
			rec->device.session.cpus);
		return;
	}
	ct_device_close(&rec->device);
	fprintf(stderr, "cudatrace: recording without the module, the kernel driver's inside is not seen: %s\n",
		err.text);
}

/* What the probes and the rings say of themselves, into the state stream. */
static void write_probes(struct recording *rec)
{
	struct ct_probe_info info;
	uint32_t i;

	for (i = 0;; i++) {
		info = (struct ct_probe_info){ .size = sizeof(info), .index = i };
		if (ioctl(rec->device.fd, CT_IOC_GET_PROBE, &info))
			break;
		ct_state_probe(&rec->state, &info);
	}
}

static void write_streams(struct recording *rec)
{
	uint32_t cpu;

	for (cpu = 0; cpu < rec->device.session.cpus; cpu++)
		if (rec->device.ring[cpu].status)
			ct_state_stream(&rec->state, cpu, rec->device.ring[cpu].status);
}

/* Copy packets until the program has ended.  A full disk ends the copying only. */
static void follow(struct recording *rec)
{
	struct ct_error err = { 0 };
	bool broken = false;

	while (!ct_launch_wait(&rec->child, rec->module ? DRAIN_MS : -1)) {
		if (!rec->module || broken)
			continue;
		if (ct_device_drain(&rec->device, rec->dirfd, false, &err) < 0) {
			ct_complain("%s", err.text);
			broken = true;
		}
		ct_device_registry(&rec->device, &rec->registry);
	}
	if (!rec->module)
		return;
	write_probes(rec);
	ct_device_stop(&rec->device);
	if (!broken && ct_device_drain(&rec->device, rec->dirfd, true, &err) < 0)
		ct_complain("%s", err.text);
	write_streams(rec);
	ct_device_registry(&rec->device, &rec->registry);
}

static int finish(struct recording *rec)
{
	struct ct_error err = { 0 };
	int ret;

	ct_state_clock(&rec->state);
	ret = ct_state_close(&rec->state);
	if (ret)
		return ct_complain("%s/state: %s", rec->dir, strerror(-ret));
	ct_registry_close(&rec->registry);
	ct_device_close(&rec->device);
	ret = ct_finish(rec->dir, CT_FINISH_ALL_DEAD, &err);
	ct_trace_unlock(rec->dir, rec->lock);
	return ret ? ct_complain("%s", err.text) : 0;
}

int cmd_record(int argc, char **argv)
{
	static const struct argp argp = { options, parse, "-- CMD [ARG...]", doc, NULL, NULL, NULL };
	struct env env = { .groups = ~0ull };
	struct recording rec = { .env = &env, .dirfd = -1, .device.fd = -1 };
	struct ct_error err = { 0 };

	/* Options end at the program's name: its own are not ours. */
	if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &env))
		return 1;
	if (ct_launch_library(rec.library, sizeof(rec.library), &err) ||
	    make_directory(&rec, &err))
		return ct_complain("%s", err.text);
	choose_way(&rec);
	if (make_registry(&rec, &err)) {
		abandon_directory(&rec);
		return ct_complain("%s", err.text);
	}
	if (ct_launch(&rec.child, env.argv, rec.library, rec.dir,
		      rec.module ? "device" : "files", &err)) {
		ct_registry_close(&rec.registry);
		ct_state_close(&rec.state);
		ct_device_close(&rec.device);
		abandon_directory(&rec);
		ct_complain("%s", err.text);
		return rec.child.status ? rec.child.status : 1;
	}
	follow(&rec);
	if (finish(&rec))
		return rec.child.status ? rec.child.status : 1;
	fprintf(stderr, "cudatrace: trace in %s\n", env.dir ? env.dir : rec.dir);
	if (!env.quiet && ct_report_summary(rec.dir, stderr, &err))
		ct_complain("%s", err.text);
	return rec.child.status;
}
