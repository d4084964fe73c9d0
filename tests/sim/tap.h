/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tap.h - the lines of the Test Anything Protocol that these tests print.
 *
 * A failed check prints where and what; it never ends the program, so that
 * one run shows all failures.
 */
#ifndef CUDATRACE_TEST_SIM_TAP_H
#define CUDATRACE_TEST_SIM_TAP_H

#include <stdio.h>

static int tap_tests, tap_failures, tap_failed_here;

/* One expectation of the test that runs. */
#define EXPECT(condition)						\
	do {								\
		if (!(condition)) {					\
			printf("# %s:%d: not so: %s\n", __FILE__,	\
			       __LINE__, #condition);			\
			tap_failed_here = 1;				\
		}							\
	} while (0)

#define EXPECT_RESULT(wanted, call)					\
	do {								\
		int got_ = (call);					\
									\
		if (got_ != (wanted)) {					\
			printf("# %s:%d: %s gave %d, not %d\n",		\
			       __FILE__, __LINE__, #call, got_,		\
			       (int)(wanted));				\
			tap_failed_here = 1;				\
		}							\
	} while (0)

#define OK(call) EXPECT_RESULT(CUDA_SUCCESS, call)

static inline void tap_run(void (*test)(void), const char *what)
{
	tap_failed_here = 0;
	test();
	tap_failures += tap_failed_here;
	printf("%sok %d - %s\n", tap_failed_here ? "not " : "", ++tap_tests,
	       what);
	fflush(stdout);
}

static inline int tap_end(void)
{
	printf("1..%d\n", tap_tests);
	return tap_failures ? 1 : 0;
}

#endif /* CUDATRACE_TEST_SIM_TAP_H */
