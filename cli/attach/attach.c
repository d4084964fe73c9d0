// SPDX-License-Identifier: LGPL-2.1-or-later
/* See attach.h. */
#include "attach/attach.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "attach/guard.h"
#include "attach/inject.h"
#include "attach/recorded.h"
#include "attach/seccomp.h"
#include "attach/standby.h"
#include "attach/target.h"
#include "attach/turn.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/proc.h"
#include "trace/directory.h"
#include "trace/pages.h"
#include "userlib/include/cudatrace/attach.h"

#define TRIES_NS	5000000000ull	/* for a thread that waits in a system call */
#define BUSY_NS		1000000000ull	/* for calls that are not over */
#define SHORT_US	50000		/* ... where nobody can see them */
#define LEAVE_TRIES	12		/* TRIES_NS each */

/* ------------------------------------------------------ what is the same --- */

void ct_attach_option(struct ct_attach_to *to, const char *name, const char *value)
{
	size_t room = sizeof(to->options) - to->options_size;
	int n = snprintf(to->options + to->options_size, room, "%s=%s", name, value);

	/* Two NULs behind it. */
	if (n > 0 && (size_t)n + 2 <= room)
		to->options_size += n + 1;
	to->options[to->options_size] = '\0';
}

/* The same file has the same name: a copy that is there is used again. */
static int attach_name(struct ct_attach_file *f, const char *prefix, struct ct_error *err)
{
	uint64_t hash = CT_HASH_BEGIN;
	uint8_t buffer[4096];
	ssize_t n;
	int fd = open(f->path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return ct_fail(err, errno, "%s: %s", f->path, strerror(errno));
	while ((n = read(fd, buffer, sizeof(buffer))) > 0)
		hash = ct_hash_add(hash, buffer, (size_t)n);
	close(fd);
	snprintf(f->name, sizeof(f->name), "libcudatrace-%s%016" PRIx64 ".so", prefix, hash);
	return n < 0 ? ct_fail(err, EIO, "%s can't be read", f->path) : 0;
}

/* Options that a program which is started here finds in its environment. */
static int attach_prepare(struct ct_attach_to *to, const char *library, const char *sink, struct ct_error *err)
{
	static const char *const as_here[] = { "CUDATRACE_DEVICE", "CUDATRACE_ONLY", "CUDATRACE_PACKET", "CUDATRACE_RANGE",
					       "CUDATRACE_RUNTIME", "CUDATRACE_TIME_QUERIES" };

	snprintf(to->file[CT_ATTACH_LIBRARY].path, PATH_MAX, "%s", library);
	ct_attach_option(to, "CUDATRACE_SINK", sink);
	for (unsigned int i = 0; i < sizeof(as_here) / sizeof(as_here[0]); i++)
		if (getenv(as_here[i]))
			ct_attach_option(to, as_here[i], getenv(as_here[i]));
	return attach_name(&to->file[CT_ATTACH_LIBRARY], "", err);
}

int ct_attach_prepare(struct ct_attach_to *to, const char *library, const char *dir, const uint8_t uuid[16],
		      struct ct_error *err)
{
	char text[33];

	for (int i = 0; i < 16; i++)
		snprintf(text + 2 * i, 3, "%02x", uuid[i]);
	to->dir = dir;
	ct_attach_option(to, "CUDATRACE_DIR", dir);
	ct_attach_option(to, "CUDATRACE_TRACE", text);
	return attach_prepare(to, library, "files", err);
}

int ct_attach_prepare_session(struct ct_attach_to *to, const char *library, struct ct_error *err)
{
	return attach_prepare(to, library, "device", err);
}

int ct_attach_plugin(struct ct_attach_to *to, int which, const char *path, struct ct_error *err)
{
	struct ct_attach_file *f = &to->file[which];

	snprintf(f->path, sizeof(f->path), "%s", path);
	return attach_name(f, which == CT_ATTACH_GPU ? "gpu-" : "stacks-", err);
}

static int attach_read(struct ct_target *t, pid_t pid, const struct ct_attach_to *to, struct ct_error *err)
{
	const char *names[CT_TARGET_FILES];

	for (int i = 0; i < CT_TARGET_FILES; i++)
		names[i] = to->file[i].name;
	return ct_target_read(t, pid, names, err);
}

/* ------------------------------------------------------ the process --------- */

static bool attach_runs(const struct ct_attached *a, struct ct_proc_stat *s)
{
	return ct_proc_stat(a->pid, s) && s->started == a->start && s->state != 'Z' && s->state != 'X';
}

/* 0: we may not look. */
static bool attach_is_other(const struct ct_attached *a, const struct ct_proc_stat *s)
{
	return a->stack && s->stack && a->stack != s->stack;
}

bool ct_attached_lives(const struct ct_attached *a)
{
	struct ct_proc_stat s;

	return attach_runs(a, &s) && !attach_is_other(a, &s);
}

bool ct_attached_replaced(const struct ct_attached *a)
{
	struct ct_proc_stat s;

	return attach_runs(a, &s) && attach_is_other(a, &s);
}

static int attach_check(struct ct_attached *a, struct ct_error *err)
{
	struct ct_proc_stat s;
	long tracer, process;

	if (!ct_proc_stat(a->pid, &s))
		return ct_fail(err, ESRCH, "there is no process %d", a->pid);
	if (a->pid == getpid())
		return ct_fail(err, EINVAL, "process %d is this command itself", a->pid);
	process = ct_proc_status(a->pid, "Tgid:");
	if (process > 0 && process != a->pid)
		return ct_fail(err, EINVAL, "%d is a thread of process %ld: give that", a->pid, process);
	a->own_pid = ct_proc_own_pid(a->pid);
	a->start = s.started;
	a->stack = s.stack;
	/* The kernel shows no memory map of it then. */
	if (s.state == 'Z' && ct_proc_status(a->pid, "Threads:") > 1)
		return ct_fail(err, ENOTSUP, "process %d: its main thread has ended, and the others can't be reached (record it from its start instead)", a->pid);
	if (s.state == 'Z' || s.state == 'X')
		return ct_fail(err, ESRCH, "process %d has ended", a->pid);
	/* A debugger's process stands still, too. */
	tracer = ct_proc_status(a->pid, "TracerPid:");
	if (tracer > 0)
		return ct_fail(err, EBUSY, "process %d is traced by process %ld (a debugger?): end that first", a->pid, tracer);
	if (s.state == 'T' || s.state == 't')
		return ct_fail(err, EBUSY, "process %d is stopped: kill -CONT %d, then try again", a->pid, a->pid);
	return 0;
}

/*
 * The process makes its files in the trace's directory by itself.  Root could give its user the directory, but writes
 * there, too, and would then follow what that user puts there.
 */
static int attach_check_dir(pid_t pid, const char *dir, struct ct_error *err)
{
	static const char *const written[] = { "", "/" CT_REGISTRY_FILE };
	char there[PATH_MAX + 32];
	long user = ct_proc_status(pid, "Uid:");
	struct stat ours, theirs;

	snprintf(there, sizeof(there), "/proc/%d/root%s", pid, dir);
	if (stat(dir, &ours))
		return 0;
	if (stat(there, &theirs) ? errno == ENOENT : ours.st_dev != theirs.st_dev || ours.st_ino != theirs.st_ino)
		return ct_fail(err, ENOENT, "process %d has another root, in which %s is not the trace's directory", pid, dir);
	for (unsigned int i = 0; user > 0 && i < sizeof(written) / sizeof(written[0]); i++) {
		snprintf(there, sizeof(there), "%s%s", dir, written[i]);
		if (!stat(there, &ours) && ours.st_uid != (uid_t)user && !(ours.st_mode & (S_IWGRP | S_IWOTH)))
			return ct_fail(err, EACCES, "process %d is of user %ld, who may not write %s: record it as that user (cudatrace doctor says whether that is allowed)",
				       pid, user, there);
	}
	return 0;
}

static bool attach_is_there(pid_t pid)
{
	struct ct_proc_stat s;

	return ct_proc_stat(pid, &s) && s.state != 'Z' && s.state != 'X';
}

/* 0, or why its memory can't be read, which a filter for system calls may forbid to this command. */
static int attach_unreadable(const struct ct_target *t)
{
	uint8_t byte;
	struct iovec here = { &byte, 1 }, there = { (void *)t->dlopen, 1 };

	return process_vm_readv(t->pid, &here, 1, &there, 1, 0) == 1 || (errno != EPERM && errno != ENOSYS) ? 0 : errno;
}

/* Stops the thread that takes it best.  Where all of them compute, one may wait soon. */
static int attach_stop(struct ct_inject *x, const struct ct_target *t, struct ct_error *err)
{
	uint64_t until = ct_now_ns() + TRIES_NS;
	int refused = ct_target_refused(t->pid);

	if (refused)
		return ct_inject_refused(t->pid, refused, err);
	refused = attach_unreadable(t);
	if (refused)
		return ct_fail(err, refused, "process %d: its memory can't be read: %s (a container's seccomp filter forbids process_vm_readv: record from outside of the container)",
			       t->pid, strerror(refused));
	for (unsigned int nth = 0;; nth++) {
		pid_t tid = ct_target_thread(t, nth);
		int rc;

		if (tid) {
			rc = ct_inject_begin(x, t->pid, tid, &t->libc, err);
			if (rc != -EAGAIN)
				return rc;
			continue;
		}
		if (ct_now_ns() > until)
			break;
		if (!attach_is_there(t->pid))
			return ct_fail(err, ESRCH, "process %d has ended", t->pid);
		usleep(1000);
		nth = -1;
	}
	return ct_fail(err, EAGAIN, "process %d: no thread waited in a system call within 5 s, so none could be taken; try again",
		       t->pid);
}

/* ------------------------------------------------------ bringing it in ------ */

static int attach_write(const struct ct_attach_file *file, pid_t pid, int target_fd, struct ct_error *err)
{
	char path[64], buffer[65536];
	int from = open(file->path, O_RDONLY | O_CLOEXEC), fd, rc = 0;
	uint64_t offset = 0;
	ssize_t n = -1;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, target_fd);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	while (from >= 0 && fd >= 0 && !rc && (n = read(from, buffer, sizeof(buffer))) > 0) {
		rc = ct_pwrite_all(fd, buffer, n, offset);
		offset += n;
	}
	if (n < 0)
		rc = -errno;
	if (from >= 0)
		close(from);
	if (fd >= 0)
		close(fd);
	return rc ? ct_fail(err, -rc, "process %d: the library can't be written into its memory: %s", pid, strerror(-rc)) : 0;
}

