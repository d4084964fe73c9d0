// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What an event costs in the kernel, in instructions: the caller's side of
 * tests/bench/run, which runs in the guest (measure.h says how it counts).
 *
 *   kernel check             fails if the counter does not count instructions
 *   kernel calls             how many calls one measurement makes, all told
 *   kernel call              instructions of one ioctl of the bench device
 *   kernel ioctl FILE        instructions of an ioctl that FILE does not know
 *   kernel write FILE        instructions of a write of 32 bytes to FILE
 *   kernel cudatrace BARE    all rows of the module that is loaded; BARE is what
 *                            "kernel call" said with nothing there
 *   kernel lossless BARE     pair and marker once more, in a session that drops
 *   kernel again BARE NAME   the pair once more, as row NAME
 *
 * The module's records are counted twice: by its own counters, and by what a reader
 * of the device gets.  A measurement with a wrong number of records is none: the
 * program says which, prints no row for it and fails at the end.
 */
#define _GNU_SOURCE
#include <stdbool.h>
#include <sys/mman.h>

#include "../../module/uapi/cudatrace.h"
#include "measure.h"

#define FUNCTION	"ct_bench_traced"
#define TYPED		"ct_bench_marker"
#define TEXT		"a marker of 26 characters."

/* In no range of the module's: an ioctl that it refuses at once. */
#define NO_IOCTL	0xb101

static int failures;

static void row(const char *name, double instructions)
{
	printf("%s\t%.0f\n", name, instructions);
	fflush(stdout);
}

static double bench_call(void)
{
	/* 98 is the command, 4711 the argument that a tracer sees. */
	struct target t = { .fd = must_open("/dev/ct_bench", O_RDONLY), .cmd = 98,
			    .arg = (void *)4711 };
	double n = measure(&t);

	close(t.fd);
	return n;
}

static double null_ioctl(const char *path, int flags)
{
	struct target t = { .fd = must_open(path, flags), .cmd = NO_IOCTL,
			    .fails = ENOTTY };
	double n = measure(&t);

	close(t.fd);
	return n;
}

/* ------------------------------------------------------ the module --------- */

/* Two markers with 32 bytes of payload each: typed fields, and a text. */
struct typed_mark {
	struct ct_mark_head head;
	uint32_t uid, kind;
	uint64_t value[3];
};

struct text_mark {
	struct ct_mark_head head;
	uint32_t uid;
	uint16_t len;
	char text[26];
};
_Static_assert(sizeof(struct typed_mark) == sizeof(struct ct_mark_head) + 32 &&
	       sizeof(struct text_mark) == sizeof(struct ct_mark_head) + 32,
	       "a marker's payload is 32 bytes");

static int owner;			/* the session's file */
static const struct ct_cpu_status *status;
static double line_cost;		/* a reader's instructions for a line */

/* What a measurement must have left behind, and what was there before it. */
struct expected {
	const char *name;
	const char *in_line;	/* in the line of each record */
	int each;		/* records a call */
	int reader;
	uint64_t records, lost, hits;
};

static uint64_t lost(void)
{
	uint64_t sum = 0;
	int i;

	for (i = 0; i < CT_LOST_REASONS; i++)
		sum += status->lost[i];
	return sum;
}

/* What the module says of our probe; zeros while there is none. */
static struct ct_probe_info probe_info(void)
{
	struct ct_probe_info p = { .size = sizeof(p) };

	while (!ioctl(owner, CT_IOC_GET_PROBE, &p)) {
		if (!strcmp(p.symbol, FUNCTION))
			return p;
		p.index++;
	}
	memset(&p, 0, sizeof(p));
	return p;
}

static struct expected expect(const char *name, const char *in_line, int each)
{
	struct expected e = { .name = name, .in_line = in_line, .each = each };

	/* Its position begins at what is written from now on. */
	e.reader = must_open(CT_DEVICE_PATH, O_RDONLY | O_NONBLOCK);
	e.records = status->records;
	e.lost = lost();
	e.hits = probe_info().hits;
	return e;
}

