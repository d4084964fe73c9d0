// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * See inject.h.  The called function returns to an address of the kernel's, where the thread faults: ptrace
 * stops it there, and the program never gets that signal.  All signals for faults are let through meanwhile,
 * because the kernel takes away the handler of one that the thread has blocked; and it resets one that is ignored.
 *
 * So in a process that ignores SIGSEGV the function returns to the thread's own syscall instruction, the one
 * that it waits in: ptrace stops it there, with the result as the number of a system call that is
 * not made.  But then it stops at each system call of the function, too, and where all processors are busy the thread
 * waits for one again and again: dlopen() makes dozens.
 */
#include "attach/inject.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "attach/guard.h"
#include "base/clock.h"
#include "base/proc.h"

#define STACK		(512u << 10)
#define RED_ZONE	128
#define NT_XSTATE	0x202

/* Not in all headers. */
#define GET_MASK	0x420a
#define SET_MASK	0x420b

#define RETURN_TO	0xffffffff00000000ull	/* of the kernel: no program can have anything there */

/* What the kernel has in rax of a system call that a signal interrupts; not in headers. */
#define ERESTARTNOHAND	514

#define PAUSE_NS	10000000
#define LOOK_NS		200000000	/* between two looks at a call that is late */

uint64_t ct_inject_deadline(void)
{
	const char *text = getenv("CUDATRACE_ATTACH_DEADLINE");
	double seconds = text ? strtod(text, NULL) : 0;

	return (uint64_t)((seconds > 0 && seconds < 1e6 ? seconds : CT_INJECT_DEADLINE) * 1e9);
}

/* Until the thread has stopped, which the kernel tells by a signal that the guard has blocked; not long, as it may not come. */
static void inject_pause(void)
{
	struct timespec most = { .tv_nsec = PAUSE_NS };
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigtimedwait(&child, NULL, &most);
}

/* Waits until the thread stops.  Return: its status; 0: not in time; -1: it has gone. */
static int inject_wait(const struct ct_inject *x, uint64_t until)
{
	int status;

	for (;;) {
		pid_t got = waitpid(x->tid, &status, __WALL | WNOHANG);

		if (got == x->tid)
			return WIFSTOPPED(status) ? status : -1;
		if (got < 0 && errno != EINTR)
			return -1;
		if (ct_now_ns() > until)
			return 0;
		inject_pause();
	}
}

static bool inject_is_event(int status)
{
	return status >> 16 == PTRACE_EVENT_STOP;
}

/*
 * Stops the thread, whatever it does; where it stands still already (stopped), it goes on as far as
 * to there.  Signals that come first are passed on.
 */
static int inject_stop(const struct ct_inject *x, bool stopped, uint64_t until)
{
	int status;

	if (ptrace(PTRACE_INTERRUPT, x->tid, 0, 0))
		return -errno;
	if (stopped)
		ptrace(PTRACE_CONT, x->tid, 0, 0);
	for (;;) {
		status = inject_wait(x, until);
		if (status < 0)
			return -ESRCH;
		if (!status)
			return -ETIMEDOUT;
		if (inject_is_event(status))
			return 0;
		/* Any stop takes the place of the one that was asked for. */
		ptrace(PTRACE_INTERRUPT, x->tid, 0, 0);
		/* Signals, but not those of ptrace itself. */
		ptrace(PTRACE_CONT, x->tid, 0, (WSTOPSIG(status) & 0x7f) == SIGTRAP ? 0 : WSTOPSIG(status));
	}
}

/* System calls that end with EINTR after any stop, where others are begun again. */
static bool inject_never_restarted(long nr)
{
	return nr == SYS_epoll_wait || nr == SYS_epoll_pwait || nr == SYS_semop || nr == SYS_semtimedop ||
	       nr == 441 /* epoll_pwait2 */ || nr == SYS_io_getevents;
}

static int inject_save(struct ct_inject *x)
{
	struct iovec vector = { x->vector, sizeof(x->vector) };
	uint8_t code[2];
	struct iovec here = { code, 2 }, there = { NULL, 2 };

	if (ptrace(PTRACE_GETREGS, x->tid, 0, &x->saved) ||
	    ptrace(PTRACE_GETREGSET, x->tid, NT_XSTATE, &vector))
		return -errno;
	x->vector_size = vector.iov_len;
	if (ptrace(GET_MASK, x->tid, sizeof(x->mask), &x->mask))
		return -errno;
	/* Between two system calls it may be anywhere, in malloc too. */
	if ((long)x->saved.orig_rax < 0 || x->saved.cs != 0x33)
		return -EAGAIN;
	there.iov_base = (void *)(x->saved.rip - 2);
	if (process_vm_readv(x->pid, &here, 1, &there, 1, 0) != 2 || memcmp(code, "\x0f\x05", 2))
		return -EAGAIN;		/* 32 bits, or another way into the kernel */
	if ((long)x->saved.rax == -EINTR && inject_never_restarted((long)x->saved.orig_rax))
		x->saved.rax = (unsigned long long)-ERESTARTNOHAND;
	return 0;
}

