// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * See discover.h.  Every function gets a probe that only counts.  All probes belong to
 * our open file of the device, so that none stays, however this command ends.  While
 * the program runs, the probe of a function that is called too often is removed: its
 * count is then a lower bound.  The program runs as it is, with nothing preloaded.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "capture/device.h"
#include "capture/launch.h"
#include "probe/discover.h"
#include "probe/functions.h"
#include "view/term.h"

/*
 * When a probe is removed: when its handlers take this share of the time, which does not
 * depend on the machine's speed, or at so many calls a second, because the kernel's own
 * time to reach the handlers is not in the share.
 */
#define TOO_MUCH	0.05
#define TOO_HOT		200000.0
#define LOOK_MS		100
/*
 * Reading all counts may take 1/LOOK_SHARE of a processor; but it is done at least every
 * LOOK_MOST_MS, to find a function while it is called too often.
 */
#define LOOK_SHARE	20
#define LOOK_MOST_MS	500
/* For more functions than MANY, arming prints an estimate first, from SAMPLE of each kind. */
#define MANY		200
#define SAMPLE		25

struct found {
	char name[CT_NAME_LEN + 64];
	uint64_t hits, time, missed, cost;
	bool cut;
};

static volatile sig_atomic_t stop;

static void discover_on_stop(int sig)
{
	(void)sig;
	stop = 1;
}

static double discover_now(void)
{
	return ct_now_ns() / 1e9;
}

static void discover_fill(struct ct_probe_add *add, const struct ct_kfunc *f)
{
	*add = (struct ct_probe_add){
		.size = sizeof(*add),
		.flags = CT_PROBE_COUNT | CT_PROBE_OWNED | CT_PROBE_LATER,
	};
	snprintf(add->module, sizeof(add->module), "%s", f->module);
	snprintf(add->symbol, sizeof(add->symbol), "%s", f->name);
}

/* The functions still to be armed: those with an ftrace site, then the others. */
struct queue {
	const struct ct_kfunc **next[2], **end[2];
	size_t batch[2];	/* armed together; between two, Ctrl-C is heeded */
	/* Time of whole batches until now, which is more exact than a sample. */
	double seconds[2];
	size_t done[2];
	double sample[2]; /* seconds a function, by discover_estimate() */
};

/* Arm the next @n of a kind together; returns the seconds that it took. */
static double discover_arm_batch(struct ct_device *dev, struct queue *q, int kind, size_t n)
{
	struct ct_probe_add probe;
	double begin = discover_now();

	for (; n && q->next[kind] < q->end[kind]; n--) {
		discover_fill(&probe, *q->next[kind]++);
		ioctl(dev->fd, CT_IOC_PROBE_ADD, &probe);
	}
	ioctl(dev->fd, CT_IOC_PROBE_ARM);
	return discover_now() - begin;
}

/*
 * Prints how long arming will take, from small batches of each kind: a batch has a fixed
 * cost, and each function in it has one.
 */
static void discover_estimate(struct ct_device *dev, struct queue *q, size_t all)
{
	double seconds = 0, small, large, each;
	size_t remaining;
	int kind;

	for (kind = 0; kind < 2 && !stop; kind++) {
		/* The first batch of all takes longer than the others. */
		discover_arm_batch(dev, q, kind, SAMPLE);
		small = discover_arm_batch(dev, q, kind, SAMPLE);
		large = discover_arm_batch(dev, q, kind, 3 * SAMPLE);
		remaining = q->end[kind] - q->next[kind];
		each = large > small ? (large - small) / (2 * SAMPLE) : 0;
		small = small > each * SAMPLE ? small - each * SAMPLE : 0;
		/* Batches of two seconds or so: each costs a pass over all of ftrace's sites. */
		q->batch[kind] = each * 4000 < 2 ? 4000 : each * 50 > 2 ? 50 : 2 / each;
		q->sample[kind] = each + small / q->batch[kind];
		seconds += remaining * each +
			   (remaining + q->batch[kind] - 1) / q->batch[kind] * small;
	}
	fprintf(stderr,
		"cudatrace: arming %zu functions takes about %.0f s (Ctrl-C stops it and removes all probes)\n",
		all, seconds < 1 ? 1 : seconds);
}

