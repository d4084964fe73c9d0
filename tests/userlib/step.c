// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Looks at a traced call instruction by instruction, by ptrace.
 *
 *	step count WHAT		prints the instructions of a call: the library's, libcuda's
 *	step signal WHAT	a signal after the n-th instruction of a call, for every n, and
 *				another one when the call is inside libcuda; their handlers
 *				call CUDA.  Prints how many calls were made.
 *	step longjmp WHAT	the same; the first one's handler leaves by longjmp
 *	step fork WHAT		a signal after the n-th instruction, whose handler forks and
 *				returns; the child goes on when the parent has made 50 calls
 *				more, and in every other round it calls CUDA first.  Prints
 *				the parent's pid, and how many calls it has made
 *	step both WHAT		a signal whose handler calls CUDA after the n-th instruction,
 *				and after m more one whose handler leaves by longjmp
 *				All: every STEP_STRIDE-th instruction, beginning at STEP_FIRST,
 *				and STEP_MANY queries more in the first handler (before it leaves), if these are
 *				set; STEP_ONCE: there is one signal, whose handler is gone
 *				when it runs
 *	step first WHAT		a process for each n, in whose first call a signal comes after the
 *				n-th instruction, up to the first at which signals are blocked; its
 *				handler calls CUDA, too.  Prints how many processes there were
 *	step look WHAT COMMAND	runs COMMAND (by sh) after each instruction that changed a
 *				file of CUDATRACE_DIR; it must succeed.  Prints how often.
 *	step start PROGRAM	prints the library's instructions from the start to the end of
 *				PROGRAM, which is run without arguments
 *	WHAT			query, call, launch, or other (one that libcuda's headers
 *				do not know); STEP_NESTED: inside another call
 * Exit status 0, or 1 if a call or a command went wrong.
 */
#define _GNU_SOURCE
#include "mock.h"

#include <dirent.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <setjmp.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef PTRACE_GET_RSEQ_CONFIGURATION
#define PTRACE_GET_RSEQ_CONFIGURATION	0x420f
#endif
#define WARM		300	/* calls before the first that is looked at */
#define ROUNDS		50	/* of step count */
#define STEPS_MAX	100000
#define AFTER		12	/* instructions between two signals of step both */
#define FORK_CALLS	50	/* by the parent, of step fork */

#define DIE(...)	do { fprintf(stderr, "step: " __VA_ARGS__); fputc('\n', stderr); exit(1); } while (0)

/* ------------------------------------------------------------ the program --- */
static __typeof__(cuCtxGetCurrent) *get;
static __typeof__(cuCtxSetCurrent) *set;
static __typeof__(cuLaunchKernel) *launch;
static __typeof__(cuMockCount) *other;
static const char *what;
static bool jumps, both, forks, once;
static int go[2];	/* a pipe: the child may go on */
static pid_t forked;
static int many;	/* calls more in a handler: STEP_MANY */
static sigjmp_buf jump;

#define MARK()	__asm__ volatile("int3" ::: "memory")

/* Its call stands far below on the stack. */
static __attribute__((noinline)) void deep(void)
{
	volatile char room[4096];

	room[0] = 1;
	if (set((void *)2) || !room[0])
		exit(1);
}

static void *caller;		/* in main(), where program() returns to */

/* Through whatever was interrupted, up to main(). */
static void unwind(void)
{
	void *pc[64];
	int n = backtrace(pc, 64);

	while (n && pc[n - 1] != caller)
		n--;
	if (!n)
		exit(1);
}

static void ignore(int sig)
{
	(void)sig;
}

/* The child is not stepped. */
static void fork_here(void)
{
	static int rounds;
	char byte;

	rounds++;
	if (pipe(go))
		exit(1);
	forked = fork();
	if (forked)
		return;
	signal(SIGTRAP, ignore);
	close(go[1]);
	if (read(go[0], &byte, 1) || (rounds % 2 && set((void *)4)))
		_exit(1);
}

/* The parent goes on, and then the child. */
static void end_fork(void)
{
	int ended;

	if (!forked)
		_exit(0);
	for (int i = 0; i < FORK_CALLS; i++)
		if (set((void *)5))
			exit(1);
	close(go[0]);
	close(go[1]);
	if (waitpid(forked, &ended, 0) != forked || ended)
		exit(1);
	MARK();
}

