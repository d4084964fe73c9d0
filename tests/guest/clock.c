// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The clock page: a program's time stamps and those of the module are of the same clock.
 * The stamp of every mark, made by the module, must lie between the two that the program
 * took before and after it: on every CPU, across changes of the clock segment, and when the
 * thread moves to another CPU.  All stamps must be near CLOCK_MONOTONIC.  Runs as root in the
 * guest.  Prints TAP.
 */
#include "clock_segment.h"

#define MARKS	100000		/* each on every CPU */
#define NEAR_NS	50000
#define FAR_NS	1000000

int main(void)
{
	struct ct_clock_map map = { .size = sizeof(map) };
	struct ct_mark_head mark = { .size = sizeof(mark), .class = CT_CLASS_range_pop,
				     .flags = CT_F_NO_RESULT };
	unsigned long outside = 0, back = 0, near = 0, far = 0, looked = 0, none = 0, failed = 0,
		      timed = 0, segments = 0, marks;
	int fd = device(O_WRONLY), cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
	int reader = device(O_RDONLY);
	uint64_t last = 0, before, after, real, later, start;
	uint32_t newest = 0;
	struct session s;

	ok(!map_clock(fd), "a producer maps the clock page");
	ok(page->magic == CT_MAGIC && !page->newest && !page->recording && !page->running,
	   "without a session it says that nothing is recorded, and has no segment");
	ok(mprotect((void *)page, PAGE, PROT_READ | PROT_WRITE) && errno == EACCES,
	   "it can't be made writable");
	ok(call(reader, CT_IOC_CLOCK, &map) == EBADF, "it is not for readers");
	session_start(&s, 65536, 4, CT_SESSION_OVERWRITE);
	ok(page->recording && page->running, "it says that a session runs, and records");
	await_segment();
	ok(page->newest, "a segment is published");
	/* A machine that stands still for most of a second has no segment for a while. */
	start = now();
	for (int i = 0; timed < (unsigned long)MARKS * cpus || segments < 4; i++) {
		if (i % 1000 == 0) {
			pin(i / 1000 % cpus);
			if (now() - start > 120000000000ull)
				break;
		}
		segments += page->newest && page->newest != newest;
		newest = page->newest;
		mark.op = 0;
		before = by_segment();
		failed += call(fd, CT_IOC_BEGIN(sizeof(mark)), &mark) != 0;
		after = by_segment();
		if (!before || !after) {
			none++;
			continue;
		}
		timed++;
		outside += mark.begin < before || mark.begin > after;
		back += before < last;
		last = after;
		if (i % 64)
			continue;
		real = now();
		later = by_segment();
		if (!later)
			continue;
		looked++;
		near += after <= real + NEAR_NS && real <= later + NEAR_NS;
		far += after > real + FAR_NS || real > later + FAR_NS;
	}
	marks = (unsigned long)MARKS * cpus;
	ok(timed >= marks && segments >= 4,
	   "%lu marks had a segment, %lu segments were used (%lu times there was none)", timed,
	   segments, none);
	ok(!failed && !outside, "of %lu marks %lu lie outside the program's stamps around them",
	   timed, outside);
	ok(!back, "time went back %lu times", back);
	ok(near > looked / 2 && !far,
	   "segments are near CLOCK_MONOTONIC: of %lu times %lu within 50 us, %lu not within a millisecond",
	   looked, near, far);
	session_end(&s);
	ok(!page->newest && !page->recording && !page->running, "all end with the session");
	close(fd);
	close(reader);
	return tap_done();
}
