/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The clocks of the system in ns, as records hold times. */
#ifndef CT_CLI_CLOCK_H
#define CT_CLI_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t ct_clock_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

/* Now, in the clock of all records: also in another time namespace the machine's CLOCK_MONOTONIC. */
uint64_t ct_now_ns(void);

#endif