static void handler(int sig)
{
	unwind();
	if (forks) {
		fork_here();
		return;
	}
	if (sig == SIGUSR1) {
		void *ctx;

		/* So many that its packet is full, and unmapped. */
		for (int i = 0; i < many; i++)
			if (get(&ctx))
				exit(1);
	}
	if ((jumps && sig == SIGUSR1) || (both && sig == SIGUSR2))
		siglongjmp(jump, 1);
	if (sig == SIGUSR1) {
		deep();
		MARK();
	} else if (set((void *)3)) {
		exit(1);
	}
}

static int one(void)
{
	void *ctx;

	switch (*what) {
	case 'q':
		return get(&ctx);
	case 'c':
		return set((void *)1);
	case 'o':
		return other() < 0;
	}
	return launch((void *)0xf00d, 1, 2, 3, 4, 5, 6, 7, (void *)8, (void *)9, (void *)10);
}

static void install(int sig)
{
	struct sigaction sa = { .sa_handler = handler, .sa_flags = once ? SA_RESETHAND : 0 };

	sigaction(sig, &sa, NULL);
}

static void rounds(void *bad)
{
	for (;;) {
		if (once)
			install(SIGUSR1);
		if (!sigsetjmp(jump, 1)) {
			MARK();
			*(int *)bad = one();
			MARK();
			if (forks)
				end_fork();
		} else {
			MARK();		/* the round's end, too */
			/* The first call after this finds that the last one was left. */
			*(int *)bad = one();
			if (jumps)
				MARK();
		}
		/*
		 * One more, left in peace: a writer that is always interrupted before it
		 * looks for room fills what is kept for handlers.
		 */
		if (*(int *)bad || one())
			return;
	}
}

static void calls_once(int sig)
{
	(void)sig;
	if (set((void *)2))
		_exit(1);
}

/* Its first call, and what a handler has called in it. */
static int first_program(void)
{
	void *lib = dlopen("libcuda.so.1", RTLD_NOW);

	if (!lib)
		DIE("no libcuda");
	get = dlsym(lib, "cuCtxGetCurrent");
	set = dlsym(lib, "cuCtxSetCurrent");
	launch = dlsym(lib, "cuLaunchKernel");
	other = dlsym(lib, "cuMockCount");
	signal(SIGUSR1, calls_once);
	MARK();
	if (one())
		return 1;
	MARK();
	return 0;
}

static __attribute__((noinline)) int program(void)
{
	void *lib = dlopen("libcuda.so.1", RTLD_NOW), *m, *f;
	int bad = 0;

	if (!lib)
		DIE("no libcuda");
	caller = __builtin_return_address(0);
	unwind();	/* which loads what it needs */
	get = dlsym(lib, "cuCtxGetCurrent");
	set = dlsym(lib, "cuCtxSetCurrent");
	launch = dlsym(lib, "cuLaunchKernel");
	other = dlsym(lib, "cuMockCount");
	((__typeof__(cuModuleLoadData) *)dlsym(lib, "cuModuleLoadData"))(&m, "");
	((__typeof__(cuModuleGetFunction) *)dlsym(lib, "cuModuleGetFunction"))(&f, m, "kernel");
	install(SIGUSR1);
	if (!once)
		install(SIGUSR2);
	set((void *)1);
	for (int i = 0; i < WARM; i++)
		if (one())
			return 1;
	if (getenv("STEP_NESTED"))
		((__typeof__(cuMockCall) *)dlsym(lib, "cuMockCall"))(rounds, &bad);
	else
		rounds(&bad);
	return 1;
}

/* ------------------------------------------------------------- the watcher -- */
static pid_t child;
static unsigned long from, to, cuda_from, cuda_to;	/* text of the libraries */

static void find_text(void)
{
	char path[64], line[512];
	unsigned long a, b;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", child);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f)) {
		if (!strstr(line, " r-xp ") || sscanf(line, "%lx-%lx", &a, &b) != 2)
			continue;
		if (strstr(line, "/libcudatrace"))
			from = a, to = b;
		if (strstr(line, "/libcuda.so"))
			cuda_from = a, cuda_to = b;
	}
	if (f)
		fclose(f);
}

