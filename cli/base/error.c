// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Messages for the user.  Must never print more than one line for one mistake.
 */
#include "base/error.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

/* Signals that are not to end this command, and what they would do. */
static struct ignored {
	int signal;
	bool set;
	struct sigaction before;
} error_file_size = { .signal = SIGXFSZ }, error_pipe = { .signal = SIGPIPE };

static void error_ignore(struct ignored *one)
{
	const struct sigaction ignore = { .sa_handler = SIG_IGN };

	one->set = !sigaction(one->signal, &ignore, &one->before);
}

static void error_restore(const struct ignored *one)
{
	if (one->set)
		sigaction(one->signal, &one->before, NULL);
}

void ct_file_limit_ignore(void)
{
	error_ignore(&error_file_size);
}

void ct_pipe_ignore(void)
{
	error_ignore(&error_pipe);
}

void ct_signals_restore(void)
{
	error_restore(&error_file_size);
	error_restore(&error_pipe);
}

/* "File too large" says nothing of the limit that a shell has set. */
static void error_file_limit(char *text, size_t size)
{
	size_t len = strlen(text);
	struct rlimit limit;

	if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur != RLIM_INFINITY)
		snprintf(text + len, size - len, " (files may have %llu KiB here: ulimit -f)", (unsigned long long)limit.rlim_cur / 1024);
}

int ct_fail(struct ct_error *err, int code, const char *format, ...)
{
	va_list args;

	if (err) {
		err->code = code;
		err->usage = false;
		va_start(args, format);
		vsnprintf(err->text, sizeof(err->text), format, args);
		va_end(args);
		if (code == EFBIG)
			error_file_limit(err->text, sizeof(err->text));
	}
	return -code;
}

int ct_fail_usage(struct ct_error *err, const char *format, ...)
{
	va_list args;

	if (err) {
		err->code = EINVAL;
		err->usage = true;
		va_start(args, format);
		vsnprintf(err->text, sizeof(err->text), format, args);
		va_end(args);
	}
	return -EINVAL;
}

static void error_print(const char *format, va_list args)
{
	char text[1024];

	vsnprintf(text, sizeof(text), format, args);
	/* A file name from the command line may hold anything. */
	for (char *p = text; *p; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			*p = '?';
	fflush(stdout);
	fprintf(stderr, "cudatrace: %s\n", text);
}

int ct_complain(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	error_print(format, args);
	va_end(args);
	return 1;
}

int ct_complain_usage(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	error_print(format, args);
	va_end(args);
	return CT_USAGE;
}

int ct_tell(const char *what, int rc, const struct ct_error *err)
{
	if (!rc || rc == -EPIPE || !err->code)
		return rc ? 1 : 0;
	return err->usage ? ct_complain_usage("%s", err->text) : ct_complain("%s: %s", what, err->text);
}
