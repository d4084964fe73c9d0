// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * See selftest.h.  The program makes ranges, and ranges with an ioctl of NVIDIA's driver in each, one that it
 * refuses, which needs no GPU.  It runs twice, recorded and bare, so that what recording costs
 * on this machine is the difference.
 */
#include "doctor/selftest.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "module/uapi/cudatrace.h"
#include "spans/spans.h"
#include "trace/reader.h"
#include "view/term.h"

#define TIMES		100000u
#define RANGE		"selftest range"
#define ASKS		"selftest ioctl"
#define CONTROL		"/dev/nvidiactl"

extern char **environ;

/* ------------------------------------------------------ the program ------ */

/* A control of the resource manager for a client that there is not: refused, and nothing is changed. */
struct selftest_control {
	uint32_t client, object, command, flags;
	uint64_t parameters;
	uint32_t size, status;
};
#define SELFTEST_CONTROL	_IOWR('F', 0x2a, struct selftest_control)

int ct_selftest_program(void)
{
	void (*push)(const char *) = (__typeof__(push))dlsym(RTLD_DEFAULT, "cudatrace_range_push");
	void (*pop)(void) = (__typeof__(pop))dlsym(RTLD_DEFAULT, "cudatrace_range_pop");
	struct selftest_control control;
	uint64_t begin = ct_now_ns();
	int fd;

	for (unsigned int i = 0; push && pop && i < TIMES; i++) {
		push(RANGE);
		pop();
	}
	printf("ranges %" PRIu64 "\n", ct_now_ns() - begin);
	fd = open(CONTROL, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return 0;
	begin = ct_now_ns();
	for (unsigned int i = 0; i < TIMES; i++) {
		control = (struct selftest_control){ 0 };
		if (push && pop)
			push(ASKS);
		ioctl(fd, SELFTEST_CONTROL, &control);
		if (push && pop)
			pop();
	}
	printf("ioctls %" PRIu64 "\n", ct_now_ns() - begin);
	close(fd);
	return 0;
}

/* ------------------------------------------------------ running it ------- */

/* How long the program took, ns; 0: it did not do that. */
struct selftest_times {
	uint64_t ranges, ioctls;
};

static void selftest_remove(const char *dir)
{
	char path[4096];
	struct dirent *entry;
	DIR *d = opendir(dir);

	while (d && (entry = readdir(d))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") ||
		    ct_path(path, sizeof(path), dir, entry->d_name))
			continue;
		if (unlink(path) && errno == EISDIR)
			selftest_remove(path);
	}
	if (d)
		closedir(d);
	rmdir(dir);
}

/* Runs @argv, its output in @dir/said.  Its status as in a shell. */
static int selftest_spawn(char *const *argv, const char *dir, struct selftest_times *times, char *said, size_t size)
{
	posix_spawn_file_actions_t files;
	char path[4096], line[512];
	int status = 0, rc;
	pid_t pid;
	FILE *f;

	if (ct_path(path, sizeof(path), dir, "said"))
		return 127;
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
	rc = posix_spawn(&pid, "/proc/self/exe", &files, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&files);
	if (rc)
		return 127;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	*times = (struct selftest_times){ 0 };
	*said = '\0';
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line, "ranges %" SCNu64, &times->ranges) != 1 && sscanf(line, "ioctls %" SCNu64, &times->ioctls) != 1)
			snprintf(said, size, "%s", line);
	}
	if (f)
		fclose(f);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* ------------------------------------------------------ looking ---------- */

/* What is in the recording.  Spans come by their ends: the driver's functions, the ioctl, the range. */
struct selftest_seen {
	uint64_t ranges, asks;		/* ranges of each kind */
	uint64_t functions;		/* of the kernel, inside ioctls */
	uint64_t uneven;		/* ranges without their ioctl, or with another one */
	uint64_t uneven_at;		/* the first of them, from 1, and how many it has */
	unsigned int uneven_ioctls;
	uint64_t outside;		/* ioctls that lie outside of their range */
	uint64_t astray;		/* ioctls with a function of the kernel that lies outside */
	unsigned int ioctls;		/* since the range began */
	uint64_t ioctl_begin, ioctl_end;
	uint64_t inner_begin, inner_end;	/* of functions since the last ioctl; end 0: none */
	uint64_t inner;
};

static unsigned int selftest_wants(void *arg, const struct ct_class *class)
{
	(void)arg;
	(void)class;
	return CT_WANTS_SPANS;
}

static bool selftest_is(const struct ct_span *s, const char *text)
{
	uint16_t len;
	const char *name = ct_record_text(s->record, &len);

	return name && len == strlen(text) && !memcmp(name, text, len);
}