enum event { STEP, MARKED, ENDED };

static int status;

/*
 * To stop inside a restartable sequence ends it, as a signal does.  So it is hidden while
 * the program is stepped, and shown again when a signal is to come.
 */
static void hide_sequence(bool hide)
{
	static unsigned long hidden, field;
	static pid_t of;	/* the process that has it there */
	struct { unsigned long address; unsigned size, signature, flags, pad; } rseq;
	unsigned long now;

	/* It is asked for each instruction until there is one, and then stays. */
	if (of != child) {
		if (ptrace(PTRACE_GET_RSEQ_CONFIGURATION, child, sizeof(rseq), &rseq) != sizeof(rseq) ||
		    !rseq.address)
			return;
		field = rseq.address + 8;	/* struct rseq: rseq_cs */
		hidden = 0;
		of = child;
	}
	if (!hide) {
		if (hidden)
			ptrace(PTRACE_POKEDATA, child, field, hidden);
		return;
	}
	now = (unsigned long)ptrace(PTRACE_PEEKDATA, child, field, 0);
	if (now) {
		hidden = now;
		ptrace(PTRACE_POKEDATA, child, field, 0);
	}
}

static enum event resume(int request, int sig)
{
	siginfo_t info;

	for (;;) {
		if (sig || request == PTRACE_SINGLESTEP)
			hide_sequence(!sig);
		if (ptrace(request, child, 0, sig) || waitpid(child, &status, 0) != child)
			DIE("ptrace");
		if (!WIFSTOPPED(status))
			return ENDED;
		sig = WSTOPSIG(status);
		if (sig == SIGTRAP && !ptrace(PTRACE_GETSIGINFO, child, 0, &info))
			return info.si_code == SI_KERNEL ? MARKED : STEP;	/* int3 */
		/* Some other signal: the program is to have it. */
	}
}

static struct user_regs_struct registers(void)
{
	struct user_regs_struct r;

	if (ptrace(PTRACE_GETREGS, child, 0, &r))
		DIE("no registers");
	return r;
}

static unsigned long here(void)
{
	return registers().rip;
}

static void to_mark(void)
{
	if (resume(PTRACE_CONT, 0) != MARKED)
		DIE("the program ended, status %x", status);
}

/* The least of many rounds: now and then a line of the clock ends. */
static int count(void)
{
	unsigned long library, cuda, best = ~0ul, best_cuda = 0, rip;
	enum event e;

	for (int i = 0; i < ROUNDS; i++) {
		to_mark();
		find_text();
		library = cuda = 0;
		while ((e = resume(PTRACE_SINGLESTEP, 0)) == STEP) {
			rip = here();
			library += rip >= from && rip < to;
			cuda += rip >= cuda_from && rip < cuda_to;
			if (i == ROUNDS - 1 && getenv("STEP_TRACE"))
				printf("%lx\n", rip - from);
		}
		if (e != MARKED)
			return 1;
		if (library < best)
			best = library, best_cuda = cuda;
	}
	printf("%-8s %4lu instructions of the library, %lu of libcuda\n", what, best, best_cuda);
	return 0;
}

/* The loader's own are many, and steps are slow: they begin when it unmaps its cache. */
static int start(void)
{
	unsigned long library = 0, rip;

	do
		if (resume(PTRACE_SYSCALL, 0) == ENDED)
			return 1;
	while (registers().orig_rax != SYS_munmap);
	find_text();
	while (resume(PTRACE_SINGLESTEP, 0) != ENDED) {
		rip = here();
		library += rip >= from && rip < to;
	}
	printf("%lu instructions of the library\n", library);
	return status;
}

static bool in_cuda(void)
{
	unsigned long rip = here();

	return rip >= cuda_from && rip < cuda_to;
}

/* A number from the environment, 1 where it is not set. */
static unsigned long number(const char *name)
{
	const char *text = getenv(name);

	return text ? strtoul(text, NULL, 10) : 1;
}

