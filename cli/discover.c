// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * See discover.h.  Every function gets a probe that only counts; all of them belong
 * to our file of the device, so that none is left behind, however we end.  While
 * the program runs, a function that is called too often is cut off: its count is then
 * a least.  The program runs as it is, with nothing preloaded.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "device.h"
#include "discover.h"
#include "error.h"
#include "functions.h"
#include "launch.h"
#include "term.h"

/* Calls a second from which a probe is a burden: some 15 % of a core. */
#define TOO_HOT		200000.0
#define LOOK_MS		100
/* Above so many functions the time to arm is told beforehand. */
#define MANY		200

struct found {
	char name[CT_NAME_LEN + 64];
	uint64_t hits, time, missed;
	bool cut;
};

static volatile sig_atomic_t stop;

static void on_stop(int sig)
{
	(void)sig;
	stop = 1;
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static void fill(struct ct_probe_add *add, const struct ct_kfunc *f)
{
	*add = (struct ct_probe_add){
		.size = sizeof(*add),
		.flags = CT_PROBE_COUNT | CT_PROBE_OWNED,
	};
	snprintf(add->module, sizeof(add->module), "%s", f->module);
	snprintf(add->symbol, sizeof(add->symbol), "%s", f->name);
}

/* Arm them all, with progress on a terminal.  Returns how many could be. */
static size_t arm(struct ct_device *dev, const struct ct_functions *f, size_t *refused)
{
	bool progress = isatty(STDERR_FILENO);
	double begin = now(), last = begin, t;
	struct ct_probe_add add;
	size_t i, armed = 0;

	*refused = 0;
	for (i = 0; i < f->count && !stop; i++) {
		fill(&add, &f->row[i]);
		if (!ioctl(dev->fd, CT_IOC_PROBE_ADD, &add))
			armed++;
		else if (errno != EEXIST)
			++*refused;
		t = now();
		if (i == 20 && f->count > MANY)
			fprintf(stderr, "cudatrace: arming %zu functions takes about %.0f s\n",
				f->count, (t - begin) / 20 * f->count);
		if (progress && t - last > 0.2) {
			fprintf(stderr, "\rcudatrace: arming %zu of %zu ", i, f->count);
			last = t;
		}
	}
	fprintf(stderr, "%scudatrace: %zu of %zu functions armed in %.1f s%s\n",
		progress ? "\r" : "", armed, f->count, now() - begin,
		*refused ? " (the kernel does not let the others be probed)" : "");
	return armed;
}

/* The counts of all probes that we added, by index; returns how many rows. */
static size_t collect(struct ct_device *dev, struct found **found)
{
	struct ct_probe_info info;
	size_t n = 0, room = 0;
	struct found *row;
	uint32_t i;

	for (i = 0;; i++) {
		info = (struct ct_probe_info){ .size = sizeof(info), .index = i };
		if (ioctl(dev->fd, CT_IOC_GET_PROBE, &info))
			break;
		if (info.group != CT_GROUP_ADDED || !info.hits)
			continue;
		if (n == room) {
			room = room ? 2 * room : 256;
			row = realloc(*found, room * sizeof(*row));
			if (!row)
				break;
			*found = row;
		}
		row = &(*found)[n++];
		*row = (struct found){ .hits = info.hits, .time = info.time, .missed = info.missed };
		snprintf(row->name, sizeof(row->name), "%s:%s",
			 *info.module ? info.module : "vmlinux", info.symbol);
	}
	return n;
}

/* Functions cut off so far: their counts, which go with their probes. */
struct cut {
	struct found *row;
	size_t count;
};

static void cut_off(struct ct_device *dev, struct cut *cut, const struct found *f)
{
	struct ct_probe_add add = { .size = sizeof(add) };
	const char *colon = strchr(f->name, ':');
	struct found *row = realloc(cut->row, (cut->count + 1) * sizeof(*row));

	if (!row)
		return;
	cut->row = row;
	row[cut->count] = *f;
	row[cut->count++].cut = true;
	if (strncmp(f->name, "vmlinux:", 8))
		snprintf(add.module, sizeof(add.module), "%.*s", (int)(colon - f->name), f->name);
	snprintf(add.symbol, sizeof(add.symbol), "%s", colon + 1);
	ioctl(dev->fd, CT_IOC_PROBE_REMOVE, &add);
	fprintf(stderr, "cudatrace: %s is called too often, its probe is taken away\n", f->name);
}

/* Look for functions that are too hot: more calls since the start than it allows. */
static void watch(struct ct_device *dev, struct cut *cut, double seconds)
{
	struct found *found = NULL;
	size_t i, n = collect(dev, &found);

	for (i = 0; i < n; i++)
		if (found[i].hits > TOO_HOT * (seconds > 1 ? seconds : 1))
			cut_off(dev, cut, &found[i]);
	free(found);
}

static int by_hits(const void *a, const void *b)
{
	const struct found *x = a, *y = b;

	return x->hits < y->hits ? 1 : x->hits > y->hits ? -1 : strcmp(x->name, y->name);
}

static void print(struct found *found, size_t n, size_t armed)
{
	size_t i;

	qsort(found, n, sizeof(*found), by_hits);
	printf("%12s %14s %12s  %s\n", "CALLS", "TIME(us)", "us/CALL", "FUNCTION");
	for (i = 0; i < n; i++) {
		printf("%11llu%s %14.1f %12.3f  %s", (unsigned long long)found[i].hits,
		       found[i].cut ? "+" : " ", found[i].time / 1e3,
		       found[i].time / 1e3 / found[i].hits, found[i].name);
		if (found[i].missed)
			printf("  (%llu missed)", (unsigned long long)found[i].missed);
		putchar('\n');
	}
	printf("%zu of %zu functions were called\n", n, armed);
}

/* Runs the program; its status, or 126 and 127 as a shell. */
static int run(struct ct_device *dev, struct cut *cut, char **argv, struct ct_error *err)
{
	struct ct_child child = { .pid = -1 };
	double begin = now();

	if (ct_launch(&child, argv, NULL, NULL, NULL, err)) {
		ct_complain("%s", err->text);
		return child.status ? child.status : 1;
	}
	while (!ct_launch_wait(&child, LOOK_MS))
		watch(dev, cut, now() - begin);
	return child.status;
}

int ct_discover(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_stop };
	struct found *found = NULL, *all;
	struct ct_error err = { 0 };
	struct ct_functions f;
	struct ct_device dev;
	struct cut cut = { 0 };
	size_t n, armed, refused;
	int status, command = argc > 1 && !strcmp(argv[1], "--") ? 2 : 1;

	if (argc <= command)
		return ct_complain("probe discover: cudatrace probe discover GLOB -- CMD ARG...");
	if (ct_functions_find(&f, argv[0], true, &err)) {
		ct_functions_free(&f);
		return ct_complain("%s", err.text);
	}
	if (ct_device_open(&dev, &err)) {
		ct_functions_free(&f);
		return ct_complain("%s", err.text);
	}
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	/* The session first: what is added to it is armed at once. */
	if (ct_device_start(&dev, 4096, 2, 1ull << CT_GROUP_ADDED, &err)) {
		ct_functions_free(&f);
		ct_device_close(&dev);
		return ct_complain("%s", err.text);
	}
	armed = arm(&dev, &f, &refused);
	ct_functions_free(&f);
	status = stop ? ct_complain("interrupted: the program was not run") :
			run(&dev, &cut, argv + command, &err);
	n = collect(&dev, &found);
	/* With the file go all probes, in one batch. */
	ct_device_close(&dev);
	all = realloc(found, (n + cut.count) * sizeof(*all));
	if (all && cut.count)
		memcpy(all + n, cut.row, cut.count * sizeof(*all));
	if (!stop)
		print(all ? all : found, all ? n + cut.count : n, armed);
	free(all ? all : found);
	free(cut.row);
	return status;
}
