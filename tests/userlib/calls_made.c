// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Which system calls does attaching make in a process, and are all of them among those that a filter is asked for?
 *
 *	calls_made LIBRARY STACKS DIR
 *
 * A program brings the library and the plugin for stacks in as record --pid does, is recorded into DIR in several threads and
 * a child of its own, and left, twice.  It marks what is done for us; the rest is the program's.  Its parent traces it, and looks
 * each of our calls up in the list of cli/attach/seccomp.c.  Prints those that are not there, and "N calls, N of the list".
 * Without the tracing it runs before, so that the trace is there, as a recorder makes it.
 */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/attach/seccomp.c"
#include "userlib/include/cudatrace/attach.h"
#include "tests/userlib/mock.h"

#define TASKS		256
#define MARK_OURS	-77	/* descriptors that are "closed" */
#define MARK_OWN	-78

/* ------------------------------------------------------ the program -------- */

static void mark(int what)
{
	syscall(SYS_close, what);
}

static void call_often(int times)
{
	dptr p;

	for (int i = 0; i < times; i++) {
		mark(MARK_OURS);
		cuMemAlloc_v2(&p, 16);
		cuMemFree_v2(p);
		mark(MARK_OWN);
	}
}

static void *thread(void *arg)
{
	call_often(*(int *)arg);
	/* What the library does at its end. */
	mark(MARK_OURS);
	return NULL;
}

static void *bring_in(const char *path, const char *name)
{
	static const char *const spelled[] = { "/proc/self/fd/%d", "/proc/self/./fd/%d" };
	static int nth;
	int fd = memfd_create(name, MFD_CLOEXEC), from = open(path, O_RDONLY | O_CLOEXEC);
	char buffer[65536], there[64];
	void *library;
	ssize_t n;

	while ((n = read(from, buffer, sizeof(buffer))) > 0)
		if (write(fd, buffer, (size_t)n) != n)
			_exit(3);
	close(from);
	snprintf(there, sizeof(there), spelled[nth++], fd);
	mark(MARK_OURS);
	library = dlopen(there, RTLD_NOW);
	close(fd);
	mark(MARK_OWN);
	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		_exit(4);
	}
	return library;
}