/* Seconds for the functions that are not armed yet, at the speed until now, or the sample's. */
static double discover_to_go(const struct queue *q)
{
	double seconds = 0, each;
	size_t remaining;
	int kind;

	for (kind = 0; kind < 2; kind++) {
		remaining = q->end[kind] - q->next[kind];
		each = q->done[kind] ? q->seconds[kind] / q->done[kind] : q->sample[kind];
		seconds += remaining * each;
	}
	return seconds;
}

/*
 * Longer functions take longer to arm, and functions with similar names are similar: in a
 * random order the first few are a fair sample.
 */
static void discover_shuffle(const struct ct_kfunc **row, size_t count)
{
	const struct ct_kfunc *other;
	size_t i;

	srand(1);
	for (; count > 1; count--) {
		i = rand() % count;
		other = row[i];
		row[i] = row[count - 1];
		row[count - 1] = other;
	}
}

static size_t discover_count_armed(struct ct_device *dev)
{
	struct ct_probe_info info;
	size_t n = 0;
	uint32_t i;

	for (i = 0;; i++) {
		info = (struct ct_probe_info){ .size = sizeof(info), .index = i };
		if (ioctl(dev->fd, CT_IOC_GET_PROBE, &info))
			return n;
		n += info.group == CT_GROUP_ADDED && info.state == CT_PROBE_ARMED;
	}
}

/* Several functions of one name are armed as one. */
static bool discover_is_copy(const struct ct_functions *f, size_t i)
{
	return i && !strcmp(f->row[i].name, f->row[i - 1].name) &&
	       !strcmp(f->row[i].module, f->row[i - 1].module);
}

/* Arms all functions and prints the progress.  Returns how many are armed. */
static size_t discover_arm(struct ct_device *dev, const struct ct_functions *f)
{
	const struct ct_kfunc **list = calloc(f->count + 1, sizeof(*list)), **at = list;
	bool terminal = isatty(STDERR_FILENO);
	double begin = discover_now(), last = begin;
	struct queue q = { .batch = { MANY, MANY } };
	size_t i, n, armed, all;
	int kind;

	for (kind = 0; list && kind < 2; kind++) {
		q.next[kind] = at;
		for (i = 0; i < f->count; i++)
			if (f->row[i].ftrace == (kind == 0) && !discover_is_copy(f, i))
				*at++ = &f->row[i];
		q.end[kind] = at;
		discover_shuffle(q.next[kind], at - q.next[kind]);
	}
	all = at - list;
	if (list && all > MANY)
		discover_estimate(dev, &q, all);
	for (kind = 0; kind < 2; kind++)
		while (q.next[kind] < q.end[kind] && !stop) {
			n = q.end[kind] - q.next[kind];
			q.seconds[kind] += discover_arm_batch(dev, &q, kind, q.batch[kind]);
			q.done[kind] += n - (q.end[kind] - q.next[kind]);
			if (discover_now() - last < (terminal ? 0.2 : 2))
				continue;
			last = discover_now();
			fprintf(stderr, "%scudatrace: arming, %zu of %zu to go, %.0f s %s",
				terminal ? "\r" : "",
				(size_t)(q.end[0] - q.next[0] + q.end[1] - q.next[1]), all,
				discover_to_go(&q), terminal ? "  " : "\n");
		}
	free(list);
	armed = discover_count_armed(dev);
	fprintf(stderr, "%scudatrace: %zu of %zu functions armed in %.1f s%s\n",
		terminal ? "\r" : "", armed, all, discover_now() - begin,
		armed < all && !stop ?
			" (the kernel does not let the others be probed, or they are already)" :
			"");
	return armed;
}