/*
 * The loader takes a file of the same path for one that it has loaded already, and descriptors come
 * again: so the path of each file has another spelling, by the hash in its name.
 */
static void attach_path(const struct ct_attach_file *file, int fd, char *path, size_t size)
{
	const char *hash = strrchr(file->name, '.') - 4;
	unsigned long bits = strtoul(hash, NULL, 16);
	size_t len = (size_t)snprintf(path, size, "/proc/self/");

	for (int i = 0; i < 16; i++, bits >>= 1)
		len += (size_t)snprintf(path + len, size - len, bits & 1 ? ".//" : "./");
	snprintf(path + len, size - len, "fd/%d", fd);
}

static void attach_why(struct ct_inject *x, const struct ct_target *t, char *why, size_t size)
{
	static const uint64_t none[6];
	struct ct_error ignored = { 0 };
	uint64_t text;

	*why = '\0';
	if (!t->dlerror || ct_inject_call(x, t->dlerror, none, &text, &ignored) || !text)
		return;
	ct_inject_read_text(x, text, why, size);
}

/* Reads or writes the memory of the process. */
static int attach_memory(pid_t pid, uint64_t at, void *bytes, size_t size, bool writes, struct ct_error *err)
{
	struct iovec here = { bytes, size }, there = { (void *)at, size };
	ssize_t n = writes ? process_vm_writev(pid, &here, 1, &there, 1, 0) : process_vm_readv(pid, &here, 1, &there, 1, 0);

	return n == (ssize_t)size ? 0 : ct_fail(err, n < 0 ? errno : EIO, "process %d: its memory can't be %s: %s", pid,
						writes ? "written" : "read", n < 0 ? strerror(errno) : "it ends");
}