static void selftest_function(struct selftest_seen *seen, const struct ct_span *s)
{
	/* open() and close() of the device. */
	if (!s->depth) {
		seen->inner = seen->inner_end = 0;
		return;
	}
	if (!seen->inner++ || s->begin < seen->inner_begin)
		seen->inner_begin = s->begin;
	if (s->end > seen->inner_end)
		seen->inner_end = s->end;
}

static void selftest_ioctl(struct selftest_seen *seen, const struct ct_span *s)
{
	seen->ioctls++;
	if (seen->inner_end && (seen->inner_begin < s->begin || seen->inner_end > s->end))
		seen->astray++;
	seen->functions += seen->inner;
	seen->inner = seen->inner_end = 0;
	seen->ioctl_begin = s->begin;
	seen->ioctl_end = s->end;
}

static int selftest_span(void *arg, const struct ct_span *s, unsigned int orders)
{
	struct selftest_seen *seen = arg;

	(void)orders;
	/* What was before, as the opening of the device, is not the range's. */
	if (s->kind == CT_SPAN_INSTANT && s->class->id == CT_CLASS_range_push)
		seen->ioctls = 0;
	if (s->kind == CT_SPAN_CALL && s->pid && s->category == CT_CAT_IOCTL && !(s->flags & CT_SPAN_INNER_IOCTL))
		selftest_ioctl(seen, s);
	else if (s->kind == CT_SPAN_CALL && s->pid && s->kernel)
		selftest_function(seen, s);
	if (s->kind != CT_SPAN_RANGE)
		return 0;
	if (selftest_is(s, RANGE)) {
		seen->ranges++;
		seen->uneven += seen->ioctls != 0;
	} else if (selftest_is(s, ASKS)) {
		seen->asks++;
		if (seen->ioctls != 1 && !seen->uneven++) {
			seen->uneven_at = seen->asks;
			seen->uneven_ioctls = seen->ioctls;
		}
		seen->outside += seen->ioctls && (seen->ioctl_begin < s->begin || seen->ioctl_end > s->end);
	}
	seen->ioctls = 0;
	return 0;
}

/* Armed probes, and names of those that recorded. */
struct selftest_probes {
	unsigned int hit, armed;
	char names[1024];
};

static void selftest_probe(struct selftest_probes *p, const struct ct_record *r)
{
	struct ct_probe probe = { 0 };
	const char *name;
	uint16_t len;
	size_t used = strlen(p->names);

	memcpy(&probe, r->fields, sizeof(probe) < r->class->size ? sizeof(probe) : r->class->size);
	if (probe.state != CT_PROBE_ARMED)
		return;
	p->armed++;
	p->hit += probe.hits > 0;
	name = ct_record_text(r, &len);
	if (probe.hits && name && used + len + 2 < sizeof(p->names))
		snprintf(p->names + used, sizeof(p->names) - used, " %.*s", len, name);
}

static int selftest_look(const char *dir, struct selftest_seen *seen, struct selftest_probes *probes, uint64_t *lost,
			 struct ct_error *err)
{
	struct ct_spans spans = {
		.span = selftest_span, .wants = selftest_wants, .arg = seen, .orders = CT_SPANS_BY_END,
	};
	struct ct_trace trace;
	struct ct_cursor c;
	struct ct_record r;
	int rc = ct_trace_open(&trace, dir, err);

	if (!rc) {
		spans.trace = &trace;
		rc = ct_spans_run(&spans);
		if (rc)
			ct_fail(err, -rc, "%s", strerror(-rc));
		ct_spans_free(&spans);
	}
	*lost = trace.lost;
	for (unsigned int i = 0; !rc && i < trace.streams_count; i++) {
		if (trace.streams[i].kind != CT_STREAM_STATE)
			continue;
		ct_cursor_init(&c, &trace, i);
		while (ct_cursor_next(&c, &r))
			if (r.class->id == CT_CLASS_probe)
				selftest_probe(probes, &r);
	}
	ct_trace_close(&trace);
	return rc;
}

/* ------------------------------------------------------ telling ---------- */

static struct selftest {
	bool ran;
	char failed[4200];	/* "": it went well */
	const char *cure;
	struct selftest_times recorded, bare;
	struct selftest_seen seen;
	struct selftest_probes probes;
	unsigned int told;
} selftest;