/* The counts of all probes that we added, by index; returns how many rows. */
static size_t discover_collect(struct ct_device *dev, struct found **found)
{
	struct ct_probe_info info;
	size_t n = 0, capacity = 0;
	struct found *row;
	uint32_t i;

	for (i = 0;; i++) {
		info = (struct ct_probe_info){ .size = sizeof(info), .index = i };
		if (ioctl(dev->fd, CT_IOC_GET_PROBE, &info))
			break;
		if (info.group != CT_GROUP_ADDED || !info.hits)
			continue;
		if (n == capacity) {
			capacity = capacity ? 2 * capacity : 256;
			row = realloc(*found, capacity * sizeof(*row));
			if (!row)
				break;
			*found = row;
		}
		row = &(*found)[n++];
		*row = (struct found){ .hits = info.hits, .time = info.time, .missed = info.missed,
				       .cost = info.cost };
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

static void discover_cut_off(struct ct_device *dev, struct cut *cut, const struct found *f)
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
	fprintf(stderr, "cudatrace: %s is called too often, its probe was removed\n", f->name);
}

/* Look for functions that are too hot, over all of the run, but for its first second. */
static void discover_watch(struct ct_device *dev, struct cut *cut, double seconds)
{
	struct found *found = NULL;
	size_t i, n = discover_collect(dev, &found);

	seconds = seconds > 1 ? seconds : 1;
	for (i = 0; i < n; i++)
		if (found[i].hits > TOO_HOT * seconds ||
		    (double)found[i].hits * found[i].cost > TOO_MUCH * 1e9 * seconds)
			discover_cut_off(dev, cut, &found[i]);
	free(found);
}

static int discover_by_hits(const void *a, const void *b)
{
	const struct found *x = a, *y = b;

	return x->hits < y->hits ? 1 : x->hits > y->hits ? -1 : strcmp(x->name, y->name);
}

static void discover_print(struct found *found, size_t n, size_t armed)
{
	size_t i;

	qsort(found, n, sizeof(*found), discover_by_hits);
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
static int discover_run(struct ct_device *dev, struct cut *cut, char **argv, struct ct_error *err)
{
	struct ct_child child = { .pid = -1 };
	double begin = discover_now(), used, pause = LOOK_MS;

	if (ct_launch(&child, argv, NULL, NULL, NULL, NULL, err)) {
		ct_complain("%s", err->text);
		return child.status ? child.status : 1;
	}
	while (!ct_launch_wait(&child, pause)) {
		/* CPU time, not wall-clock time: waiting for a CPU would make the pauses too long. */
		used = clock();
		discover_watch(dev, cut, discover_now() - begin);
		pause = (clock() - used) * 1000 / CLOCKS_PER_SEC * LOOK_SHARE;
		pause = pause < LOOK_MS ? LOOK_MS : pause > LOOK_MOST_MS ? LOOK_MOST_MS : pause;
	}
	return child.status;
}

int ct_discover(char **globs, size_t count, char **command)
{
	struct sigaction action = { .sa_handler = discover_on_stop };
	int status;
	struct found *found = NULL, *all;
	struct ct_error err = { 0 };
	struct ct_functions f;
	struct ct_device dev;
	struct cut cut = { 0 };
	size_t n, armed;
	double begin;

	if (ct_functions_find(&f, globs, count, true, &err)) {
		ct_functions_free(&f);
		return ct_complain("%s", err.text);
	}
	if (ct_device_open(&dev, &err)) {
		ct_functions_free(&f);
		return ct_complain("%s", err.text);
	}
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	/* Start the session first: probes that are added to it are armed at once. */
	if (ct_device_start(&dev, 4096, 2, 1ull << CT_GROUP_ADDED, false, &err)) {
		ct_functions_free(&f);
		ct_device_close(&dev);
		return ct_complain("%s", err.text);
	}
	armed = discover_arm(&dev, &f);
	ct_functions_free(&f);
	status = stop ? ct_complain("interrupted: the program was not run") :
			discover_run(&dev, &cut, command, &err);
	n = discover_collect(&dev, &found);
	/* Stopping disarms all probes in one batch; closing the file removes them. */
	begin = discover_now();
	ct_device_stop(&dev);
	ct_device_close(&dev);
	fprintf(stderr, "cudatrace: probes removed in %.1f s\n", discover_now() - begin);
	all = realloc(found, (n + cut.count + 1) * sizeof(*all));
	if (all && cut.count)
		memcpy(all + n, cut.row, cut.count * sizeof(*all));
	if (!stop)
		discover_print(all ? all : found, all ? n + cut.count : n, armed);
	free(all ? all : found);
	free(cut.row);
	return status;
}