/* A round for each n: n instructions, the signal, and one more in libcuda. */
static int interrupt(void)
{
	unsigned long calls = WARM, handled = 0, n, i, step = number("STEP_STRIDE");
	enum event e = STEP;

	for (n = number("STEP_FIRST"); n < STEPS_MAX && e == STEP; n += step) {
		to_mark();
		find_text();
		for (i = 0; i < n && (e = resume(PTRACE_SINGLESTEP, 0)) == STEP; i++)
			;
		calls++;
		if (e == MARKED)
			break;
		if (e == ENDED || resume(PTRACE_CONT, SIGUSR1) != MARKED)
			DIE("ended at instruction %lu, status %x", n, status);
		handled++;
		if (once) {
			to_mark();
			continue;
		}
		while ((e = resume(PTRACE_SINGLESTEP, 0)) == STEP && !in_cuda())
			;
		if (e == STEP) {
			if (resume(PTRACE_CONT, SIGUSR2) != MARKED)
				DIE("ended in libcuda after instruction %lu", n);
			handled++;
		}
		e = e == ENDED ? ENDED : STEP;
	}
	calls += calls - WARM - 1;	/* the ones in between */
	printf("calls %lu handled %lu\n", calls, handled);
	return e != MARKED;
}

/* A round for each n, whose handler forks. */
static int interrupt_and_fork(void)
{
	unsigned long n, i, rounds = 0, step = number("STEP_STRIDE");
	enum event e = STEP;

	for (n = number("STEP_FIRST"); n < STEPS_MAX && e == STEP; n += step) {
		to_mark();
		find_text();
		for (i = 0; i < n && (e = resume(PTRACE_SINGLESTEP, 0)) == STEP; i++)
			;
		if (e != STEP)
			break;
		/* At the call's end, and when the child has ended, too. */
		if (resume(PTRACE_CONT, SIGUSR1) != MARKED || resume(PTRACE_CONT, 0) != MARKED)
			DIE("ended at instruction %lu, status %x", n, status);
		rounds++;
	}
	printf("pid %d calls %lu\n", child, WARM + 1 + rounds * (FORK_CALLS + 2) + 1);
	return e != MARKED;
}

/*
 * What the handler wrote has been committed when its return goes on with a call that was
 * interrupted in the middle of the same: each instruction is to leave it as it is.
 */
static int interrupt_and_leave(void)
{
	unsigned long n, i, m, stack, rounds = 0, step = number("STEP_STRIDE");
	enum event e = STEP;

	for (n = number("STEP_FIRST"); n < STEPS_MAX && e == STEP; n += step) {
		for (m = 1; m <= AFTER; m++) {
			to_mark();
			for (i = 0; i < n && (e = resume(PTRACE_SINGLESTEP, 0)) == STEP; i++)
				;
			if (e != STEP)
				break;
			stack = registers().rsp;
			if (resume(PTRACE_CONT, SIGUSR1) != MARKED)
				DIE("ended at instruction %lu, status %x", n, status);
			/* Out of the handler, back to where it was, or an instruction further. */
			while (registers().rsp + 128 < stack)
				if (resume(PTRACE_SINGLESTEP, 0) != STEP)
					DIE("ended in the handler, status %x", status);
			for (i = 0; i < m && (e = resume(PTRACE_SINGLESTEP, 0)) == STEP; i++)
				;
			if (e != STEP) {
				e = STEP;
				break;
			}
			if (resume(PTRACE_CONT, SIGUSR2) != MARKED)
				DIE("ended %lu after instruction %lu, status %x", m, n, status);
			rounds++;
		}
	}
	printf("rounds %lu\n", rounds);
	return e != MARKED;
}

/* A process that is traced, and stops before program() begins. */
static void begin(int (*program)(void), const char *path)
{
	child = fork();
	if (!child) {
		ptrace(PTRACE_TRACEME);
		if (path)
			execl(path, path, NULL);
		raise(SIGSTOP);
		_exit(program());
	}
	if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
		DIE("no child");
}

static bool blocked(void)
{
	unsigned long mask;

	if (ptrace(PTRACE_GETSIGMASK, child, sizeof(mask), &mask))
		DIE("no signal mask");
	return mask >> (SIGUSR1 - 1) & 1;
}