/* Lines that a reader of the device gets, with this text in them. */
static uint64_t lines_with(int fd, const char *text)
{
	static char buf[64 << 10];
	uint64_t found = 0, lines = 0, begin, spent = 0;
	size_t have = 0;
	char *line, *end;
	ssize_t n;

	for (;;) {
		begin = __rdtsc();
		n = read(fd, buf + have, sizeof(buf) - 1 - have);
		spent += __rdtsc() - begin;
		if (n <= 0)
			break;
		have += n;
		buf[have] = 0;
		for (line = buf; (end = strchr(line, '\n')); line = end + 1) {
			*end = 0;
			found += strstr(line, text) != NULL;
			lines++;
		}
		have -= line - buf;
		memmove(buf, line, have);
	}
	if (n < 0 && errno != EAGAIN)
		fail("read " CT_DEVICE_PATH);
	if (lines)
		line_cost = (double)spent / lines;
	return found;
}

/* True if the measurement left exactly the records that it must. */
static bool as_expected(struct expected *e, bool probe)
{
	uint64_t want = (uint64_t)ALL_CALLS * e->each;
	uint64_t records = status->records - e->records, gone = lost() - e->lost;
	uint64_t hits = probe_info().hits - e->hits, want_hits = probe ? want : 0;
	uint64_t read = lines_with(e->reader, e->in_line);

	close(e->reader);
	/* The first record of a process comes with one that tells its name. */
	if (records >= want && records <= want + 1 && read == want && !gone &&
	    hits == want_hits)
		return true;
	fprintf(stderr, "%s: %llu records made, %llu read, %llu lost, %llu hits of the probe; not %llu records, %llu hits\n",
		e->name, (unsigned long long)records, (unsigned long long)read,
		(unsigned long long)gone, (unsigned long long)hits,
		(unsigned long long)want, (unsigned long long)want_hits);
	failures++;
	return false;
}

static void session(uint32_t flags)
{
	struct ct_session s = { .size = sizeof(s), .flags = flags,
				.groups = 1u << CT_GROUP_ADDED };

	if (ioctl(owner, CT_IOC_START, &s))
		fail("CT_IOC_START");
	status = mmap(NULL, 4096, PROT_READ, MAP_SHARED, owner, CT_MMAP_STATUS(0));
	if (status == MAP_FAILED)
		fail("the status page");
}

/* The probed function's own arguments are recorded, and what it returned. */
static void add_probe(int flags)
{
	struct ct_probe_add add = { .size = sizeof(add), .flags = flags, .args = 2 };

	strcpy(add.module, "ct_bench");
	strcpy(add.symbol, FUNCTION);
	strcpy(add.arg[0].name, "request");
	strcpy(add.arg[1].name, "argument");
	add.arg[1].number = 1;
	add.arg[1].type = CT_TYPE_u64;
	add.arg[0].type = CT_TYPE_x64;
	if (ioctl(owner, CT_IOC_PROBE_ADD, &add))
		fail("CT_IOC_PROBE_ADD");
}

static void remove_probe(void)
{
	struct ct_probe_add add = { .size = sizeof(add) };

	strcpy(add.module, "ct_bench");
	strcpy(add.symbol, FUNCTION);
	if (ioctl(owner, CT_IOC_PROBE_REMOVE, &add))
		fail("CT_IOC_PROBE_REMOVE");
}

static void probe_row(const char *name, int each, double bare)
{
	struct expected e = expect(name, "\"" FUNCTION "\"", each);
	double n = bench_call();

	if (as_expected(&e, true))
		row(name, n - bare);
}

static void filter(uint32_t pid)
{
	struct ct_filter f = { .size = sizeof(f), .pids = pid != 0, .pid[0] = pid };

	if (ioctl(owner, CT_IOC_FILTER, &f))
		fail("CT_IOC_FILTER");
}

static void probe_rows(double bare)
{
	struct ct_probe_info info;
	double off;

	add_probe(0);
	off = bench_call() - bare;
	info = probe_info();
	if (info.symbol[0] && info.state == CT_PROBE_IDLE && !info.hits) {
		row("cudatrace.disabled", off);
	} else {
		fprintf(stderr, "cudatrace.disabled: the probe is not idle\n");
		failures++;
	}
	session(CT_SESSION_OVERWRITE);
	probe_row("cudatrace.pair", 1, bare);
	row("cudatrace.pair_reader", line_cost);
	filter(1);	/* somebody else's process */
	probe_row("cudatrace.rejected", 0, bare);
	filter(0);
	remove_probe();
	add_probe(CT_PROBE_ENTRY);
	probe_row("cudatrace.pair_entry", 2, bare);
	remove_probe();
}

static void add_field(struct ct_define *d, const char *name, int type)
{
	strcpy(d->fields[d->fields_count].name, name);
	d->fields[d->fields_count++].type = type;
}

