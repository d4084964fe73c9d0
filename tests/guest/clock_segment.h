/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The time by the clock page, according to section 6 of cudatrace.h. */
#ifndef CT_TEST_LINE_H
#define CT_TEST_LINE_H

#include "session.h"

static const struct ct_clock_page *page;

static int map_clock(int producer)
{
	struct ct_clock_map map = { .size = sizeof(map) };
	int err = call(producer, CT_IOC_CLOCK, &map);

	page = (void *)(uintptr_t)map.address;
	return err ? err : map.length != PAGE;
}

/* Returns 0 if there is no clock segment. */
static uint64_t by_segment(void)
{
	const struct ct_clock_segment *l;
	uint64_t counter, ns;
	uint32_t n;

	do {
		n = __atomic_load_n(&page->newest, __ATOMIC_ACQUIRE);
		if (!n)
			return 0;
		counter = __builtin_ia32_rdtsc();
		l = &page->segment[n % CT_CLOCK_SEGMENTS];
		if (counter < l->tsc)
			l = &page->segment[(n - 1) % CT_CLOCK_SEGMENTS];
		if (counter - l->tsc >= CT_CLOCK_VALID_SPANS * (l->until - l->tsc))
			return 0;
		ns = l->ns + ((counter - l->tsc) * l->mult >> 32);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (__atomic_load_n(&page->newest, __ATOMIC_RELAXED) - n > 1);
	return ns;
}

static void await_segment(void)
{
	for (int i = 0; i < 2000 && !page->newest; i++)
		usleep(10000);
}

#endif
