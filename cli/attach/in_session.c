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
#include "attach/tried.h"
#include "attach/way.h"
#include "base/proc.h"
#include "capture/session.h"

#define LOOK_MS		500	/* between two looks for new processes */

struct in_session {
	const struct ct_in_session *asked;
	struct ct_attach_to to;
	/*
	 * 0, or a negative errno with @err.  Of --all nothing is said of: -EALREADY: there is nothing to do;
	 * -EINPROGRESS: nor now, but perhaps later.
	 */
	int (*one)(struct in_session *s, pid_t pid, struct ct_error *err);
	unsigned int done, failed;
	unsigned int already;	/* in the session, by themselves or by another command */
	unsigned int elsewhere;	/* recorded into a directory, which goes on */
	struct ct_tried tried;	/* also those that are in it: who is detached by another command stays so */
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
	bool elsewhere;
	int rc;

	ct_way_of(pid, &way);
	/* Those that were preloaded are in it by themselves. */
	elsewhere = *way.dir && !way.deleted;
	if (s->asked->all && (way.session || elsewhere || way.how == CT_WAY_PRELOADED)) {
		s->already += way.session;
		s->elsewhere += !way.session && elsewhere;
		return way.session || !elsewhere ? -EALREADY : -EINPROGRESS;
	}
	if (way.session && way.how != CT_WAY_PRELOADED)
		return ct_fail(err, EBUSY, "process %d is in the session already%s", pid,
			       s->asked->options ? ": with other options only after session detach" : "");
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
	if (*way.dir && !way.deleted)
		return ct_fail(err, EBUSY, "process %d is recorded into %s: end that (cudatrace record)", pid, way.dir);
	if (way.how == CT_WAY_PRELOADED)
		return ct_fail(err, EINVAL, "process %d was started with the preload library, which stays; it records nothing when no session runs", pid);
	rc = ct_attach_find(&a, &s->to, pid, err);
	/* Unless there is no such process, or we may not look. */
	if (!way.session && rc != -ESRCH && rc != -EINVAL && rc != -EACCES)
		return ct_fail(err, ESRCH, "process %d is not in the session", pid);
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

/* Of one that has ended meanwhile nothing is missed. */
static void in_session_found(struct in_session *s, pid_t pid)
{
	struct ct_tried_one process = ct_tried_look(pid);
	struct ct_error err = { 0 };
	int rc = s->one(s, pid, &err);

	s->done += !rc;
	/* Another command is at it: with --watch it is tried again. */
	if (rc == -EAGAIN && s->asked->watch)
		return;
	if (rc != -EINPROGRESS && ct_tried_add(&s->tried, process) && *err.text) {
		s->failed++;
		ct_complain("%s", err.text);
	}
}

static void in_session_find(struct in_session *s)
{
	struct dirent *entry;
	DIR *proc;

	ct_tried_forget(&s->tried);
	proc = opendir("/proc");
	while (proc && !in_session_stop && (entry = readdir(proc))) {
		pid_t pid = (pid_t)atoi(entry->d_name);

		if (pid > 0 && pid != getpid() && !ct_tried_has(&s->tried, pid) && ct_target_has_cuda(pid))
			in_session_found(s, pid);
	}
	if (proc)
		closedir(proc);
}

/* What goes wrong with several is said at once, and with one returned. */
static int in_session_all(struct in_session *s, const char *what, struct ct_error *err)
{
	int rc = 0;

	for (unsigned int i = 0; i < s->asked->count; i++) {
		rc = s->one(s, s->asked->pids[i], err);
		s->done += !rc;
		s->failed += rc != 0;
		if (rc && s->asked->count > 1)
			ct_complain("%s", err->text);
	}
	if (s->failed && s->asked->count > 1)
		return ct_fail(err, ESRCH, "%s: %u of %u processes failed", what, s->failed, s->asked->count);
	if (s->asked->all)
		in_session_find(s);
	return rc;
}

/* attach --all: what it found and left alone. */
static int in_session_tell(const struct in_session *s, struct ct_error *err)
{
	if (s->elsewhere || (s->already && !s->done))
		fprintf(stderr, "cudatrace: attach: in the session already: %u; recorded into a trace's directory, which goes on: %u\n",
			s->already, s->elsewhere);
	if (s->done || s->already || s->asked->watch)
		return 0;
	return ct_fail(err, ESRCH, "attach: no process with libcuda was there that can be brought in%s",
		       geteuid() ? " (root also sees those of other users)" : "");
}

/* Until no session runs any more, or a signal comes. */
static int in_session_watch(struct in_session *s, struct ct_error *err)
{
	struct sigaction act = { .sa_handler = in_session_on_signal };
	int rc = 0;

	fprintf(stderr, "cudatrace: attach: waiting for programs with libcuda, until the session ends or Ctrl-C\n");
	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	sigaction(SIGHUP, &act, NULL);
	while (!in_session_stop && !(rc = ct_session_runs("attach", err))) {
		poll(NULL, 0, LOOK_MS);
		in_session_find(s);
	}
	if (rc != -ENODATA)
		return rc;
	fprintf(stderr, "cudatrace: attach: the session has ended\n");
	return 0;
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
	s->to.range = asked->range;
	if (!rc)
		rc = ct_attach_prepare_session(&s->to, library, err);
	if (!rc)
		rc = in_session_all(s, "attach", err);
	if (!rc && asked->all)
		rc = in_session_tell(s, err);
	if (!rc && asked->watch)
		rc = in_session_watch(s, err);
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
	if (!rc && s->failed)
		rc = ct_fail(err, EBUSY, "detach: %u of %u processes failed", s->failed, s->failed + s->done);
	else if (!rc && !s->done)
		fprintf(stderr, "cudatrace: detach: no process is in the session that was attached to\n");
	free(s);
	return rc;
}