/*
 * Where the loader has put it: what dlopen() returns begins with that (struct link_map).  To look through the maps of a
 * large program takes as long as all the rest.
 */
static int attach_find_loaded(pid_t pid, uint64_t handle, uint64_t *at, struct ct_error *err)
{
	char magic[4] = "";
	int rc = attach_memory(pid, handle, at, sizeof(*at), false, err);

	if (!rc && (attach_memory(pid, *at, magic, sizeof(magic), false, err) || memcmp(magic, "\177ELF", sizeof(magic))))
		rc = ct_fail(err, EIO, "process %d: the library is not where it should be", pid);
	return rc;
}

/* *at: where it is then. */
static int attach_load(struct ct_inject *x, const struct ct_attach_file *file, const struct ct_target *t, uint64_t *at,
		       struct ct_error *err)
{
	uint64_t args[6] = { ct_inject_copy(x, file->name, strlen(file->name) + 1), MFD_CLOEXEC }, fd, handle;
	char path[128], why[256] = "";
	int rc;

	rc = ct_inject_call(x, t->memfd_create, args, &fd, err);
	if (rc)
		return rc;
	if ((int)fd < 0)
		return ct_fail(err, EPERM, "process %d can't have a file in memory (memfd_create: seccomp, vm.memfd_noexec or no descriptors)",
			       t->pid);
	rc = attach_write(file, t->pid, (int)fd, err);
	snprintf(path, sizeof(path), "/proc/%d/root/proc/self", t->pid);
	/* Not what it leads to: in a /proc of another namespace of pids this command has no number. */
	if (!rc && faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) && errno == ENOENT)
		rc = ct_fail(err, ENOENT, "process %d has no /proc in its root, by which its loader would find the library: mount it there", t->pid);
	attach_path(file, (int)fd, path, sizeof(path));
	args[0] = ct_inject_copy(x, path, strlen(path) + 1);
	args[1] = 2;	/* RTLD_NOW */
	if (!rc)
		rc = ct_inject_call(x, t->dlopen, args, &handle, err);
	if (!rc && !handle) {
		attach_why(x, t, why, sizeof(why));
		rc = ct_fail(err, ENOEXEC, "process %d: its loader refuses the library: %s", t->pid, *why ? why : "no reason is given");
	}
	if (!rc)
		rc = attach_find_loaded(t->pid, handle, at, err);
	if (!x->broken) {
		struct ct_error ignored = { 0 };

		args[0] = fd;
		ct_inject_call(x, t->close, args, &handle, &ignored);
	}
	return rc;
}