/* A handler that ran inside a call could call what takes the loader's lock, or never return. */
static void inject_block(const struct ct_inject *x)
{
	const uint64_t faults = 1ull << (SIGSEGV - 1) | 1ull << (SIGBUS - 1) | 1ull << (SIGILL - 1) | 1ull << (SIGFPE - 1) | 1ull << (SIGTRAP - 1);
	uint64_t mask = ~faults;

	ptrace(SET_MASK, x->tid, sizeof(mask), &mask);
}

static int inject_memory(struct ct_inject *x, struct ct_error *err)
{
	const uint64_t map[6] = { 0, STACK, 3 /* read, write */, 0x22 /* private, anonymous */, -1ull, 0 };
	static const uint64_t none[6];
	struct iovec here = { &x->errno_before, 4 }, there = { NULL, 4 };
	uint64_t at;
	int rc;

	rc = ct_inject_call(x, x->libc->errno_location, none, &x->errno_at, err);
	if (rc)
		return rc;
	there.iov_base = (void *)x->errno_at;
	if (process_vm_readv(x->pid, &here, 1, &there, 1, 0) != 4)
		return ct_fail(err, errno, "process %d: its memory can't be read: %s", x->pid, strerror(errno));
	rc = ct_inject_call(x, x->libc->mmap, map, &at, err);
	if (rc)
		return rc;
	if (at >= -4096ull || !at)
		return ct_fail(err, ENOMEM, "process %d has no memory for the library", x->pid);
	x->memory = at;
	return 0;
}

/*
 * Whom a limit alone (RLIMIT_RTPRIO) lets have such priorities may not take RESET_ON_FORK away again: the thread would
 * keep its priority for ever.  So this process, which the guard made, tries it out at its own.
 */
static bool inject_may_calm(void)
{
	int policy = sched_getscheduler(0);
	struct sched_param own;

	return policy >= 0 && !sched_getparam(0, &own) && !sched_setscheduler(0, policy | SCHED_RESET_ON_FORK, &own) &&
	       !sched_setscheduler(0, policy & ~SCHED_RESET_ON_FORK, &own);
}

/* Does the kernel end no thread of it that runs for long by such a priority (RLIMIT_RTTIME)? */
static bool inject_has_time(pid_t pid)
{
	struct rlimit limit;

	return !prlimit(pid, RLIMIT_RTTIME, NULL, &limit) && limit.rlim_cur == RLIM_INFINITY;
}

/*
 * Where all processors are busy the thread would wait for one while nobody can use it, and so would all that wait
 * for it.  By a niceness alone it often does, as that counts in its own session only (autogroup).  What it makes
 * meanwhile is as without (RESET_ON_FORK).  Who may not do this lets it wait.
 */
static void inject_hurry(struct ct_inject *x)
{
	const struct sched_param first = { .sched_priority = 1 };
	int policy = sched_getscheduler(x->tid), kind = policy & ~SCHED_RESET_ON_FORK;

	x->policy = policy;
	ct_guard_owes(x->tid, policy);
	x->hurries = policy >= 0 && (kind == SCHED_OTHER || kind == SCHED_BATCH || kind == SCHED_IDLE) &&
		     inject_may_calm() && inject_has_time(x->pid) && !sched_setscheduler(x->tid, SCHED_FIFO | SCHED_RESET_ON_FORK, &first);
	if (!x->hurries)
		ct_guard_owes(x->tid, -1);
}

static void inject_calm(struct ct_inject *x)
{
	const struct sched_param none = { .sched_priority = 0 };

	if (x->hurries)
		sched_setscheduler(x->tid, x->policy, &none);
	x->hurries = false;
	ct_guard_owes(x->tid, -1);
}

static void inject_let_go(struct ct_inject *x)
{
	inject_calm(x);
	ptrace(PTRACE_DETACH, x->tid, 0, 0);
}

int ct_inject_refused(pid_t pid, int error, struct ct_error *err)
{
	return ct_fail(err, error, "process %d can't be attached to: %s%s", pid, strerror(error),
		       error == EPERM ? " (another tool traces it, or kernel.yama.ptrace_scope forbids it: run as root, or sysctl kernel.yama.ptrace_scope=0)" : "");
}

