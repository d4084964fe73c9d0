// SPDX-License-Identifier: LGPL-2.1-or-later
/* See launch.h. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/launch.h"
#include "trace/directory.h"

static const int forwarded[] = {
	SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGCONT, SIGWINCH, SIGALRM,
};
#define FORWARDED	(sizeof(forwarded) / sizeof(forwarded[0]))

static volatile pid_t target;
static volatile sig_atomic_t stopped;

bool ct_launch_injected;
char ct_launch_keeps[24];
char ct_launch_mark[33];
const char *ct_launch_stands_by;
char ct_launch_nvtx[PATH_MAX];
char ct_launch_gpu[PATH_MAX];
const char *ct_launch_gpu_what;
char ct_launch_stacks[PATH_MAX];
bool ct_launch_sampled;
const char *ct_launch_stacks_what;

static void launch_forward(int sig, siginfo_t *info, void *context)
{
	int saved = errno;

	(void)context;
	/* Servers read their settings again at SIGHUP. */
	if (sig == SIGINT || sig == SIGTERM || sig == SIGQUIT || (sig == SIGHUP && target <= 0))
		stopped = 1;
	/* The terminal's own signals reach the child's group without us. */
	if (target > 0 && info->si_code != SI_KERNEL)
		kill(target, sig);
	errno = saved;
}

bool ct_launch_stopped(void)
{
	return stopped;
}

int ct_launch_library(char *path, size_t size, struct ct_error *err)
{
	static const char *const beside[] = { "libcudatrace.so", "../lib/libcudatrace.so",
		"../lib/x86_64-linux-gnu/libcudatrace.so", "../lib/cudatrace/libcudatrace.so" };
	const char *env = getenv("CUDATRACE_LIBRARY");
	char self[PATH_MAX], try[PATH_MAX * 2], *slash;
	ssize_t len;
	size_t i;

	if (env && *env) {
		if (access(env, R_OK))
			return ct_fail(err, ENOENT, "CUDATRACE_LIBRARY names '%s', which can't be read", env);
		snprintf(path, size, "%s", env);
		return 0;
	}
	len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (len < 0)
		return ct_fail(err, errno, "/proc/self/exe: %s", strerror(errno));
	self[len] = '\0';
	slash = strrchr(self, '/');
	*slash = '\0';
	for (i = 0; i < sizeof(beside) / sizeof(beside[0]); i++) {
		snprintf(try, sizeof(try), "%s/%s", self, beside[i]);
		if (!access(try, R_OK) && strlen(try) < size) {
			strcpy(path, try);
			return 0;
		}
	}
	return ct_fail(err, ENOENT, "libcudatrace.so is not beside %s nor in its lib folder (make install, or set CUDATRACE_LIBRARY)",
		       self);
}

int ct_launch_link(char *library, size_t size, const char *dir, struct ct_error *err)
{
	static const char separators[] = " :";
	char folder[PATH_MAX], link[PATH_MAX], *slash;
	int len;

	if (ct_launch_injected || !strpbrk(library, separators))
		return 0;
	if (!realpath(library, folder))
		return ct_fail(err, errno, "%s: %s", library, strerror(errno));
	slash = strrchr(folder, '/');
	*slash = '\0';
	len = snprintf(link, sizeof(link), "%s/" CT_LIBRARY_LINK, dir);
	if (len < 0 || (size_t)len + 1 + strlen(slash + 1) >= size || strpbrk(dir, separators) ||
	    strpbrk(slash + 1, separators))
		return ct_fail(err, EINVAL, "LD_PRELOAD can't name %s nor a link in %s, because of their blanks or colons (give another -o, or --inject)",
			       library, dir);
	if (symlink(folder, link))
		return ct_fail(err, errno, "%s: %s", link, strerror(errno));
	sprintf(library, "%s/%s", link, slash + 1);
	return 0;
}

bool ct_launch_plugin(const char *library, const char *name, char *path, size_t size)
{
	const char *slash = strrchr(library, '/');
	int folder = slash ? (int)(slash + 1 - library) : 0;
	int len = snprintf(path, size, "%.*slibcudatrace-%s.so", folder, library, name);

	return len > 0 && (size_t)len < size && !access(path, R_OK);
}

