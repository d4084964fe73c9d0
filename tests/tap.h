/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Test Anything Protocol for the tests that are written in C: ok(condition, text). */
#ifndef CT_TAP_H
#define CT_TAP_H

#include <stdarg.h>
#include <stdio.h>

/* Weak: one for all files of a program. */
__attribute__((weak)) int tap_count, tap_failed;

__attribute__((format(printf, 2, 3), unused))
static int ok(int good, const char *format, ...)
{
	va_list ap;

	printf("%sok %d - ", good ? "" : "not ", ++tap_count);
	va_start(ap, format);
	vprintf(format, ap);
	va_end(ap);
	putchar('\n');
	fflush(stdout);
	tap_failed += !good;
	return good;
}

__attribute__((format(printf, 2, 3), unused))
static void skip(int n, const char *format, ...)
{
	va_list ap;

	while (n--) {
		printf("ok %d # SKIP ", ++tap_count);
		va_start(ap, format);
		vprintf(format, ap);
		va_end(ap);
		putchar('\n');
	}
}

__attribute__((unused))
static int tap_done(void)
{
	printf("1..%d\n", tap_count);
	return tap_failed ? 1 : 0;
}

#endif