/* The process has become another program since: calls would go to where that one's functions were. */
static bool inject_is_other(const struct ct_inject *x)
{
	struct ct_proc_stat s;

	return x->libc->stack && ct_proc_stat(x->pid, &s) && s.stack && s.stack != x->libc->stack;
}

/* Does it ignore this signal?  Also true where that is not known. */
static bool inject_ignores(pid_t pid, int signal)
{
	unsigned long long ignored = ~0ull;
	char line[256];
	FILE *f;

	snprintf(line, sizeof(line), "/proc/%d/status", pid);
	f = fopen(line, "re");
	while (f && fgets(line, sizeof(line), f) && sscanf(line, "SigIgn: %llx", &ignored) != 1)
		;
	if (f)
		fclose(f);
	return ignored >> (signal - 1) & 1;
}

int ct_inject_begin(struct ct_inject *x, pid_t pid, pid_t tid, const struct ct_inject_libc *libc,
		    struct ct_error *err)
{
	int rc;

	*x = (struct ct_inject){ .pid = pid, .tid = tid, .libc = libc, .by_fault = !inject_ignores(pid, SIGSEGV) };
	if (ptrace(PTRACE_SEIZE, tid, 0, PTRACE_O_TRACESYSGOOD)) {
		return errno == ESRCH ? -EAGAIN : ct_inject_refused(pid, errno, err);
	}
	inject_hurry(x);
	x->stopped_at = ct_now_ns();
	rc = inject_stop(x, false, x->stopped_at + ct_inject_deadline());
	if (rc) {
		inject_let_go(x);
		return rc == -ESRCH ? -EAGAIN :
				      ct_fail(err, -rc, "process %d: its thread %d does not stop", pid, tid);
	}
	if (inject_is_other(x)) {
		inject_let_go(x);
		return ct_fail(err, ESRCH, "process %d runs another program by now (exec): try again", pid);
	}
	rc = inject_save(x);
	if (rc) {
		inject_let_go(x);
		return rc == -EAGAIN ? rc : ct_fail(err, -rc, "process %d: %s", pid, strerror(-rc));
	}
	inject_block(x);
	rc = inject_memory(x, err);
	if (rc)
		ct_inject_end(x);
	return rc;
}

uint64_t ct_inject_copy(struct ct_inject *x, const void *bytes, size_t size)
{
	struct iovec here = { (void *)bytes, size }, there = { (void *)(x->memory + x->used), size };
	uint64_t at = x->memory + x->used;

	if (x->used + size > CT_INJECT_TEXT ||
	    process_vm_writev(x->pid, &here, 1, &there, 1, 0) != (ssize_t)size)
		return 0;
	x->used += (size + 15) & ~15ull;
	return at;
}

void ct_inject_read_text(const struct ct_inject *x, uint64_t at, char *text, size_t size)
{
	struct iovec here = { text, size - 1 }, there = { (void *)at, size - 1 };
	ssize_t n;

	/* It may end before a page that is not mapped. */
	do {
		n = process_vm_readv(x->pid, &here, 1, &there, 1, 0);
		there.iov_len = here.iov_len /= 2;
	} while (n < 0 && here.iov_len);
	text[n < 0 ? 0 : n] = '\0';
}

/* Has it come to where the function returns to? */
static bool inject_is_back(const struct ct_inject *x, uint64_t stack, uint64_t *result)
{
	struct user_regs_struct regs;

	if (ptrace(PTRACE_GETREGS, x->tid, 0, &regs) || regs.rip != RETURN_TO || regs.rsp != stack)
		return false;
	*result = regs.rax;
	return true;
}

/* Is it about to make the system call that says that the function has returned? */
static bool inject_returned(struct ct_inject *x, uint64_t stack, uint64_t *result)
{
	struct user_regs_struct regs;

	if (ptrace(PTRACE_GETREGS, x->tid, 0, &regs) || regs.rip != x->saved.rip || regs.rsp != stack)
		return false;
	*result = regs.orig_rax;
	regs.orig_rax = -1ull;	/* it is not made */
	return !ptrace(PTRACE_SETREGS, x->tid, 0, &regs);
}

/* "libc.so.6+0x1234": where in a file this address of the process is. */
static void inject_place(const struct ct_inject *x, uint64_t at, char *text, size_t size)
{
	struct ct_proc_mapping m = { 0 };
	bool found = false;
	FILE *maps = ct_proc_maps(x->pid);

	while (maps && !found && ct_proc_next_mapping(maps, &m))
		found = at >= m.start && at < m.end;
	if (maps)
		fclose(maps);
	snprintf(text, size, "%s+0x%llx", found ? ct_proc_file(m.path) : "?",
		 (unsigned long long)(found ? at - m.start + m.offset : at));
}

