// SPDX-License-Identifier: LGPL-2.1-or-later
/* See doctor.h. */
#include "doctor/doctor.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

struct ct_check_result ct_check_result(enum ct_check_level level, const char *cure, const char *format, ...)
{
	struct ct_check_result f = { .level = level };
	va_list args;

	va_start(args, format);
	vsnprintf(f.text, sizeof(f.text), format, args);
	va_end(args);
	snprintf(f.cure, sizeof(f.cure), "%s", cure ? cure : "");
	return f;
}

bool ct_doctor_has(const char *path)
{
	return !access(path, F_OK);
}
