// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * See status.h.  The module knows which probes are armed, and their counters.  How a name
 * resolves (by ftrace site, by breakpoint, not at all, or only as a part that the
 * compiler split off) is read from the kernel's own lists, so that it is known while no
 * session runs, too.
 */
#include "probe/status.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/kernel_symbols.h"

enum means { UNKNOWN, ABSENT, INLINED, BREAKPOINT, FTRACE, TRACEPOINT, MEANS };
static const char *const means_word[MEANS] = { "-", "absent", "inlined", "breakpoint",
					       "ftrace", "tracepoint" };

struct row {
	struct ct_probe_info info;
	enum means means;
};

struct table {
	struct row *row;
	size_t count;
	bool names, sites;	/* the kernel's lists could be read */
};

static int probe_status_collect(struct ct_device *dev, struct table *t)
{
	struct ct_probe_info info;
	struct row *more;
	uint32_t i;

	for (i = 0;; i++) {
		info = (struct ct_probe_info){ .size = sizeof(info), .index = i };
		if (ioctl(dev->fd, CT_IOC_GET_PROBE, &info))
			return errno == ENOENT ? 0 : -errno;
		/* Grown by doubling: it is full when count is 0 or a power of two. */
		if (!(t->count & (t->count - 1))) {
			more = realloc(t->row, (t->count ? 2 * t->count : 1) * sizeof(*more));
			if (!more)
				return -ENOMEM;
			t->row = more;
		}
		t->row[t->count++] = (struct row){ .info = info };
	}
}

/* A function of the kernel: is it a probed function, or a part of one? */
static bool probe_status_symbol(void *arg, const char *module, const char *name, uint64_t address)
{
	struct table *t = arg;
	size_t i, len;

	(void)address;
	t->names = true;
	for (i = 0; i < t->count; i++) {
		struct row *r = &t->row[i];

		len = strlen(r->info.symbol);
		if (strncmp(name, r->info.symbol, len) || strcmp(module, r->info.module) ||
		    r->info.flags & CT_PROBE_IS_TRACEPOINT)
			continue;
		if (!name[len])
			r->means = BREAKPOINT;
		else if (name[len] == '.' && r->means < INLINED)
			r->means = INLINED;
	}
	return true;
}

static bool probe_status_site(void *arg, const char *module, const char *name, uint64_t address)
{
	struct table *t = arg;
	size_t i;

	(void)address;
	t->sites = true;
	for (i = 0; i < t->count; i++)
		if (t->row[i].means == BREAKPOINT && !strcmp(name, t->row[i].info.symbol) &&
		    !strcmp(module, t->row[i].info.module))
			t->row[i].means = FTRACE;
	return true;
}

static void probe_status_resolve(struct table *t)
{
	size_t i;

	ct_symbols_each(probe_status_symbol, t);
	ct_ftrace_sites_each(probe_status_site, t);
	for (i = 0; i < t->count; i++) {
		struct row *r = &t->row[i];

		if (r->info.flags & CT_PROBE_IS_TRACEPOINT)
			r->means = r->info.state == CT_PROBE_ABSENT ? ABSENT : TRACEPOINT;
		else if (r->means == UNKNOWN && t->names)
			r->means = ABSENT;
	}
}

static void probe_status_print_row(const struct row *r)
{
	static const char *const groups[] = {
#define CT_ROW(id, word)	word,
		CT_GROUPS(CT_ROW)
#undef CT_ROW
	};
	static const char *const states[] = { "idle", "armed", "absent", "no-module", "failed",
					      "shadowed" };
	const struct ct_probe_info *info = &r->info;

	printf("%-10s %-11s %-42s %-9s %-10s %10llu %8llu %8llu",
	       info->group < CT_GROUP_COUNT ? groups[info->group] : "?",
	       info->flags & CT_PROBE_IS_TRACEPOINT ? "tracepoint" :
	       *info->module ? info->module : "vmlinux", info->symbol,
	       info->state < sizeof(states) / sizeof(*states) ? states[info->state] : "?",
	       means_word[r->means], (unsigned long long)info->hits,
	       (unsigned long long)info->missed, (unsigned long long)info->lost);
	if (info->cost)
		printf(" %8llu", (unsigned long long)info->cost);
	else
		printf(" %8s", "-");
	if (info->error)
		printf(" %s", strerror(-info->error));
	putchar('\n');
}

/* Prints the sums of the table. */
static void probe_status_sum_up(const struct table *t)
{
	unsigned long long missed = 0, lost = 0;
	size_t by[MEANS] = { 0 }, armed = 0, i;

	for (i = 0; i < t->count; i++) {
		by[t->row[i].means]++;
		armed += t->row[i].info.state == CT_PROBE_ARMED;
		missed += t->row[i].info.missed;
		lost += t->row[i].info.lost;
	}
	printf("%zu names: %zu by ftrace site, %zu by breakpoint, %zu tracepoints, %zu absent, %zu inlined",
	       t->count, by[FTRACE], by[BREAKPOINT], by[TRACEPOINT], by[ABSENT], by[INLINED]);
	if (by[UNKNOWN] || !t->sites)
		printf(" (%s)", !t->names ? "/proc/kallsyms can't be read" :
		       "tracefs is not mounted: an ftrace site looks like a breakpoint");
	printf("; %zu armed, %llu calls missed, %llu records lost\n", armed, missed, lost);
}

int ct_probe_status(struct ct_device *dev)
{
	struct table t = { 0 };
	size_t i;
	int rc = probe_status_collect(dev, &t);

	if (!rc) {
		probe_status_resolve(&t);
		printf("%-10s %-11s %-42s %-9s %-10s %10s %8s %8s %8s\n", "GROUP", "MODULE", "FUNCTION",
		       "STATE", "RESOLVED", "HITS", "MISSED", "LOST", "ns/HIT");
		for (i = 0; i < t.count; i++)
			probe_status_print_row(&t.row[i]);
		probe_status_sum_up(&t);
	}
	free(t.row);
	return rc ? ct_complain("%s", strerror(-rc)) : 0;
}