/* By the errno that its open() had. */
static int attach_no_device(pid_t pid, int code, struct ct_error *err)
{
	switch (code) {
	case ENOENT:
		return ct_fail(err, ENODEV, "process %d has no " CT_DEVICE_PATH " in its root: give its container the device (docker run --device " CT_DEVICE_PATH ")",
			       pid);
	case EACCES:
		return ct_fail(err, code, "process %d may not open " CT_DEVICE_PATH " for writing: its user needs the right to (ls -l " CT_DEVICE_PATH ")",
			       pid);
	case EPERM:
		return ct_fail(err, code, "process %d may not open " CT_DEVICE_PATH ": its container's or service's device cgroup forbids it (docker run --device " CT_DEVICE_PATH ", DeviceAllow=)",
			       pid);
	case EPROTO:
		return ct_fail(err, code, "process %d: the loaded module and the library there are of different versions", pid);
	}
	return ct_fail(err, code, "process %d can't use " CT_DEVICE_PATH ": %s", pid, strerror(code));
}

/* @code: what cudatrace_attach() returned. */
static int attach_refused(pid_t pid, int code, struct ct_error *err)
{
	const char *why = code == -EPERM ? "it has other rights than the user who started it (setuid)" :
			  code == -EBUSY ? "it is being recorded already" :
			  code == -EACCES ? "it can't make files in the trace's directory (a read-only mount, AppArmor, Landlock?)" :
			  "the library refused";

	if (code < -CT_ATTACH_NO_DEVICE)
		return attach_no_device(pid, -code - CT_ATTACH_NO_DEVICE, err);
	return ct_fail(err, -code, "process %d is not recorded: %s", pid, why);
}

/* Those that are not there yet. */
static int attach_load_all(struct ct_inject *x, const struct ct_attach_to *to, struct ct_target *t, struct ct_error *err)
{
	int rc = 0;

	for (int i = 0; i < CT_TARGET_FILES && !rc; i++)
		if (*to->file[i].path && !t->at[i])
			rc = attach_load(x, &to->file[i], t, &t->at[i], err);
	return rc;
}

static uint64_t attach_function(const struct ct_attach_to *to, const uint64_t *at, int file, const char *name)
{
	return at[file] ? ct_target_symbol(to->file[file].path, at[file], name) : 0;
}

/* Where the library's answer will be, and of which beginning it has to be. */
struct attach_answer {
	uint64_t at;		/* 0: nothing was begun */
	uint32_t ticket;
};

