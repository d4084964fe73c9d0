// SPDX-License-Identifier: LGPL-2.1-or-later
/* See in_session.h. */
#include "attach/in_session.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "attach/attach.h"
#include "attach/target.h"
#include "attach/way.h"
#include "base/proc.h"
#include "capture/session.h"

#define LOOK_MS		500	/* between two looks for new processes */
#define TRIED_MOST	1024

struct in_session {
	const struct ct_in_session *asked;
	struct ct_attach_to to;
	/* 0, or a negative errno with @err; -EALREADY: there is nothing to do, and nothing to say */
	int (*one)(struct in_session *s, pid_t pid, struct ct_error *err);
	unsigned int done;	/* or was so already */
	/* --watch: not tried, or said, again */
	struct { pid_t pid; uint64_t start, stack; } tried[TRIED_MOST];
	unsigned int tried_count;
};

static volatile sig_atomic_t in_session_stop;

static void in_session_on_signal(int signal)
{
	(void)signal;
	in_session_stop = 1;
}

static int in_session_attach_one(struct in_session *s, pid_t pid, struct ct_error *err)
{
	struct ct_proc_stat stat = { .name = "?" };
	struct ct_attached a;
	struct ct_way way;
	int rc;

	ct_way_of(pid, &way);
	/* Those that were preloaded are in it by themselves. */
	if (s->asked->all && (way.session || *way.dir || way.how == CT_WAY_PRELOADED)) {
		s->done += way.session;
		return -EALREADY;
	}
	if (way.session && way.how != CT_WAY_PRELOADED)
		return ct_fail(err, EBUSY, "process %d is in the session already", pid);
	rc = ct_attach(&a, &s->to, pid, err);
	if (rc)
		return rc;
	ct_proc_stat(pid, &stat);
	fprintf(stderr, "cudatrace: %s[%d] is in the session%s%s", stat.name, pid, a.early ? ", and has no libcuda yet" : "",
		a.partly ? ", in part: functions that it has looked up before are missed" : "");
	if (a.standby)
		fprintf(stderr, ", which stood by\n");
	else
		fprintf(stderr, ", one of its threads stood still for %.1f ms\n", (double)a.stood_ns / 1e6);
	return 0;
}

static int in_session_detach_one(struct in_session *s, pid_t pid, struct ct_error *err)
{
	struct ct_proc_stat stat = { .name = "?" };
	struct ct_attached a;
	struct ct_way way;
	unsigned int kept;
	int rc;

	ct_way_of(pid, &way);
	if (s->asked->all && (!way.session || way.how == CT_WAY_PRELOADED))
		return -EALREADY;
	if (*way.dir)
		return ct_fail(err, EBUSY, "process %d is recorded into %s: end that (cudatrace record)", pid, way.dir);
	if (way.how == CT_WAY_PRELOADED)
		return ct_fail(err, EINVAL, "process %d was started with the preload library, which stays; it records nothing when no session runs", pid);
	if (!way.session)
		return ct_fail(err, ESRCH, "process %d is not in the session", pid);
	rc = ct_attach_find(&a, &s->to, pid, err);
	if (!rc)
		rc = ct_attach_end(&a, &s->to, NULL, &kept, err);
	if (rc)
		return rc;
	ct_proc_stat(pid, &stat);
	fprintf(stderr, "cudatrace: %s[%d] is as before", stat.name, pid);
	if (a.stood_ns)
		fprintf(stderr, ", one of its threads stood still for %.1f ms", (double)a.stood_ns / 1e6);
	fprintf(stderr, "%s\n", kept ? "; pointers that another tool has changed stay, and pass calls through" : "");
	return 0;
}

static bool in_session_was_tried(struct in_session *s, pid_t pid)
{
	struct ct_proc_stat stat = { .started = 0 };

	ct_proc_stat(pid, &stat);
	for (unsigned int i = 0; i < s->tried_count; i++)
		if (s->tried[i].pid == pid && s->tried[i].start == stat.started && s->tried[i].stack == stat.stack)
			return true;
	/* Those of before are gone, mostly. */
	if (s->tried_count == TRIED_MOST)
		s->tried_count = 0;
	s->tried[s->tried_count].pid = pid;
	s->tried[s->tried_count].start = stat.started;
	s->tried[s->tried_count++].stack = stat.stack;	/* an exec() makes it another program */
	return false;
}

/* Says what went wrong, where it is not the one thing that the command is to return. */
static int in_session_try(struct in_session *s, pid_t pid, bool only, struct ct_error *err)
{
	int rc = s->one(s, pid, err);

	if (!rc)
		s->done++;
	if (rc && rc != -EALREADY && !only)
		ct_complain("%s", err->text);
	return rc;
}

static void in_session_find(struct in_session *s)
{
	struct dirent *entry;
	DIR *proc = opendir("/proc");

	while (proc && !in_session_stop && (entry = readdir(proc))) {
		pid_t pid = (pid_t)atoi(entry->d_name);
		struct ct_error err = { 0 };

		if (pid > 0 && pid != getpid() && ct_target_has_cuda(pid) && !in_session_was_tried(s, pid))
			in_session_try(s, pid, false, &err);
	}
	if (proc)
		closedir(proc);
}

static int in_session_all(struct in_session *s, const char *what, struct ct_error *err)
{
	unsigned int failed = 0;
	int rc = 0;

	for (unsigned int i = 0; i < s->asked->count; i++) {
		rc = in_session_try(s, s->asked->pids[i], s->asked->count == 1, err);
		failed += rc != 0;
	}
	if (failed && s->asked->count > 1)
		return ct_fail(err, ESRCH, "%s: %u of %u processes failed", what, failed, s->asked->count);
	if (s->asked->all)
		in_session_find(s);
	return rc;
}

/* Until no session runs any more, or a signal comes. */
static int in_session_watch(struct in_session *s, struct ct_error *err)
{
	struct sigaction act = { .sa_handler = in_session_on_signal };
	int rc = 0;

	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	sigaction(SIGHUP, &act, NULL);
	while (!in_session_stop && !(rc = ct_session_runs("attach", err))) {
		poll(NULL, 0, LOOK_MS);
		in_session_find(s);
	}
	return rc && err->code != ENODATA ? rc : 0;
}

int ct_in_session_attach(const struct ct_in_session *asked, const char *library, struct ct_error *err)
{
	struct in_session *s = calloc(1, sizeof(*s));
	int rc = ct_session_runs("attach", err);

	if (!s)
		return ct_fail(err, ENOMEM, "no memory");
	s->asked = asked;
	s->one = in_session_attach_one;
	s->to.partly = asked->partly;
	if (!rc)
		rc = ct_attach_prepare_session(&s->to, library, err);
	if (!rc)
		rc = in_session_all(s, "attach", err);
	if (!rc && asked->watch)
		rc = in_session_watch(s, err);
	else if (!rc && !s->done)
		rc = ct_fail(err, ESRCH, "attach: no process with libcuda was there that can be");
	free(s);
	return rc;
}

int ct_in_session_detach(const struct ct_in_session *asked, const char *library, struct ct_error *err)
{
	struct in_session *s = calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return ct_fail(err, ENOMEM, "no memory");
	s->asked = asked;
	s->one = in_session_detach_one;
	rc = ct_attach_prepare_session(&s->to, library, err);
	if (!rc)
		rc = in_session_all(s, "detach", err);
	if (!rc && !s->done)
		fprintf(stderr, "cudatrace: detach: no process is in the session that was attached to\n");
	free(s);
	return rc;
}