/* Sets our library instead of another tool's, which ours then calls. */
static void launch_inject(const char *variable, const char *next, const char *library)
{
	const char *old = getenv(variable);

	if (old && *old && strcmp(old, library))
		setenv(next, old, 1);
	setenv(variable, library, 1);
}

/* Both, with a colon between them. */
static void launch_set_joined(const char *variable, const char *first, const char *second)
{
	char *both;

	if (asprintf(&both, "%s:%s", first, second) < 0)
		_exit(126);
	setenv(variable, both, 1);
}

static void launch_put_first(const char *variable, const char *first)
{
	const char *old = getenv(variable);

	if (old && *old)
		launch_set_joined(variable, first, old);
	else
		setenv(variable, first, 1);
}

static void launch_preload(const char *library)
{
	const char *asan = getenv("ASAN_OPTIONS");
	/* AddressSanitizer refuses to start after another library without this option. */
	const char *any_order = "verify_asan_link_order=0";

	/* Behind the library: profilers of the program are to find its functions of CUPTI. */
	if (*ct_launch_gpu && !ct_launch_stands_by)
		launch_put_first("LD_PRELOAD", ct_launch_gpu);
	if (*ct_launch_stacks && !ct_launch_stands_by)
		launch_put_first("LD_PRELOAD", ct_launch_stacks);
	launch_put_first("LD_PRELOAD", library);
	/* The last one counts. */
	if (asan && *asan)
		launch_set_joined("ASAN_OPTIONS", asan, any_order);
	else
		setenv("ASAN_OPTIONS", any_order, 1);
}

/* Such a library loads its plugins when it begins. */
static void launch_stand_by(void)
{
	unsetenv("CUDATRACE_STANDBY");
	unsetenv("CUDATRACE_PLUGIN_GPU");
	unsetenv("CUDATRACE_PLUGIN_STACKS");
	if (!ct_launch_stands_by)
		return;
	setenv("CUDATRACE_STANDBY", ct_launch_stands_by, 1);
	if (*ct_launch_gpu) {
		setenv("CUDATRACE_PLUGIN_GPU", ct_launch_gpu, 1);
		setenv("CUDATRACE_GPU", ct_launch_gpu_what, 1);
	}
	if (*ct_launch_stacks) {
		setenv("CUDATRACE_PLUGIN_STACKS", ct_launch_stacks, 1);
		setenv("CUDATRACE_STACKS", ct_launch_stacks_what, 1);
	}
}

static void launch_set_environment(const char *library, const char *dir, const uint8_t uuid[16],
				   const char *backend)
{
	char trace[33];

	for (unsigned int i = 0; i < 16; i++)
		sprintf(trace + 2 * i, "%02x", uuid[i]);

	if (ct_launch_injected)
		launch_inject("CUDA_INJECTION64_PATH", "CUDATRACE_INJECTION_NEXT", library);
	else
		launch_preload(library);
	if (*ct_launch_gpu && !ct_launch_stands_by) {
		launch_inject("CUDA_INJECTION64_PATH", "CUDATRACE_GPU_NEXT", ct_launch_gpu);
		setenv("CUDATRACE_GPU", ct_launch_gpu_what, 1);
	} else {
		/* A recorder around this one may have asked for it. */
		unsetenv("CUDATRACE_GPU");
	}
	if (*ct_launch_stacks && !ct_launch_stands_by)
		setenv("CUDATRACE_STACKS", ct_launch_stacks_what, 1);
	else
		unsetenv("CUDATRACE_STACKS");
	if (*ct_launch_stacks && ct_launch_sampled)
		setenv("CUDATRACE_SAMPLE", "1", 1);
	else
		unsetenv("CUDATRACE_SAMPLE");
	if (*ct_launch_keeps) {
		setenv("CUDATRACE_KEEP", ct_launch_keeps, 1);
		setenv(CT_LAUNCH_MARK, ct_launch_mark, 1);
	} else {
		unsetenv("CUDATRACE_KEEP");
		unsetenv(CT_LAUNCH_MARK);
	}
	launch_stand_by();
	if (*ct_launch_nvtx)
		launch_inject("NVTX_INJECTION64_PATH", "CUDATRACE_NVTX_NEXT", ct_launch_nvtx);
	setenv("CUDATRACE_DIR", dir, 1);
	setenv("CUDATRACE_TRACE", trace, 1);
	setenv("CUDATRACE_SINK", backend, 1);
}

