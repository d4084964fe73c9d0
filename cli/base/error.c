// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Messages for the user.  Must never print more than one line for one mistake.
 */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>

int ct_fail(struct ct_error *err, int code, const char *format, ...)
{
	va_list args;

	if (err) {
		err->code = code;
		va_start(args, format);
		vsnprintf(err->text, sizeof(err->text), format, args);
		va_end(args);
	}
	return -code;
}

int ct_complain(const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	/* A file name from the command line may hold anything. */
	for (char *p = text; *p; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			*p = '?';
	fflush(stdout);
	fprintf(stderr, "cudatrace: %s\n", text);
	return 1;
}