static void work(int times)
{
	pthread_t threads[3];
	pid_t child;

	call_often(times);
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, thread, &times);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	child = fork();
	if (!child) {
		call_often(times / 10 + 1);
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

/* Of the trace that is there, by which a recorder says which one it means; "": none. */
static void uuid_of(const char *dir, char *uuid, size_t size)
{
	char path[4096], text[256] = "";
	const char *found;
	FILE *f;

	snprintf(path, sizeof(path), "%s/.registry", dir);
	f = fopen(path, "r");
	if (f && !fgets(text, sizeof(text), f))
		text[0] = '\0';
	if (f)
		fclose(f);
	found = strstr(text, "uuid=");
	snprintf(uuid, size, "%.32s", found ? found + 5 : "");
}

/* The path is spelled in two ways, as record --pid does it: the loader takes the same path for the same file. */
static int program(char **argv)
{
	void *library, *stacks;
	struct ct_attach_asked asked = { .stacks_what = "all" };
	volatile struct ct_attach_answer *answer;
	__typeof__(cudatrace_attach_start) *start;
	__typeof__(cudatrace_detach) *detach;
	char uuid[33];
	int n;

	uuid_of(argv[3], uuid, sizeof(uuid));
	cuInit(0);
	work(1);
	/* memfd_create() itself is in the list by hand. */
	library = bring_in(argv[1], "libcudatrace-test.so");
	stacks = bring_in(argv[2], "libcudatrace-stacks-test.so");
	start = (__typeof__(start))dlsym(library, "cudatrace_attach_start");
	detach = (__typeof__(detach))dlsym(library, "cudatrace_detach");
	answer = dlsym(library, "cudatrace_attach_answer");
	asked.stack = (uint64_t)dlsym(stacks, "cudatrace_stack");
	asked.stacks_begin = (uint64_t)dlsym(stacks, "cudatrace_stacks_begin");
	n = snprintf(asked.options, sizeof(asked.options) - 64, "CUDATRACE_SINK=files%cCUDATRACE_DIR=%s%cCUDATRACE_STACKS=native%c%s%s", 0, argv[3], 0, 0,
		     *uuid ? "CUDATRACE_TRACE=" : "", uuid);
	asked.options[n + 1] = '\0';
	if (!start || !detach || !answer || !asked.stack || !asked.stacks_begin)
		return 5;
	for (int round = 0; round < 2; round++) {
		uint32_t ticket;

		mark(MARK_OURS);
		ticket = (uint32_t)start(&asked);
		mark(MARK_OWN);
		if ((int)ticket < 0)
			return 6;
		while (answer->ticket != ticket || !answer->done)
			;
		if (answer->result)
			return 7;
		work(5000);
		mark(MARK_OURS);
		detach(CT_DETACH_PUT_BACK, 0);
		detach(CT_DETACH_LEAVE, 0);
		mark(MARK_OWN);
	}
	return 0;
}

/* ------------------------------------------------------ who looks ---------- */

static struct task {
	pid_t tid;
	bool inside, ours;
} tasks[TASKS];
static bool seen[sizeof(calls) / sizeof(calls[0])], missed[1024];
static unsigned long made;

static struct task *task_of(pid_t tid)
{
	for (int i = 0; i < TASKS; i++)
		if (tasks[i].tid == tid)
			return &tasks[i];
	for (int i = 0; i < TASKS; i++)
		if (!tasks[i].tid) {
			tasks[i] = (struct task){ .tid = tid };
			return &tasks[i];
		}
	exit(9);
}

/* Where the list has more than the number, filters decide by that. */
static bool is_it(const struct call *c, const uint64_t *args)
{
	switch (c->nr) {
	case SYS_prctl: case SYS_clone:
		return (uint32_t)args[0] == (uint32_t)c->args[0];
	case SYS_mmap:
		return args[2] == c->args[2] || args[2] == PROT_READ || args[2] == PROT_NONE;
	case SYS_mprotect:
		return args[2] == c->args[2] || args[2] == (PROT_READ | PROT_WRITE) || args[2] == PROT_NONE;
	}
	return true;
}

static void look_up(int nr, const uint64_t *args)
{
	bool found = false;

	made++;
	for (unsigned int i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (calls[i].nr == nr && is_it(&calls[i], args))
			seen[i] = found = true;
	if (found || nr < 0 || nr >= 1024 || missed[nr])
		return;
	missed[nr] = true;
	printf("not in the list: system call %d (%#llx, %#llx, %#llx)\n", nr, (unsigned long long)args[0],
	       (unsigned long long)args[1], (unsigned long long)args[2]);
}

static void at_call(struct task *t)
{
	struct user_regs_struct regs;
	uint64_t args[3];

	t->inside = !t->inside;
	if (!t->inside || ptrace(PTRACE_GETREGS, t->tid, 0, &regs))
		return;
	args[0] = regs.rdi;
	args[1] = regs.rsi;
	args[2] = regs.rdx;
	if (regs.orig_rax == SYS_close && (int)args[0] == MARK_OURS)
		t->ours = true;
	else if (regs.orig_rax == SYS_close && (int)args[0] == MARK_OWN)
		t->ours = false;
	else if (t->ours)
		look_up((int)regs.orig_rax, args);
}

/* What a task of the library's makes is the library's. */
static void at_new(const struct task *parent, int status)
{
	unsigned long tid = 0;

	if (ptrace(PTRACE_GETEVENTMSG, parent->tid, 0, &tid) || status >> 16 == PTRACE_EVENT_EXIT)
		return;
	task_of((pid_t)tid)->ours = parent->ours;
}

int main(int argc, char **argv)
{
	const long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_EXITKILL;
	unsigned int of_list = 0;
	int status, result = 8;
	pid_t child, tid;

	if (argc < 4)
		return 2;
	child = fork();
	if (!child)
		_exit(program(argv));
	waitpid(child, &status, 0);
	child = fork();
	if (!child) {
		raise(SIGSTOP);
		_exit(program(argv));
	}
	waitpid(child, &status, WUNTRACED);
	if (ptrace(PTRACE_SEIZE, child, 0, options))
		return 77;
	kill(child, SIGCONT);
	while ((tid = waitpid(-1, &status, __WALL)) > 0) {
		struct task *t = task_of(tid);
		int signal = 0;

		if (WIFEXITED(status) || WIFSIGNALED(status)) {
			if (tid == child)
				result = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
			t->tid = 0;
			continue;
		}
		if (WSTOPSIG(status) == (SIGTRAP | 0x80))
			at_call(t);
		else if (status >> 16 == PTRACE_EVENT_STOP)
			;
		else if (status >> 16)
			at_new(t, status);
		else
			signal = WSTOPSIG(status);
		ptrace(PTRACE_SYSCALL, tid, 0, signal);
	}
	for (unsigned int i = 0; i < sizeof(seen); i++)
		of_list += seen[i];
	printf("%lu calls, %u of the list\n", made, of_list);
	return result;
}