/* Where it happened shows the reason.  After a call to no address the caller is on the stack. */
static int inject_fault(const struct ct_inject *x, int signal, struct ct_error *err)
{
	char place[300], caller[300] = "";
	struct user_regs_struct regs = { 0 };
	uint64_t word = 0;
	struct iovec here = { &word, sizeof(word) }, there = { NULL, sizeof(word) };
	siginfo_t info = { 0 };

	if (ptrace(PTRACE_GETREGS, x->tid, 0, &regs))
		snprintf(caller, sizeof(caller), ", registers: %s", strerror(errno));
	ptrace(PTRACE_GETSIGINFO, x->tid, 0, &info);
	inject_place(x, regs.rip, place, sizeof(place));
	there.iov_base = (void *)regs.rsp;
	if (process_vm_readv(x->pid, &here, 1, &there, 1, 0) > 0 && !regs.rip) {
		strcpy(caller, ", called from ");
		inject_place(x, word, caller + strlen(caller), sizeof(caller) - strlen(caller));
	}
	return ct_fail(err, EFAULT, "process %d: the call failed with signal %d and was undone (address %p, at %s%s)",
		       x->pid, signal, info.si_addr, place, caller);
}

/* As glibc has a mutex that the same thread may lock again. */
struct loader_lock {
	int32_t lock;
	uint32_t count;
	int32_t owner;
	uint32_t users;
	int32_t kind;
};

/* Does the thread hold a lock of the loader's?  True also where that can't be seen. */
static bool inject_holds_loader(const struct ct_inject *x)
{
	bool holds = false;

	for (unsigned int i = 0; i < x->libc->loader_count && !holds; i++) {
		size_t size = x->libc->loader[i].end - x->libc->loader[i].start;
		struct iovec here = { malloc(size), size }, there = { (void *)x->libc->loader[i].start, size };
		const int32_t *words = here.iov_base;

		holds = !words || process_vm_readv(x->pid, &here, 1, &there, 1, 0) != (ssize_t)size;
		for (size_t at = 0; !holds && at + sizeof(struct loader_lock) / 4 <= size / 4; at++) {
			const struct loader_lock *l = (const void *)(words + at);

			holds = l->owner == x->tid && l->lock && l->count && l->kind == 1;
		}
		free(here.iov_base);
	}
	return holds || !x->libc->loader_count;
}

/* The thread stands still.  May the call be undone where it is? */
static bool inject_may_leave(const struct ct_inject *x, uint64_t function)
{
	struct user_regs_struct regs;

	if (function == x->libc->mmap || function == x->libc->munmap || function == x->libc->errno_location)
		return true;
	if (ptrace(PTRACE_GETREGS, x->tid, 0, &regs))
		return false;
	/* It has not begun. */
	if (regs.rip == function)
		return true;
	if (regs.orig_rax != SYS_futex)
		return false;
	for (unsigned int i = 0; i < x->libc->loader_count; i++)
		if (regs.rdi >= x->libc->loader[i].start && regs.rdi < x->libc->loader[i].end)
			return !inject_holds_loader(x);
	return false;
}

/* The call is late, and the thread stands still.  True: it is to be undone; else it goes on. */
static bool inject_is_over(struct ct_inject *x, uint64_t function, struct ct_error *err)
{
	bool may = inject_may_leave(x, function);
	char seconds[32];

	snprintf(seconds, sizeof(seconds), "%.3g", (double)ct_inject_deadline() / 1e9);
	ct_fail(err, ETIMEDOUT, may ? "process %d: its thread %d did not come back within %s s: it waited for a lock of the loader's, or for a processor; try again" :
		"process %d: its thread %d did not come back within %s s; nothing is recorded of it, and it goes on as before when it comes back",
		x->pid, x->tid, seconds);
	if (may) {
		x->broken = true;
		/* To where the kernel looks for signals. */
		inject_stop(x, true, UINT64_MAX);
	} else if (!x->late) {
		x->late = true;
		inject_calm(x);
		ct_guard_late(err);
	}
	return may;
}

