// SPDX-License-Identifier: LGPL-2.1-or-later
/* See unfinished.h.  The handler calls nothing but unlink() and raise(). */
#include "base/unfinished.h"

#include <signal.h>
#include <stddef.h>
#include <unistd.h>

#define FILES	512

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
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESETHAND }, old;

	for (unsigned int i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
		sigaction(signals[i], NULL, &old);
		if (old.sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
	}
}

void ct_unfinished(const char *path)
{
	if (!count++)
		unfinished_handle(unfinished_remove);
	for (unsigned int i = 0; i < FILES; i++)
		if (!files[i]) {
			files[i] = path;
			return;
		}
}

void ct_unfinished_forget(const char *path)
{
	for (unsigned int i = 0; i < FILES; i++)
		if (files[i] == path)
			files[i] = NULL;
	if (!--count)
		unfinished_handle(SIG_DFL);
}