/* By chance, as commands in two namespaces of pids may have the same number. */
static uint32_t attach_mark(void)
{
	uint32_t mark = 0;

	return getrandom(&mark, sizeof(mark), GRND_NONBLOCK) == (ssize_t)sizeof(mark) ? mark : (uint32_t)ct_now_ns();
}

/* Not that of another command, which may have come first where both have another mount of /proc. */
static void attach_undo_start(pid_t pid, uint64_t at, uint32_t mark)
{
	struct ct_error ignored = { 0 };
	uint64_t begins = 0, none = 0;

	at += offsetof(struct ct_attach_answer, begins);
	if (!attach_memory(pid, at, &begins, sizeof(begins), false, &ignored) && (uint32_t)begins == mark)
		attach_memory(pid, at, &none, sizeof(none), true, &ignored);
}

static int attach_start(struct ct_inject *x, const struct ct_attach_to *to, const struct ct_target *t,
			struct attach_answer *answer, struct ct_error *err)
{
	uint64_t function = attach_function(to, t->at, CT_ATTACH_LIBRARY, "cudatrace_attach_start");
	uint64_t at = attach_function(to, t->at, CT_ATTACH_LIBRARY, "cudatrace_attach_answer"), args[6] = { 0 }, result = 0;
	struct ct_attach_asked asked = { .sample = to->sample, .mark = attach_mark() };
	int rc;

	if (!function || !at)
		return ct_fail(err, EIO, "process %d: the library there is of another version", t->pid);
	memcpy(asked.options, to->options, to->options_size + 1);
	if (*to->file[CT_ATTACH_STACKS].path) {
		asked.stack = attach_function(to, t->at, CT_ATTACH_STACKS, "cudatrace_stack");
		asked.stacks_begin = attach_function(to, t->at, CT_ATTACH_STACKS, "cudatrace_stacks_begin");
		snprintf(asked.stacks_what, sizeof(asked.stacks_what), "%s", to->stacks);
	}
	if (*to->file[CT_ATTACH_GPU].path) {
		asked.gpu_begin = attach_function(to, t->at, CT_ATTACH_GPU, "cudatrace_gpu_begin");
		snprintf(asked.gpu_what, sizeof(asked.gpu_what), "%s", to->gpu);
	}
	args[0] = ct_inject_copy(x, &asked, sizeof(asked));
	if (!args[0])
		return ct_fail(err, EIO, "process %d: its memory can't be written", t->pid);
	rc = ct_inject_call(x, function, args, &result, err);
	if (rc && x->broken)
		attach_undo_start(t->pid, at, asked.mark);
	/* A late one has come back by now. */
	if (rc && !x->late)
		return rc;
	if ((int)result == -EAGAIN)
		return ct_fail(err, EAGAIN, "process %d: another beginning there is not over yet: try again", t->pid);
	if ((int)result < 0)
		return attach_refused(t->pid, (int)result, err);
	*answer = (struct attach_answer){ at, (uint32_t)result };
	return rc;
}

/* The library's thread finds that it is late, and leaves at once; or it has begun by now, and is told to end. */
static void attach_cancel(struct ct_attached *a, const struct ct_attach_to *to, const struct attach_answer *answer)
{
	struct ct_attach_answer now = { .cancelled = answer->ticket };
	struct ct_error ignored = { 0 };
	unsigned int kept;

	if (attach_memory(a->pid, answer->at + offsetof(struct ct_attach_answer, cancelled), &now.cancelled, sizeof(now.cancelled), true, &ignored) ||
	    attach_memory(a->pid, answer->at, &now, sizeof(now), false, &ignored) ||
	    now.ticket != answer->ticket || now.done != CT_ATTACH_DONE || now.result < 0)
		return;
	a->number = now.number;
	ct_attach_end(a, to, NULL, &kept, &ignored);
}

/* Until the library's thread has begun. */
static int attach_await(struct ct_attached *a, const struct ct_attach_to *to, const struct attach_answer *answer,
			struct ct_error *err)
{
	uint64_t until = ct_now_ns() + ct_inject_deadline();
	struct ct_attach_answer now;
	int rc;

