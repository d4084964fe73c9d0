// SPDX-License-Identifier: LGPL-2.1-or-later
/* See unfinished.h.  The handler calls nothing but unlink() and raise(). */
#include "base/unfinished.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define FILES	512
#define NAMES	100	/* that are tried */

static const char *volatile files[FILES];
static unsigned int count;

static void unfinished_remove(int sig)
{
	for (unsigned int i = 0; i < FILES; i++) {
		const char *path = files[i];

		if (path)
			unlink(path);
	}
	/* The handler is gone with its first call: now the command ends as the signal wants. */
	raise(sig);
}

/* A signal that is ignored stays ignored. */
static void unfinished_handle(void (*handler)(int))
{
	static const int signals[] = {
		SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU, SIGXFSZ,
	};
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESETHAND }, old;

	for (unsigned int i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
		sigaction(signals[i], NULL, &old);
		if (old.sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
	}
}

static void unfinished_remember(const char *path)
{
	if (!count++)
		unfinished_handle(unfinished_remove);
	for (unsigned int i = 0; i < FILES; i++)
		if (!files[i]) {
			files[i] = path;
			return;
		}
}

/*
 * Numbers of processes come again, in containers often the same ones, and a command that was
 * killed leaves its file: then a number follows that nobody guesses.  NULL: no memory.
 */
static char *unfinished_name(const char *name, unsigned int attempt)
{
	const char *slash = strrchr(name, '/'), *last = slash ? slash + 1 : name;
	unsigned int random = attempt;
	char *path, number[16] = "";

	if (attempt) {
		if (getrandom(&random, sizeof(random), GRND_NONBLOCK) < 0)
			random = attempt;
		snprintf(number, sizeof(number), ".%08x", random);
	}
	/* A name may be as long as the file system takes, without what is added. */
	if (asprintf(&path, "%.*s.%.200s.%d%s.partial", (int)(last - name), name, last, (int)getpid(), number) < 0)
		return NULL;
	return path;
}

int ct_unfinished(const char *name, char **path)
{
	sigset_t all, before;
	int fd = -EEXIST;

	*path = NULL;
	/* No signal between the file and the note of it. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	for (unsigned int i = 0; i < NAMES && fd == -EEXIST; i++) {
		free(*path);
		*path = unfinished_name(name, i);
		fd = *path ? open(*path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666) : -1;
		if (fd < 0)
			fd = *path ? -errno : -ENOMEM;
	}
	if (fd >= 0) {
		unfinished_remember(*path);
	} else {
		free(*path);
		*path = NULL;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return fd;
}

void ct_unfinished_forget(const char *path)
{
	for (unsigned int i = 0; i < FILES; i++)
		if (files[i] == path)
			files[i] = NULL;
	if (!--count)
		unfinished_handle(SIG_DFL);
}
