// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * See scrape.h.  Counting and answering are two threads: a slow client must never hold up counting, since what
 * waits in the module's rings too long is overwritten.
 */
#include "serve/scrape.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "base/sum.h"
#include "export/openmetrics/metric_families.h"
#include "live/follow.h"
#include "live/live.h"
#include "module/uapi/cudatrace.h"
#include "trace/directory.h"
#include "trace/pages.h"

#define LOOK_MS	200

struct scrape {
	struct ct_http *http;
	const char *dir;
	const volatile bool *stop;
	pthread_mutex_t lock;		/* of what follows */
	struct ct_metrics counters;
	bool recording;			/* records still come */
	int error;			/* of the thread that answers */
	volatile bool ended;		/* it does not answer any more */
	volatile bool quit;		/* it is not to */
};

static int scrape_record(void *arg, const struct ct_registry *reg, const struct ct_record *r, bool old)
{
	struct scrape *s = arg;
	int rc;

	(void)reg;
	(void)old;
	pthread_mutex_lock(&s->lock);
	rc = ct_metrics_record(&s->counters, r);
	pthread_mutex_unlock(&s->lock);
	return rc;
}

static int scrape_call(void *arg, const struct ct_live_call *call)
{
	struct scrape *s = arg;
	int rc;

	pthread_mutex_lock(&s->lock);
	rc = ct_metrics_call(&s->counters, call->name, call->failed, call->timed, call->ns);
	pthread_mutex_unlock(&s->lock);
	return rc;
}

static int scrape_idle(void *arg)
{
	const struct scrape *s = arg;

	return *s->stop || s->ended ? -EPIPE : 0;
}

static int scrape_follow_idle(void *arg, bool *more)
{
	(void)more;
	return scrape_idle(arg);
}

/* Those that the trace's pages count. */
static uint64_t scrape_lost(const char *dir)
{
	struct dirent *entry;
	uint64_t lost = 0;
	DIR *d = dir ? opendir(dir) : NULL;

	while (d && (entry = readdir(d)))
		if (ct_is_lost_page(entry->d_name))
			lost = ct_sum(lost, ct_lost_read(dir, entry->d_name));
	if (d)
		closedir(d);
	return lost;
}

static int scrape_print(void *arg, FILE *out, bool plain)
{
	struct scrape *s = arg;
	uint64_t lost = scrape_lost(s->dir);
	int rc;

	pthread_mutex_lock(&s->lock);
	rc = ct_metrics_lost(&s->counters, lost);
	fprintf(out, "# HELP cudatrace_recording 1 while records come, 0 after the recording has ended.\n"
		"# TYPE cudatrace_recording gauge\ncudatrace_recording %d\n", s->recording);
	if (!rc)
		ct_metrics_print(&s->counters, out, plain);
	pthread_mutex_unlock(&s->lock);
	return rc;
}

static void *scrape_answer(void *arg)
{
	struct scrape *s = arg;

	while (!*s->stop && !s->quit && !s->error)
		s->error = ct_http_answer(s->http, LOOK_MS, scrape_print, s);
	s->ended = true;
	return NULL;
}

static int scrape_device(struct scrape *s, struct ct_error *err)
{
	struct ct_live_sink sink = { s, scrape_call, scrape_idle };
	int fd = open(CT_DEVICE_PATH, O_RDONLY | O_CLOEXEC | O_NONBLOCK), rc = 0;

	if (fd < 0 && errno == ENOENT)
		return ct_fail(err, ENOENT, "%s is not there: 'modprobe cudatrace' loads the module, or give the DIR of a recording",
			       CT_DEVICE_PATH);
	if (fd < 0)
		return ct_fail(err, errno, "%s: %s; 'cudatrace doctor' says how to get access", CT_DEVICE_PATH, strerror(errno));
	while (!rc && !*s->stop && !s->ended) {
		struct pollfd p = { .fd = fd, .events = POLLIN };

		if (poll(&p, 1, LOOK_MS) > 0)
			rc = ct_live_device_calls(fd, &sink, s->stop, err);
	}
	close(fd);
	return rc;
}

int ct_scrape_serve(struct ct_http *h, const char *dir, const volatile bool *stop, struct ct_error *err)
{
	struct scrape s = { .http = h, .dir = dir, .stop = stop, .lock = PTHREAD_MUTEX_INITIALIZER, .recording = true };
	struct ct_follow_sink sink = { .arg = &s, .record = scrape_record, .idle = scrape_follow_idle };
	pthread_t thread;
	int rc = pthread_create(&thread, NULL, scrape_answer, &s);

	if (rc)
		return ct_fail(err, rc, "a thread can't be started: %s", strerror(rc));
	rc = dir ? ct_follow(dir, &sink, stop, err) : scrape_device(&s, err);
	if (rc == -EPIPE)
		rc = 0;
	pthread_mutex_lock(&s.lock);
	s.recording = false;
	pthread_mutex_unlock(&s.lock);
	s.quit = rc != 0;
	pthread_join(thread, NULL);
	if (!rc && s.error)
		rc = ct_fail(err, -s.error, "%s: %s", h->address, strerror(-s.error));
	ct_metrics_free(&s.counters);
	return rc;
}