	for (;;) {
		rc = attach_memory(a->pid, answer->at, &now, sizeof(now), false, err);
		if (rc && !ct_attached_lives(a))
			return ct_fail(err, ESRCH, "process %d has ended", a->pid);
		if (rc)
			return rc;
		if (now.ticket != answer->ticket)
			return ct_fail(err, EBUSY, "process %d: another command attached to it meanwhile", a->pid);
		if (now.done)
			break;
		if (ct_now_ns() > until) {
			attach_cancel(a, to, answer);
			return ct_fail(err, ETIMEDOUT, "process %d: the library did not begin within %.3g s: a lock of the loader's may be held there; it leaves when it comes to it",
				       a->pid, (double)ct_inject_deadline() / 1e9);
		}
		usleep(500);
	}
	a->gpu = now.gpu;
	a->number = now.number;
	return now.result;
}

/* What a process of its own does. */
struct attach_job {
	struct ct_attached a;
	const struct ct_attach_to *to;
	struct attach_answer answer;
	/* attach_tell() */
	uint64_t function, argument, result;
	int file;
	bool leaves;		/* it is cudatrace_detach() */
};

static int attach_bring_in(void *arg, struct ct_error *err)
{
	struct attach_job *job = arg;
	struct ct_inject x;
	struct ct_target t;
	const char *ends;
	int rc = attach_read(&t, job->a.pid, job->to, err);

	if (rc)
		return rc;
	/* It may have become that program after attach_check(). */
	job->a.stack = t.libc.stack;
	if (t.preloaded)
		return ct_fail(err, EBUSY, "process %d was started with the preload library: it is being recorded, or was", job->a.pid);
	rc = attach_stop(&x, &t, err);
	if (rc)
		return rc;
	ends = ct_seccomp_ends(x.tid);
	rc = ends ? ct_fail(err, EPERM, "process %d: its seccomp filter ends it for %s, which the library calls: allow that there (systemd: SystemCallFilter=)",
			    job->a.pid, ends) : attach_load_all(&x, job->to, &t, err);
	if (!rc)
		rc = attach_start(&x, job->to, &t, &job->answer, err);
	job->a.stood_ns = ct_inject_end(&x);
	memcpy(job->a.at, t.at, sizeof(job->a.at));
	if (x.late && job->answer.at)
		attach_cancel(&job->a, job->to, &job->answer);
	return rc;
}

/* By ptrace.  Return: of cudatrace_attach(), or with @err a negative errno. */
static int attach_from_outside(struct ct_attached *a, const struct ct_attach_to *to, struct ct_error *err)
{
	struct attach_job job = { .a = *a, .to = to };
	struct ct_error ignored = { 0 };
	unsigned int kept;
	int rc = ct_guard_run(attach_bring_in, &job, sizeof(job), err);

	*a = job.a;
	if (rc == -ETIMEDOUT)
		return rc;
	if (!rc)
		rc = attach_await(a, to, &job.answer, err);
	/* What began and can't be followed. */
	if (*err->text && a->number)
		ct_attach_end(a, to, NULL, &kept, &ignored);
	return rc;
}

/* A process that stands by.  Return: of cudatrace_attach(), or with @err a negative errno. */
static int attach_standby(struct ct_attached *a, const struct ct_attach_to *to, struct ct_error *err)
{
	struct ct_standby_answer answer;
	struct ct_attach_to asked = *to;
	struct ct_standby_request request;
	int rc;

	if (*to->file[CT_ATTACH_STACKS].path)
		ct_attach_option(&asked, CT_STANDBY_STACKS, to->file[CT_ATTACH_STACKS].path);
	if (to->sample)
		ct_attach_option(&asked, CT_STANDBY_SAMPLE, "1");
	if (*to->file[CT_ATTACH_GPU].path) {
		ct_attach_option(&asked, CT_STANDBY_GPU, to->file[CT_ATTACH_GPU].path);
		ct_attach_option(&asked, CT_STANDBY_GPU_WHAT, to->gpu);
	}
	request = (struct ct_standby_request){ .command = CT_STANDBY_ATTACH, .options = asked.options, .options_size = asked.options_size };
	rc = to->begun ? ct_standby_begun(a->pid, &answer, err) :
			 ct_standby_ask(a->pid, &request, &answer, err);
	if (rc)
		return rc;
	if (answer.result == -ENOEXEC)
		return ct_fail(err, ENOEXEC, "process %d can't load libcudatrace-gpu.so or libcudatrace-stacks.so: neither beside its libcudatrace.so nor where this command has it",
			       a->pid);
	a->gpu = answer.gpu;
	a->number = answer.number;
	return answer.result;
}