/* In the child, after fork(): never returns. */
static void launch_run(char **argv, const char *library, const char *dir, const uint8_t uuid[16],
		       const char *backend, const sigset_t *mask, const struct sigaction *sigchld, int report)
{
	size_t i;
	int code;

	for (i = 0; i < FORWARDED; i++)
		signal(forwarded[i], SIG_DFL);
	ct_signals_restore();
	sigaction(SIGCHLD, sigchld, NULL);
	sigprocmask(SIG_SETMASK, mask, NULL);
	if (library)
		launch_set_environment(library, dir, uuid, backend);
	execvp(argv[0], argv);
	code = errno;
	if (write(report, &code, sizeof(code)) < 0)
		_exit(126);
	_exit(code == ENOENT ? 127 : 126);
}

static void launch_catch_signals(void)
{
	struct sigaction action = { .sa_sigaction = launch_forward,
				    .sa_flags = SA_SIGINFO | SA_RESTART };
	struct sigaction old;
	size_t i;

	for (i = 0; i < FORWARDED; i++) {
		/* What is ignored (nohup) stays ignored, in the child too. */
		if (!sigaction(forwarded[i], NULL, &old) && old.sa_handler == SIG_IGN)
			continue;
		sigaction(forwarded[i], &action, NULL);
	}
}

static int launch_make_mark(struct ct_error *err)
{
	uint8_t random[16];

	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return ct_fail(err, errno, "no random numbers: %s", strerror(errno));
	for (unsigned int i = 0; i < sizeof(random); i++)
		sprintf(ct_launch_mark + 2 * i, "%02x", random[i]);
	return 0;
}

int ct_launch(struct ct_child *child, char **argv, const char *library, const char *dir,
	      const uint8_t uuid[16], const char *backend, struct ct_error *err)
{
	const struct sigaction waited = { .sa_handler = SIG_DFL };
	struct sigaction sigchld;
	sigset_t all, old;
	int report[2], code = 0;
	ssize_t n;

	code = *ct_launch_keeps ? launch_make_mark(err) : 0;
	if (code)
		return code;
	if (pipe2(report, O_CLOEXEC))
		return ct_fail(err, errno, "pipe: %s", strerror(errno));
	/* A signal that arrives before the handlers are set must not be lost. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &old);
	/* Where it is ignored, as we may have inherited it, a child leaves no status. */
	sigaction(SIGCHLD, &waited, &sigchld);
	child->pid = fork();
	if (child->pid < 0) {
		code = errno;
		sigprocmask(SIG_SETMASK, &old, NULL);
		close(report[0]);
		close(report[1]);
		return ct_fail(err, code, "fork: %s", strerror(code));
	}
	if (!child->pid)
		launch_run(argv, library, dir, uuid, backend, &old, &sigchld, report[1]);
	target = child->pid;
	launch_catch_signals();
	sigprocmask(SIG_SETMASK, &old, NULL);
	close(report[1]);
	do {
		n = read(report[0], &code, sizeof(code));
	} while (n < 0 && errno == EINTR);
	close(report[0]);
	if (n == sizeof(code)) {
		waitpid(child->pid, NULL, 0);
		child->ended = true;
		target = 0;
		child->status = code == ENOENT ? 127 : 126;
		return ct_fail(err, code, "%s: %s", argv[0], strerror(code));
	}
	child->pidfd = syscall(SYS_pidfd_open, child->pid, 0);
	return 0;
}

int ct_launch_wait(struct ct_child *child, int ms)
{
	struct pollfd p = { .fd = child->pidfd, .events = POLLIN };
	int status;
	pid_t pid;

	if (child->pidfd >= 0 && poll(&p, 1, ms) <= 0)
		return 0;
	/* No pidfd (kernels before 5.3): sleep, then ask. */
	if (child->pidfd < 0 && ms > 0)
		poll(NULL, 0, ms);
	do {
		pid = waitpid(child->pid, &status, child->pidfd < 0 && ms >= 0 ? WNOHANG : 0);
	} while (pid < 0 && errno == EINTR);
	if (!pid)
		return 0;
	child->ended = true;
	target = 0;
	if (child->pidfd >= 0)
		close(child->pidfd);
	if (pid < 0)
		child->status = 1; /* another thread has waited for it */
	else
		child->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	return 1;
}