static void selftest_run(void)
{
	char dir[4096], trace[4200], said[512];
	const char *tmp = getenv("TMPDIR");
	char *record[] = { "cudatrace", "record", "-q", "-o", trace, "--", "/proc/self/exe", "doctor",
			   "--" CT_SELFTEST_PROGRAM, NULL };
	char *bare[] = { "cudatrace", "doctor", "--" CT_SELFTEST_PROGRAM, NULL };
	struct selftest *s = &selftest;
	struct ct_error err;
	uint64_t lost = 0;
	int status;

	s->ran = true;
	if (ct_path(dir, sizeof(dir), tmp && *tmp ? tmp : "/tmp", "cudatrace-selftest-XXXXXX") || !mkdtemp(dir)) {
		snprintf(s->failed, sizeof(s->failed), "selftest: no directory can be made in %s: %s", tmp && *tmp ? tmp : "/tmp",
			 strerror(errno));
		s->cure = "set TMPDIR to a directory that can be written to";
		return;
	}
	snprintf(trace, sizeof(trace), "%s/trace", dir);
	status = selftest_spawn(bare, dir, &s->bare, said, sizeof(said));
	if (!status)
		status = selftest_spawn(record, dir, &s->recorded, said, sizeof(said));
	if (status)
		snprintf(s->failed, sizeof(s->failed), "selftest: recording a program of its own failed (status %d)%s%s", status,
			 *said ? ": " : "", said);
	else if (selftest_look(trace, &s->seen, &s->probes, &lost, &err))
		snprintf(s->failed, sizeof(s->failed), "selftest: its recording can't be read: %s", err.text);
	else if (lost) {
		snprintf(s->failed, sizeof(s->failed), "selftest: %" PRIu64 " records were lost", lost);
		s->cure = "cudatrace record --ring-size=64M";
	}
	selftest_remove(dir);
}

static struct ct_check_result selftest_tell_ranges(const struct selftest *s)
{
	char n[CT_TERM_TEXT], cost[CT_TERM_TEXT];

	if (s->seen.ranges != TIMES)
		return ct_check_result(CT_FINDING_MISSING, NULL, "selftest: %s of 100,000 ranges are in the recording, and nothing was counted as lost",
				  ct_term_count(n, s->seen.ranges));
	return ct_check_result(CT_FINDING_OK, NULL, "selftest: 100,000 ranges are recorded; one costs the program %s ns (two records)",
			  ct_term_count(cost, s->recorded.ranges / TIMES));
}

static struct ct_check_result selftest_tell_ioctls(const struct selftest *s)
{
	uint64_t bare = s->bare.ioctls / TIMES, recorded = s->recorded.ioctls / TIMES, range = s->recorded.ranges / TIMES;
	uint64_t more = recorded > bare + range ? recorded - bare - range : 0;
	char n[CT_TERM_TEXT], a[CT_TERM_TEXT], b[CT_TERM_TEXT];

	if (!s->recorded.ioctls)
		return ct_check_result(CT_FINDING_NOTE, NULL, "selftest: no ioctl was tried, as " CONTROL " does not open");
	if (s->seen.asks != TIMES)
		return ct_check_result(CT_FINDING_MISSING, NULL, "selftest: %s of 100,000 ranges with an ioctl are in the recording, and nothing was counted as lost",
				  ct_term_count(n, s->seen.asks));
	if (s->seen.uneven || s->seen.outside || s->seen.astray)
		return ct_check_result(CT_FINDING_MISSING, NULL, "selftest: of 100,000 ranges with an ioctl of the driver in each, %s lack it or have another "
				  "(the first is number %llu with %u), %s ioctls lie outside of their range, %s have a function of the kernel outside",
				  ct_term_count(n, s->seen.uneven), (unsigned long long)s->seen.uneven_at, s->seen.uneven_ioctls,
				  ct_term_count(a, s->seen.outside), ct_term_count(b, s->seen.astray));
	return ct_check_result(CT_FINDING_OK, NULL, "selftest: 100,000 ioctls of the driver are recorded, with %s functions of the kernel below each, in order; one takes %s ns, recording adds %s",
			  ct_term_count(n, s->seen.functions / TIMES), ct_term_count(a, bare), ct_term_count(b, more));
}

/* Those of interrupts and of memory need a program that uses a GPU. */
static struct ct_check_result selftest_tell_probes(const struct selftest *s)
{
	const struct selftest_probes *p = &s->probes;

	if (!p->armed)
		return ct_no_finding();
	if (!p->hit && s->recorded.ioctls)
		return ct_check_result(CT_FINDING_MISSING, NULL, "selftest: none of %u armed probes recorded anything", p->armed);
	return ct_check_result(CT_FINDING_OK, NULL, "selftest: %u of %u armed probes recorded:%s%s", p->hit, p->armed, p->names,
			  p->hit < p->armed ? "; the others need a program that uses a GPU" : "");
}

struct ct_check_result ct_check_selftest(struct ct_doctor *d)
{
	static struct ct_check_result (*const tell[])(const struct selftest *) = {
		selftest_tell_ranges, selftest_tell_ioctls, selftest_tell_probes,
	};
	struct selftest *s = &selftest;
	struct ct_check_result f;

	if (!s->ran)
		selftest_run();
	if (*s->failed)
		f = ct_check_result(CT_FINDING_MISSING, s->cure, "%s", s->failed);
	else
		f = tell[s->told++](s);
	d->selftest_failed |= f.level == CT_FINDING_MISSING;
	f.more = !*s->failed && s->told < sizeof(tell) / sizeof(*tell);
	return f;
}