/* Runs until the function has returned; stack: the stack pointer then. */
static int inject_run(struct ct_inject *x, uint64_t function, uint64_t stack, uint64_t *result, struct ct_error *err)
{
	/* After a call that was late there are those that put back what there is. */
	uint64_t until = (x->late ? ct_now_ns() : x->stopped_at) + ct_inject_deadline();
	bool returned = false, before = x->late;
	int signal = 0, status;

	for (;;) {
		bool late;

		if (ptrace(x->by_fault ? PTRACE_CONT : PTRACE_SYSCALL, x->tid, 0, signal))
			return ct_fail(err, errno, "process %d has ended", x->pid);
		signal = 0;
		status = inject_wait(x, until);
		late = !status;
		if (late) {
			/* It may come back just now: its next stop says so. */
			ptrace(PTRACE_INTERRUPT, x->tid, 0, 0);
			status = inject_wait(x, UINT64_MAX);
			until = ct_now_ns() + LOOK_NS;
		}
		if (status < 0)
			return ct_fail(err, ESRCH, "process %d has ended, or runs another program now", x->pid);
		if (WSTOPSIG(status) == (SIGTRAP | 0x80)) {
			if (returned)
				return x->late && !before ? -ETIMEDOUT : 0;
			returned = inject_returned(x, stack, result);
		} else if (!inject_is_event(status)) {
			signal = WSTOPSIG(status);
			if (x->by_fault && signal == SIGSEGV && inject_is_back(x, stack, result))
				return x->late && !before ? -ETIMEDOUT : 0;
			if (signal != SIGSEGV && signal != SIGBUS && signal != SIGILL)
				continue;
			x->broken = true;
			return inject_fault(x, signal, err);
		}
		if (late && !returned && !(x->by_fault && inject_is_back(x, stack, result)) && inject_is_over(x, function, err))
			return -ETIMEDOUT;
	}
}

int ct_inject_call(struct ct_inject *x, uint64_t function, const uint64_t args[6], uint64_t *result,
		   struct ct_error *err)
{
	uint64_t stack = x->memory ? x->memory + STACK - 64 : x->saved.rsp - RED_ZONE;
	struct user_regs_struct regs = x->saved;
	uint64_t back = x->by_fault ? RETURN_TO : x->saved.rip - 2;
	struct iovec here = { &back, 8 }, there;

	if (x->broken)
		return ct_fail(err, EIO, "process %d: a call before failed", x->pid);
	/* As after a call instruction: 8 bytes off. */
	stack = (stack & ~15ull) - 8;
	there = (struct iovec){ (void *)stack, 8 };
	if (process_vm_writev(x->pid, &here, 1, &there, 1, 0) != 8)
		return ct_fail(err, errno, "process %d: its memory can't be written: %s", x->pid, strerror(errno));
	regs.rsp = stack;
	regs.rip = function;
	regs.rdi = args[0];
	regs.rsi = args[1];
	regs.rdx = args[2];
	regs.rcx = args[3];
	regs.r8 = args[4];
	regs.r9 = args[5];
	regs.rax = 0;
	regs.orig_rax = -1ull;	/* it is in no system call that would be begun again */
	regs.eflags &= ~0x400ull;	/* strings go upwards */
	if (ptrace(PTRACE_SETREGS, x->tid, 0, &regs))
		return ct_fail(err, errno, "process %d: %s", x->pid, strerror(errno));
	x->called = true;
	return inject_run(x, function, stack + 8, result, err);
}

static void inject_errno_back(struct ct_inject *x)
{
	struct iovec here = { &x->errno_before, 4 }, there = { (void *)x->errno_at, 4 };

	if (process_vm_writev(x->pid, &here, 1, &there, 1, 0) != 4)
		return;		/* it has gone */
}

uint64_t ct_inject_end(struct ct_inject *x)
{
	bool called = x->called && !x->broken;
	struct iovec vector = { x->vector, x->vector_size };
	const uint64_t unmap[6] = { x->memory, STACK };
	struct ct_error ignored = { 0 };
	uint64_t result;

	if (x->memory && !x->broken) {
		x->memory = 0;	/* the next call stands on the thread's own stack */
		ct_inject_call(x, x->libc->munmap, unmap, &result, &ignored);
		inject_errno_back(x);
	}
	/* Where the kernel looks for signals, it also begins an interrupted system call again; there it is with a fault. */
	if (called && !x->by_fault)
		inject_stop(x, true, UINT64_MAX);
	ptrace(PTRACE_SETREGSET, x->tid, NT_XSTATE, &vector);
	ptrace(PTRACE_SETREGS, x->tid, 0, &x->saved);
	ptrace(SET_MASK, x->tid, sizeof(x->mask), &x->mask);
	inject_let_go(x);
	return ct_now_ns() - x->stopped_at;
}