/* A class of a program's own, whose first field the module fills in. */
static uint16_t typed_class(int fd)
{
	struct ct_define d = { .size = sizeof(d), .category = CT_CAT_MARKER };

	strcpy(d.name, TYPED);
	strcpy(d.symbol, TYPED);
	add_field(&d, "uid", CT_TYPE_u32);
	add_field(&d, "kind", CT_TYPE_u32);
	add_field(&d, "first", CT_TYPE_u64);
	add_field(&d, "second", CT_TYPE_u64);
	add_field(&d, "third", CT_TYPE_u64);
	if (ioctl(fd, CT_IOC_DEFINE, &d))
		fail("CT_IOC_DEFINE");
	return d.id;
}

/* A row for arrays of n markers: what a call costs, or -1 without its records. */
static double mark_call(const char *name, const char *in_line, struct target *t, int n)
{
	struct expected e = expect(name, in_line, n);
	double instructions = measure(t);

	return as_expected(&e, false) ? instructions : -1;
}

/* The null ioctl, where it is asked for, and one marker of 32 bytes. */
static void mark_rows(const char *marker, bool all)
{
	struct typed_mark m[4] = { 0 };
	struct text_mark text = {
		.head = { .size = sizeof(text), .class = CT_CLASS_mark, .flags = CT_F_INSTANT },
		.len = sizeof(text.text), .text = TEXT,
	};
	struct target t = { .fd = must_open(CT_DEVICE_PATH, O_WRONLY), .arg = m };
	double null = null_ioctl(CT_DEVICE_PATH, O_WRONLY), one, n;
	int i;

	for (i = 0; i < 4; i++) {
		m[i].head.size = sizeof(m[i]);
		m[i].head.class = typed_class(t.fd);
		m[i].head.flags = CT_F_INSTANT;
		m[i].value[0] = 4711;
	}
	if (all)
		row("ioctl.null", null);
	t.cmd = CT_IOC_MARK(sizeof(m[0]));
	one = mark_call(marker, TYPED, &t, 1);
	if (one >= 0)
		row(marker, one - null);
	if (!all) {
		close(t.fd);
		return;
	}
	t.cmd = CT_IOC_MARK(sizeof(m));
	n = mark_call("cudatrace.marker_next", TYPED, &t, 4);
	if (one >= 0 && n >= 0)
		row("cudatrace.marker_next", (n - one) / 3);
	t.cmd = CT_IOC_MARK(sizeof(text));
	t.arg = &text;
	n = mark_call("cudatrace.marker_text", TEXT, &t, 1);
	if (n >= 0)
		row("cudatrace.marker_text", n - null);
	close(t.fd);
}

int main(int argc, char **argv)
{
	static char text[32] = "a marker of thirty-two bytes...";
	const char *what = argc > 1 ? argv[1] : "", *arg = argc > 2 ? argv[2] : "";
	struct target t;

	if (!strcmp(what, "check")) {
		check_counter();
	} else if (!strcmp(what, "calls")) {
		printf("%d\n", ALL_CALLS);
	} else if (!strcmp(what, "call")) {
		printf("%.2f\n", bench_call());
	} else if (!strcmp(what, "ioctl") && *arg) {
		printf("%.2f\n", null_ioctl(arg, O_RDONLY));
	} else if (!strcmp(what, "write") && *arg) {
		t = (struct target){ .fd = must_open(arg, O_WRONLY), .arg = text,
				     .size = sizeof(text) };
		printf("%.2f\n", measure(&t));
	} else if (!strcmp(what, "cudatrace") && *arg) {
		owner = must_open(CT_DEVICE_PATH, O_RDWR);
		probe_rows(atof(arg));
		mark_rows("cudatrace.marker", true);
	} else if ((!strcmp(what, "lossless") || (!strcmp(what, "again") && argc > 3)) && *arg) {
		bool drops = *what == 'l';

		owner = must_open(CT_DEVICE_PATH, O_RDWR);
		session(drops ? 0 : CT_SESSION_OVERWRITE);
		add_probe(0);
		probe_row(drops ? "cudatrace.pair_lossless" : argv[3], 1, atof(arg));
		remove_probe();
		if (drops)
			mark_rows("cudatrace.marker_lossless", false);
		ioctl(owner, CT_IOC_STOP);
	} else {
		fprintf(stderr, "usage: kernel check|calls|call|ioctl FILE|write FILE|cudatrace BARE|lossless BARE|again BARE NAME\n");
		return 64;
	}
	return failures ? 4 : 0;
}
