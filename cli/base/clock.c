// SPDX-License-Identifier: LGPL-2.1-or-later
/* See clock.h. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/clock.h"

/* The kernel's PROC_TIME_INIT_INO: in the first namespace the file of offsets may be of another. */
#define FIRST_TIME_NAMESPACE	0xeffffffaul

/* What the time namespace of this process adds to the clock. */
static int64_t clock_namespace_ns(void)
{
	int64_t seconds, ns;
	struct stat st;
	FILE *f;
	int n;

	if (stat("/proc/self/ns/time", &st) || st.st_ino == FIRST_TIME_NAMESPACE)
		return 0;
	f = fopen("/proc/self/timens_offsets", "re");
	if (!f)
		return 0;
	n = fscanf(f, "monotonic %" SCNd64 " %" SCNd64, &seconds, &ns);
	fclose(f);
	return n == 2 ? seconds * 1000000000 + ns : 0;
}

uint64_t ct_now_ns(void)
{
	static bool known;
	static int64_t namespace_ns;

	/* Several threads may find it at once, and find the same. */
	if (!__atomic_load_n(&known, __ATOMIC_ACQUIRE)) {
		__atomic_store_n(&namespace_ns, clock_namespace_ns(), __ATOMIC_RELAXED);
		__atomic_store_n(&known, true, __ATOMIC_RELEASE);
	}
	return ct_clock_ns(CLOCK_MONOTONIC) - (uint64_t)__atomic_load_n(&namespace_ns, __ATOMIC_RELAXED);
}
