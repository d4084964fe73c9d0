// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The clock page: that a program's stamps and the module's own are of one clock.
 * Every mark's stamp, made by the module, must lie between two that the program took
 * around it, on every CPU, across changes of the line and jumps between CPUs; and all
 * of them stay near CLOCK_MONOTONIC.  Run as root in the guest.  Prints TAP.
 */
#include "line.h"

#define MARKS	100000		/* each on every CPU */
#define NEAR_NS	50000

int main(void)
{
	struct ct_clock_map map = { .size = sizeof(map) };
	struct ct_mark_head mark = { .size = sizeof(mark), .class = CT_CLASS_range_pop,
				     .flags = CT_F_NO_RESULT };
	unsigned long outside = 0, back = 0, far = 0, none = 0, failed = 0, lines;
	int fd = device(O_WRONLY), cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
	int reader = device(O_RDONLY);
	uint64_t last = 0, before, after, real;
	struct session s;

	ok(!map_clock(fd), "a producer maps the clock page");
	ok(page->magic == CT_MAGIC && !page->newest && !page->recording,
	   "with no session it says that nothing records, and has no line");
	ok(mprotect((void *)page, PAGE, PROT_READ | PROT_WRITE) && errno == EACCES,
	   "it can't be made writable");
	ok(call(reader, CT_IOC_CLOCK, &map) == EBADF, "it is not for readers");
	session_start(&s, 65536, 4, CT_SESSION_OVERWRITE);
	ok(page->recording, "it says that a session records");
	await_line();
	ok(page->newest, "a line comes");
	lines = page->newest;

	for (int i = 0; i < MARKS * cpus; i++) {
		if (i % 1000 == 0)
			pin(i / 1000 % cpus);
		mark.op = 0;
		before = by_line();
		failed += call(fd, CT_IOC_BEGIN(sizeof(mark)), &mark) != 0;
		after = by_line();
		if (!before || !after) {
			none++;
			continue;
		}
		outside += mark.begin < before || mark.begin > after;
		back += before < last;
		last = after;
		if (i % 64)
			continue;
		real = now();
		far += real + NEAR_NS < after || real > by_line() + NEAR_NS;
	}
	ok(!failed && !outside, "of %d marks %lu lie outside the program's stamps around them",
	   MARKS * cpus, outside);
	ok(!back, "time went back %lu times", back);
	ok(page->newest > lines + 3, "%lu lines came meanwhile", page->newest - lines);
	ok(none < MARKS / 100, "%lu times there was no line", none);
	ok(far < 10, "%lu times the line was 50 us from CLOCK_MONOTONIC", far);
	session_end(&s);
	ok(!page->newest && !page->recording, "both end with the session");
	close(fd);
	close(reader);
	return tap_done();
}