/* In this command's turn. */
static int attach_alone(struct ct_attached *a, const struct ct_attach_to *to, pid_t pid, struct ct_error *err)
{
	int rc;

	*a = (struct ct_attached){ .pid = pid, .standby = ct_standby_is(pid) };
	rc = attach_check(a, err);
	if (!rc && to->range && to->range->name && !a->standby)
		rc = ct_fail(err, ENOTSUP, "process %d has no library that could tell the range %s: start it with LD_PRELOAD=libcudatrace.so and CUDATRACE_STANDBY=1, or use --capture-range cudaProfilerApi",
			     pid, to->range->text);
	if (!rc && to->dir)
		rc = attach_check_dir(pid, to->dir, err);
	if (!rc && !to->begun)
		rc = ct_recorded_by_other(pid, to->dir, err);
	if (!rc)
		rc = a->standby ? attach_standby(a, to, err) : attach_from_outside(a, to, err);
	if (rc < 0)
		return *err->text ? rc : attach_refused(pid, rc, err);
	a->early = rc == CT_ATTACHED_EARLY;
	a->partly = rc == CT_ATTACHED_PARTLY;
	if (a->partly && !to->partly) {
		unsigned int kept;
		struct ct_error ignored = { 0 };

		ct_attach_end(a, to, NULL, &kept, &ignored);
		/* The pointers there are another library's, where a command with another mount of /proc attached at the same moment. */
		if (ct_recorded_by_other(pid, to->dir, err))
			return -EBUSY;
		return ct_fail(err, ENOTSUP, "process %d: its libcuda has no table of pointers that is known, so calls of functions that it has looked up already would be missed; --force records what can be seen",
			       pid);
	}
	return 0;
}

int ct_attach(struct ct_attached *a, const struct ct_attach_to *to, pid_t pid, struct ct_error *err)
{
	int rc;

	*err = (struct ct_error){ 0 };
	rc = ct_turn_begin(pid, ct_inject_deadline(), err);
	if (rc)
		return rc;
	rc = attach_alone(a, to, pid, err);
	ct_turn_end();
	return rc;
}

uint32_t ct_attach_running(const struct ct_attached *a, const struct ct_attach_to *to)
{
	uint64_t at = attach_function(to, a->at, CT_ATTACH_LIBRARY, "cudatrace_attach_answer");
	struct ct_error ignored = { 0 };
	uint32_t running = 0;

	if (a->standby)
		running = ct_standby_running(a->pid);
	else if (at)
		attach_memory(a->pid, at + offsetof(struct ct_attach_answer, running), &running, sizeof(running), false, &ignored);
	return running;
}

/* ------------------------------------------------------ ending --------------- */

int ct_attach_find(struct ct_attached *a, const struct ct_attach_to *to, pid_t pid, struct ct_error *err)
{
	struct ct_target t;
	int rc;

	*err = (struct ct_error){ 0 };
	*a = (struct ct_attached){ .pid = pid, .standby = ct_standby_is(pid) };
	rc = attach_check(a, err);
	if (!rc && !a->standby)
		rc = attach_read(&t, pid, to, err);
	if (rc)
		return rc;
	if (!a->standby)
		memcpy(a->at, t.at, sizeof(a->at));
	if (!a->standby && !a->at[CT_ATTACH_LIBRARY])
		return ct_fail(err, ENOEXEC, "process %d was attached to by a command of another version, or with another library: use that one",
			       pid);
	/* Another command may begin another recording before this one ends it. */
	a->number = ct_attach_running(a, to);
	return 0;
}

static int attach_call(void *arg, struct ct_error *err)
{
	struct attach_job *job = arg;
	uint64_t args[6] = { job->argument, job->a.number };
	struct ct_inject x;
	struct ct_target t;
	int rc = attach_read(&t, job->a.pid, job->to, err);

	if (rc)
		return rc;
	if (!job->function || t.at[job->file] != job->a.at[job->file])
		return ct_fail(err, ESRCH, "process %d runs another program now", job->a.pid);
	rc = attach_stop(&x, &t, err);
	if (rc)
		return rc;
	rc = ct_inject_call(&x, job->function, args, &job->result, err);
	job->a.stood_ns += ct_inject_end(&x);
	/* Nobody else does it: no call of the program's comes to the library any more. */
	if (x.late && job->leaves && job->argument == CT_DETACH_PUT_BACK) {
		job->argument = CT_DETACH_LEAVE;
		for (unsigned int i = 0; i < LEAVE_TRIES; i++) {
			int left = attach_call(job, err);

			if (left != -EAGAIN && left != -ETIMEDOUT)
				break;
		}
	}
	return rc;
}

