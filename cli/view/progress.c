// SPDX-License-Identifier: LGPL-2.1-or-later
/* See progress.h.  Costs a look at the clock for each packet. */
#include "view/progress.h"

#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"

#define FIRST_NS	1000000000ull	/* what is done sooner needs no line */
#define AGAIN_NS	200000000ull

static struct {
	uint64_t total, read, next;	/* next: ns, when the line is due */
	bool shown;
} progress;

static void progress_read(void *arg, uint64_t records)
{
	uint64_t now = ct_now_ns(), read;

	(void)arg;
	progress.read += records;
	if (now < progress.next)
		return;
	progress.next = now + AGAIN_NS;
	progress.shown = true;
	/* Some formats read a trace twice. */
	read = progress.read > progress.total && progress.total ?
	       (progress.read - 1) % progress.total + 1 : progress.read;
	fprintf(stderr, "\r%.1f M records%s, %2u %% ", read / 1e6,
		progress.read > progress.total ? " once more" : "",
		progress.total ? (unsigned int)(read * 100.0 / progress.total) : 100);
}

void ct_progress_begin(struct ct_trace *t)
{
	if (!isatty(STDERR_FILENO))
		return;
	progress.total = t->records;
	progress.read = 0;
	progress.shown = false;
	progress.next = ct_now_ns() + FIRST_NS;
	t->progress = progress_read;
}

void ct_progress_end(struct ct_trace *t)
{
	t->progress = NULL;
	/* The line goes: what comes next begins at the left. */
	if (progress.shown)
		fputs("\r\033[K", stderr);
	progress.shown = false;
}
