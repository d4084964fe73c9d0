// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * See discover.h.  The module counts the calls of all functions (CT_IOC_COUNT_ADD).  They belong to
 * our open file of the device, so that none is armed any more, however this command ends.  While
 * the program runs, a function that is called too often is no longer counted: its count is then a
 * lower bound.  The program runs as it is, with nothing preloaded.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "capture/device.h"
#include "capture/launch.h"
#include "probe/discover.h"
#include "probe/functions.h"

/*
 * At so many calls a second a function is no longer counted, by ftrace site and by breakpoint: it
 * then costs some percent of a processor.
 */
#define HOT_SITE	1000000.0
#define HOT_BREAKPOINT	50000.0
#define LOOK_MS		200
/*
 * Breakpoints are armed one after the other, in batches of this time, but not in more batches than
 * that.  A first batch tells how long one takes.
 */
#define BATCH_S		2
#define BATCHES		32
#define SAMPLE		50

struct counted {
	const struct ct_kfunc *function;
	struct ct_function_count now;
	bool cut;
};

struct discover {
	struct ct_device dev;
	struct counted *row;	/* those with an ftrace site first; by number in the module */
	size_t count, sites;
	double hot;		/* calls a second; 0: as above */
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

/* Reads the counts of @n functions from number @from on.  @flags: 0 or CT_COUNT_STOP. */
static int discover_read(struct discover *d, size_t from, size_t n, uint32_t flags)
{
	static struct ct_function_count now[CT_COUNT_MAX];
	struct ct_count_read read;
	uint32_t i;

	for (n += from; from < n; from += read.count) {
		read = (struct ct_count_read){ .size = sizeof(read), .first = from, .flags = flags,
					       .counts = (uintptr_t)now };
		read.count = n - from < CT_COUNT_MAX ? n - from : CT_COUNT_MAX;
		if (ioctl(d->dev.fd, CT_IOC_COUNT_READ, &read))
			return -errno;
		for (i = 0; i < read.count; i++)
			d->row[from + i].now = now[i];
	}
	return 0;
}

/* Arms functions @from to @to in one batch, which a signal ends. */
static int discover_arm_batch(struct discover *d, size_t from, size_t to)
{
	static struct ct_count_function function[CT_COUNT_MAX];
	struct ct_count_add add = { .size = sizeof(add), .count = to - from,
				    .functions = (uintptr_t)function };
	size_t i;

	for (i = from; i < to; i++) {
		struct ct_count_function *f = &function[i - from];

		f->address = d->row[i].function->address;
		snprintf(f->module, sizeof(f->module), "%s", d->row[i].function->module);
	}
	return ioctl(d->dev.fd, CT_IOC_COUNT_ADD, &add) ? -errno : 0;
}

/* Functions without an ftrace site, with the progress. */
static int discover_arm_breakpoints(struct discover *d)
{
	bool terminal = isatty(STDERR_FILENO);
	size_t from = d->sites, to = from + SAMPLE, batch;
	double begin = discover_now(), each;
	int rc = 0;

	while (from < d->count && !stop && !rc) {
		to = to < d->count ? to : d->count;
		rc = discover_arm_batch(d, from, to);
		each = (discover_now() - begin) / (to - d->sites);
		if (from == d->sites && to < d->count)
			fprintf(stderr,
				"cudatrace: arming %zu functions without an ftrace site takes about %.0f s (Ctrl-C stops it and removes all probes)\n",
				d->count - d->sites, 1 + each * (d->count - d->sites));
		else if (to < d->count)
			fprintf(stderr, "%scudatrace: arming, %zu of %zu to go, %.0f s %s",
				terminal ? "\r" : "", d->count - to, d->count,
				each * (d->count - to), terminal ? "  " : "\n");
		from = to;
		batch = each * CT_COUNT_MAX < BATCH_S ? CT_COUNT_MAX : BATCH_S / each;
		if (batch < (d->count - d->sites) / BATCHES + 1)
			batch = (d->count - d->sites) / BATCHES + 1;
		to = from + (batch < CT_COUNT_MAX ? batch : CT_COUNT_MAX);
	}
	if (terminal)
		fputc('\r', stderr);
	return rc;
}

/* Says how many functions are counted, and why the others are not.  Returns how many are. */
static size_t discover_tell(const struct discover *d, double seconds, double for_sites)
{
	static const struct {
		int error;
		const char *why;
	} reasons[] = {
		{ -EPERM, "of cudatrace's own module" },
		{ -EINVAL, "where the kernel allows no probe" },
		{ -EEXIST, "with the address of another one" },
		{ -ENOENT, "of a module's initialization, which are gone" },
		{ -ENODEV, "whose module is gone" },
		{ -ENOMEM, "for lack of memory" },
	};
	size_t armed = 0, sites = 0, out, i, k;

	for (i = 0; i < d->count; i++) {
		armed += !d->row[i].now.error;
		sites += !d->row[i].now.error && d->row[i].now.site;
	}
	fprintf(stderr, "cudatrace: %zu of %zu functions armed in %.1f s", armed, d->count, seconds);
	if (sites && sites < armed)
		fprintf(stderr, ", %zu of them, which have an ftrace site, in %.1f s", sites, for_sites);
	fputc('\n', stderr);
	for (k = 0; k < sizeof(reasons) / sizeof(*reasons); k++) {
		for (out = i = 0; i < d->count; i++)
			out += d->row[i].now.error == reasons[k].error;
		if (out)
			fprintf(stderr, "cudatrace: left out: %zu %s\n", out, reasons[k].why);
	}
	return armed;
}

/* Arms all functions.  Returns how many are counted, or a negative errno. */
static long discover_arm(struct discover *d)
{
	double begin = discover_now(), for_sites;
	size_t from, to;
	int rc = 0;

	for (from = 0; from < d->sites && !stop && !rc; from = to) {
		to = from + CT_COUNT_MAX < d->sites ? from + CT_COUNT_MAX : d->sites;
		rc = discover_arm_batch(d, from, to);
	}
	for_sites = discover_now() - begin;
	if (!rc && !stop)
		rc = discover_arm_breakpoints(d);
	if (!rc && !stop)
		rc = discover_read(d, 0, d->count, 0);
	return rc ? rc : stop ? 0 : (long)discover_tell(d, discover_now() - begin, for_sites);
}

static const char *discover_module(const struct ct_kfunc *f)
{
	return *f->module ? f->module : "vmlinux";
}

/* Look for functions that are called too often, over all of the run, but for its first second. */
static void discover_watch(struct discover *d, double seconds)
{
	size_t i;

	if (discover_read(d, 0, d->count, 0))
		return;
	seconds = seconds > 1 ? seconds : 1;
	for (i = 0; i < d->count; i++) {
		struct counted *row = &d->row[i];
		double hot = d->hot ? d->hot : row->now.site ? HOT_SITE : HOT_BREAKPOINT;

		if (row->now.error || row->now.calls <= hot * seconds ||
		    discover_read(d, i, 1, CT_COUNT_STOP))
			continue;
		row->cut = true;
		fprintf(stderr, "cudatrace: %s:%s is called too often, its probe was removed\n",
			discover_module(row->function), row->function->name);
	}
}

static int discover_by_calls(const void *a, const void *b)
{
	const struct counted *x = a, *y = b;

	return x->now.calls < y->now.calls ? 1 : x->now.calls > y->now.calls ? -1 :
	       strcmp(x->function->name, y->function->name);
}

/* Several copies of a function have one name. */
static size_t discover_merge(struct discover *d)
{
	size_t i, n = 0;

	for (i = 0; i < d->count; i++) {
		struct counted *row = &d->row[i], *last = n ? &d->row[n - 1] : NULL;

		if (!row->now.calls)
			continue;
		if (last && !strcmp(last->function->name, row->function->name) &&
		    !strcmp(last->function->module, row->function->module)) {
			last->now.calls += row->now.calls;
			last->now.missed += row->now.missed;
			last->cut |= row->cut;
		} else {
			d->row[n++] = *row;
		}
	}
	return n;
}

static void discover_print(struct discover *d, size_t armed)
{
	size_t i, n = discover_merge(d);

	qsort(d->row, n, sizeof(*d->row), discover_by_calls);
	printf("%12s  %s\n", "CALLS", "FUNCTION");
	for (i = 0; i < n; i++) {
		const struct counted *row = &d->row[i];

		printf("%11llu%s  %s:%s", (unsigned long long)row->now.calls, row->cut ? "+" : " ",
		       discover_module(row->function), row->function->name);
		if (row->now.missed)
			printf("  (%llu missed)", (unsigned long long)row->now.missed);
		putchar('\n');
	}
	printf("%zu of %zu functions were called\n", n, armed);
}

/* Runs the program; its status, or 126 and 127 as a shell. */
static int discover_run(struct discover *d, char **argv, struct ct_error *err)
{
	struct ct_child child = { .pid = -1 };
	double begin = discover_now();

	if (ct_launch(&child, argv, NULL, NULL, NULL, NULL, err)) {
		ct_complain("%s", err->text);
		return child.status ? child.status : 1;
	}
	while (!ct_launch_wait(&child, LOOK_MS))
		discover_watch(d, discover_now() - begin);
	return child.status;
}

/* The functions by number: first those with an ftrace site.  0 or a negative errno. */
static int discover_list(struct discover *d, const struct ct_functions *f)
{
	size_t i;
	int kind;

	d->row = calloc(f->count, sizeof(*d->row));
	if (!d->row)
		return -ENOMEM;
	for (kind = 0; kind < 2; kind++) {
		for (i = 0; i < f->count; i++)
			if (f->row[i].ftrace == !kind)
				d->row[d->count++].function = &f->row[i];
		if (!kind)
			d->sites = d->count;
	}
	return 0;
}

static int discover_start(struct discover *d, struct ct_error *err)
{
	int rc = ct_device_open(&d->dev, err);

	if (rc)
		return rc;
	rc = ct_device_start(&d->dev, 4096, 2, 1ull << CT_GROUP_ADDED, false, err);
	if (rc)
		ct_device_close(&d->dev);
	return rc;
}

/* With all functions listed and a session started. */
static int discover_all(struct discover *d, char **command, struct ct_error *err)
{
	long armed = discover_arm(d);
	double begin;
	int status;

	if (armed < 0)
		status = ct_complain("the functions can't be counted: %s", strerror(-armed));
	else if (stop)
		status = ct_complain("interrupted: the program was not run");
	else
		status = discover_run(d, command, err);
	if (armed >= 0 && !stop)
		discover_read(d, 0, d->count, 0);
	begin = discover_now();
	ct_device_stop(&d->dev);
	ct_device_close(&d->dev);
	fprintf(stderr, "cudatrace: probes removed in %.1f s\n", discover_now() - begin);
	if (armed >= 0 && !stop)
		discover_print(d, armed);
	return status;
}

int ct_discover(char **globs, size_t count, char **command, double hot)
{
	struct sigaction action = { .sa_handler = discover_on_stop };
	struct discover d = { .hot = hot };
	struct ct_error err = { 0 };
	struct ct_functions f;
	int status = 1;

	if (ct_functions_find(&f, globs, count, true, &err)) {
		ct_complain("%s", err.text);
	} else if (!f.row->address) {
		ct_complain("/proc/kallsyms has no addresses: this needs CAP_SYSLOG, and kernel.kptr_restrict below 2");
	} else if (discover_list(&d, &f)) {
		ct_complain("out of memory");
	} else {
		sigaction(SIGINT, &action, NULL);
		sigaction(SIGTERM, &action, NULL);
		status = discover_start(&d, &err) ? ct_complain("%s", err.text) :
						    discover_all(&d, command, &err);
	}
	free(d.row);
	ct_functions_free(&f);
	return status;
}