static int interrupt_first(void)
{
	unsigned long n, i, processes = 0, step = number("STEP_STRIDE");
	bool waits = false;

	for (n = number("STEP_FIRST"); !waits; n += step) {
		begin(first_program, NULL);
		to_mark();
		for (i = 0; i < n && !waits; i++) {
			if (resume(PTRACE_SINGLESTEP, 0) != STEP)
				DIE("ended after instruction %lu, status %x", i, status);
			waits = blocked();
		}
		if (resume(PTRACE_CONT, SIGUSR1) != MARKED || resume(PTRACE_CONT, 0) != ENDED || status)
			DIE("ended with a signal after instruction %lu, status %x", i, status);
		processes++;
	}
	printf("processes %lu\n", processes);
	return 0;
}

/* A file of the trace as it was seen last. */
static struct seen {
	void *map, *copy;
	size_t size;
} seen[16];
static int files;

static void watch_files(const char *dir)
{
	char path[4096];
	struct dirent *e;
	struct stat st;
	DIR *d = opendir(dir);
	FILE *f;

	while (d && (e = readdir(d)) && files < 16) {
		struct seen *s = &seen[files];

		if (strncmp(e->d_name, "u-", 2) && strncmp(e->d_name, ".open-", 6))
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		f = fopen(path, "r");
		if (!f || fstat(fileno(f), &st))
			DIE("cannot open %s", path);
		s->size = (size_t)st.st_size;
		if (!s->size) {		/* no packet is drained yet */
			fclose(f);
			continue;
		}
		s->map = mmap(NULL, s->size, PROT_READ, MAP_SHARED, fileno(f), 0);
		s->copy = malloc(s->size);
		fclose(f);
		if (s->map == MAP_FAILED || !s->copy)
			DIE("cannot map %s", path);
		memcpy(s->copy, s->map, s->size);
		files++;
	}
	if (!files)
		DIE("no files in %s", dir);
}

static bool changed(void)
{
	bool any = false;

	for (int i = 0; i < files; i++) {
		if (!memcmp(seen[i].copy, seen[i].map, seen[i].size))
			continue;
		memcpy(seen[i].copy, seen[i].map, seen[i].size);
		any = true;
	}
	return any;
}

static int look(const char *dir, const char *command)
{
	unsigned long looks = 0;
	enum event e = STEP;

	to_mark();
	watch_files(dir);
	unsetenv("LD_PRELOAD");
	for (int round = 0; round < 3; round++) {
		while ((e = resume(PTRACE_SINGLESTEP, 0)) == STEP) {
			if (!changed())
				continue;
			looks++;
			if (system(command))
				DIE("at address %#lx of the library: %s", here() - from, command);
		}
		if (e != MARKED)
			DIE("ended, status %x", status);
		to_mark();
	}
	printf("looks %lu\n", looks);
	return 0;
}

int main(int argc, char **argv)
{
	const char *dir = getenv("CUDATRACE_DIR");
	cpu_set_t one;
	int ret = 2;

	if (argc < 3 || (strcmp(argv[1], "start") && !strchr("qclo", *argv[2]))) {
		fprintf(stderr, "usage: step count|signal|longjmp|fork|both|first|look query|call|launch|other [COMMAND]\n"
			"       step start PROGRAM\n");
		return 2;
	}
	what = argv[2];
	many = getenv("STEP_MANY") ? atoi(getenv("STEP_MANY")) : 0;
	once = getenv("STEP_ONCE");
	jumps = !strcmp(argv[1], "longjmp");
	forks = !strcmp(argv[1], "fork");
	both = !strcmp(argv[1], "both");
	/* Two processors would wake each other for every instruction, which takes longer. */
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
	if (!strcmp(argv[1], "first"))
		return interrupt_first();
	begin(program, strcmp(argv[1], "start") ? NULL : argv[2]);
	if (!strcmp(argv[1], "count"))
		ret = count();
	else if (!strcmp(argv[1], "start"))
		ret = start();
	else if (!strcmp(argv[1], "signal") || jumps)
		ret = interrupt();
	else if (forks)
		ret = interrupt_and_fork();
	else if (both)
		ret = interrupt_and_leave();
	else if (!strcmp(argv[1], "look") && argc == 4 && dir)
		ret = look(dir, argv[3]);
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	return ret;
}