/* Calls a function of one of our files there, with one number. */
static int attach_tell(struct ct_attached *a, const struct ct_attach_to *to, int file, const char *name, int step,
		       uint64_t *result, struct ct_error *err)
{
	struct attach_job job = {
		.a = *a, .to = to, .function = attach_function(to, a->at, file, name), .argument = (uint64_t)step, .file = file,
		.leaves = file == CT_ATTACH_LIBRARY,
	};
	int rc = ct_turn_begin(a->pid, ct_inject_deadline(), err);

	*result = 0;
	if (rc)
		return rc;
	rc = ct_guard_run(attach_call, &job, sizeof(job), err);
	ct_turn_end();
	*a = job.a;
	*result = job.result;
	return rc;
}

/* The same for a process that stands by.  @gpu: the plugin that the command is for; NULL: none. */
static int attach_ask(const struct ct_attached *a, const char *gpu, uint32_t command, uint64_t *result, struct ct_error *err)
{
	struct ct_attach_to asked = { .options_size = 0 };
	struct ct_standby_request request = { .command = command, .number = a->number, .options = asked.options };
	struct ct_standby_answer answer;
	int rc;

	if (gpu)
		ct_attach_option(&asked, CT_STANDBY_GPU, gpu);
	request.options_size = asked.options_size;
	rc = ct_standby_ask(a->pid, &request, &answer, err);
	*result = rc ? 0 : (uint64_t)answer.result;
	return rc;
}

int ct_attach_end_gpu(struct ct_attached *a, const struct ct_attach_to *to, struct ct_error *err)
{
	uint64_t result = 0;
	int rc;

	if (!a->gpu)
		return 0;
	rc = attach_check(a, err);
	if (!rc && a->standby)
		rc = attach_ask(a, to->file[CT_ATTACH_GPU].path, CT_STANDBY_GPU_END, &result, err);
	else if (!rc)
		rc = attach_tell(a, to, CT_ATTACH_GPU, "cudatrace_gpu_end", 0, &result, err);
	return rc ? rc : (int)result;
}

/* Does a stream of the process in the trace directory have a call that is not over? */
static bool attach_busy(const char *dir, pid_t pid)
{
	struct ct_inflight_page page;
	struct dirent *entry;
	bool busy = false;
	DIR *d = opendir(dir);

	while (d && !busy && (entry = readdir(d)))
		busy = ct_is_inflight_page(entry->d_name) && ct_inflight_page_read(dir, entry->d_name, &page) >= 0 &&
		       (pid_t)page.pid == pid && page.depth;
	if (d)
		closedir(d);
	return busy;
}

/*
 * A step of cudatrace_detach(), again where no thread could be taken just now.  Who is late in the first step does
 * the second one, too (attach_call()); late in the second one is tried again.
 */
static int attach_leave(struct ct_attached *a, const struct ct_attach_to *to, int step, uint64_t *result, struct ct_error *err)
{
	int rc = -EAGAIN;

	for (unsigned int i = 0; i <= LEAVE_TRIES && (rc == -EAGAIN || (rc == -ETIMEDOUT && step == CT_DETACH_LEAVE)); i++)
		rc = attach_tell(a, to, CT_ATTACH_LIBRARY, "cudatrace_detach", step, result, err);
	return rc;
}

int ct_attach_end(struct ct_attached *a, const struct ct_attach_to *to, const char *dir, unsigned int *kept,
		  struct ct_error *err)
{
	uint64_t result = 0, until;
	int rc;

	*kept = 0;
	rc = attach_check(a, err);
	if (!rc && a->standby)
		rc = attach_ask(a, NULL, CT_STANDBY_PUT_BACK, &result, err);
	else if (!rc)
		rc = attach_leave(a, to, CT_DETACH_PUT_BACK, &result, err);
	if (rc)
		return rc;
	*kept = (unsigned int)result;
	until = ct_now_ns() + BUSY_NS;
	if (!to->dir)
		usleep(SHORT_US);
	while (dir && attach_busy(dir, a->own_pid) && ct_now_ns() < until)
		usleep(1000);
	if (a->standby)
		return attach_ask(a, NULL, CT_STANDBY_LEAVE, &result, err);
	return attach_leave(a, to, CT_DETACH_LEAVE, &result, err);
}
