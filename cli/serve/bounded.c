// SPDX-License-Identifier: LGPL-2.1-or-later
/* See bounded.h.  A crash of the command, or a trace that is too large, must never end the server. */
#include "serve/bounded.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/out.h"

#define TOLD_MAX	8192u

/* In the new process; never returns. */
static void bounded_child(const struct ct_bounds *bounds, ct_bounded_command command, int argc, char **argv, int out,
			  int told)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int status;

	if (null < 0 || dup2(null, 0) < 0 || dup2(out, 1) < 0 || dup2(told, 2) < 0)
		_exit(126);
	/* It counts also what a command forks would take; the default of SIGALRM ends the process. */
	signal(SIGALRM, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	alarm(bounds->seconds);
	status = command(argc, argv);
	if (fflush(stdout))
		status = status ? status : 1;
	exit(status);
}

/* Keeps what fits; of a first line that is longer, its begin. */
static void bounded_add(struct ct_bounded *b, const struct ct_bounds *bounds, char *line, size_t len)
{
	bool fits = b->shown == b->lines++ && !(bounds->lines && b->shown == bounds->lines);

	if (fits && bounds->shorten)
		len = bounds->shorten(line, len);
	b->bytes += len;
	if (!fits)
		return;
	if (b->size + len > bounds->bytes) {
		if (b->shown)
			return;
		len = bounds->bytes;
	}
	memcpy(b->text + b->size, line, len);
	b->size += len;
	b->shown++;
}

static int bounded_read(struct ct_bounded *b, const struct ct_bounds *bounds, int fd)
{
	FILE *in = fdopen(fd, "r");
	char *line = NULL;
	size_t room = 0;
	ssize_t len;
	int rc;

	if (!in) {
		rc = -errno;
		close(fd);
		return rc;
	}
	while ((len = getline(&line, &room, in)) > 0)
		if (!bounds->keep || bounds->keep(line, bounds->arg))
			bounded_add(b, bounds, line, len);
	rc = ferror(in) ? -EIO : 0;
	free(line);
	fclose(in);
	return rc;
}

/* A text that a client accepts whatever a program called its kernels: valid UTF-8 without control characters. */
static void bounded_clean(char *text, size_t size)
{
	for (size_t i = 0; i < size;) {
		unsigned char c = text[i];
		unsigned int bytes = c < 0x80 ? 0 : ct_utf8(text + i, size - i);

		if ((c < ' ' && c != '\n' && c != '\t') || c == 0x7f || (c >= 0x80 && !bytes))
			text[i] = '?';
		i += bytes ? bytes : 1;
	}
	text[size] = 0;
}

int ct_bounded_run(struct ct_bounded *b, const struct ct_bounds *bounds, ct_bounded_command command, int argc,
		   char **argv, struct ct_error *err)
{
	int pipes[2] = { -1, -1 }, told = memfd_create("told", MFD_CLOEXEC), status = 0, rc = 0;
	ssize_t n;
	pid_t pid;

	*b = (struct ct_bounded){ .text = malloc(bounds->bytes + 1), .told = malloc(TOLD_MAX + 1) };
	if (!b->text || !b->told || told < 0 || pipe2(pipes, O_CLOEXEC)) {
		rc = ct_fail(err, errno ? errno : ENOMEM, "a command can't be started: %s", strerror(errno));
		goto out;
	}
	/* What is in the buffer would be written twice. */
	fflush(NULL);
	pid = fork();
	if (!pid)
		bounded_child(bounds, command, argc, argv, pipes[1], told);
	close(pipes[1]);
	if (pid < 0) {
		close(pipes[0]);
		rc = ct_fail(err, errno, "a command can't be started: %s", strerror(errno));
		goto out;
	}
	rc = bounded_read(b, bounds, pipes[0]);
	if (rc)
		ct_fail(err, -rc, "the output of a command: %s", strerror(-rc));
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	b->too_long = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
	b->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	n = pread(told, b->told, TOLD_MAX, 0);
	bounded_clean(b->told, n > 0 ? n : 0);
	bounded_clean(b->text, b->size);
out:
	if (told >= 0)
		close(told);
	if (rc)
		ct_bounded_free(b);
	return rc;
}

void ct_bounded_free(struct ct_bounded *b)
{
	free(b->text);
	free(b->told);
	*b = (struct ct_bounded){ 0 };
}
