// SPDX-License-Identifier: LGPL-2.1-or-later
/* Threads, signals and jumps, in the middle of calls. */
#include "victim.h"

#include <fcntl.h>
#include <link.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "../../userlib/include/cudatrace/cudatrace.h"

/* For handlers, which must not look it up. */
static __typeof__(cuCtxSetCurrent) *set_current;

static int blocked_tid, listener;

/* From now on this thread waits in each openat() until somebody answers the listener. */
static void *blocked(void *unused)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(*filter), filter };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
				SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
	__atomic_store_n(&blocked_tid, (int)syscall(SYS_gettid), __ATOMIC_RELEASE);
	CHECK(!GET(cuMemGetInfo_v2)(NULL, NULL));
	return unused;
}

static struct seccomp_notif_resp answer = { .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE };

static void *answer_all(void *unused)
{
	struct seccomp_notif asked;

	for (;;) {
		memset(&asked, 0, sizeof(asked));
		if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &asked))
			return unused;
		answer.id = asked.id;
		ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
	}
}

static char state_of(int tid)
{
	char path[64], text[256] = "", *p;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	fd = open(path, O_RDONLY);
	CHECK(fd >= 0 && read(fd, text, sizeof(text) - 1) > 0);
	close(fd);
	p = strrchr(text, ')');
	CHECK(p);
	return p[2];
}

/*
 * Another thread waits inside the library, with whatever it has locked.  Lookups must not
 * wait for it, nor a child that is forked now.
 */
int held(void)
{
	pthread_t t, answers;
	char byte;
	pid_t pid;
	int tid, go[2];

	load();
	calls(1);
	GET(cuMemGetInfo_v2);
	CHECK(!pthread_create(&t, NULL, blocked, NULL));
	while (!(tid = __atomic_load_n(&blocked_tid, __ATOMIC_ACQUIRE)))
		usleep(1000);
	if (listener < 0)
		return 77;	/* no seccomp */
	for (int asleep = 0; asleep < 20; usleep(1000))
		asleep = state_of(tid) == 'S' ? asleep + 1 : 0;
	CHECK(dlsym(RTLD_DEFAULT, "strlen") && !dlsym(lib, "cublasCreate_v2"));
	CHECK(dlsym(lib, "cuCtxSetCurrent") && dlsym(lib, "cuMemGetInfo_v2"));
	CHECK(dlopen("libm.so.6", RTLD_NOW) && dlsym(RTLD_NEXT, "malloc"));
	calls(1);
	CHECK(state_of(tid) == 'S' && !pipe(go));
	pid = fork();
	if (!pid) {
		alarm(600);	/* it must not outlive a test that failed */
		CHECK(read(go[0], &byte, 1) == 1);
		calls(1);
		_exit(0);
	}
	CHECK(!pthread_create(&answers, NULL, answer_all, NULL));
	pthread_join(t, NULL);
	CHECK(write(go[1], "", 1) == 1);
	CHECK(!await(pid));
	return 0;
}

static void *looks_up(void *stop)
{
	while (!__atomic_load_n((int *)stop, __ATOMIC_RELAXED))
		dlsym(lib, "cuMemGetInfo_v2");
	return NULL;
}

/* Forks while other threads are inside lookups, which are not there in the child. */
int fork_lookups(void)
{
	enum { THREADS = 4, FORKS = 200 };
	pthread_t t[THREADS];
	int stop = 0;

	load();
	calls(1);
	for (int i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&t[i], NULL, looks_up, &stop));
	for (int i = 0; i < FORKS; i++) {
		pid_t pid = fork();

		if (!pid) {
			alarm(600);
			CHECK(dlsym(lib, "cuMemGetInfo_v2"));
			calls(1);
			_exit(0);
		}
		CHECK(!await(pid));
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	return 0;
}

static void *looks_first(void *unused)
{
	CHECK(dlsym(lib, "cuMemGetInfo_v2"));
	return unused;
}

static sem_t holds, lets_go;

static int hold(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)info;
	(void)size;
	(void)data;
	sem_post(&holds);
	sem_wait(&lets_go);
	return 1;
}

static void *holds_list(void *unused)
{
	dl_iterate_phdr(hold, NULL);
	return unused;
}

static void forked_calls(void)
{
	pid_t pid = fork();

	if (!pid) {
		alarm(600);
		calls(1);
		_exit(0);
	}
	CHECK(!await(pid));
}

/* Another thread's first lookup, and a fork $FORK_AFTER turns of a loop later. */
int fork_in_first_look(void)
{
	pthread_t t;

	load();
	CHECK(!pthread_create(&t, NULL, looks_first, NULL));
	for (volatile int n = atoi(getenv("FORK_AFTER")); n > 0; n--)
		;
	forked_calls();
	pthread_join(t, NULL);
	return 0;
}

/*
 * Forks while another thread looks at a libcuda that is new, in so many new processes, or has the
 * loader's list of objects before anybody has looked.
 */
int fork_first_look(void)
{
	char *argv[] = { "victim", "fork_in_first_look", NULL }, after[16];
	pthread_t t;

	for (int i = 0; i < 100; i++) {
		pid_t pid;

		snprintf(after, sizeof(after), "%d", i * 2000);
		setenv("FORK_AFTER", after, 1);
		CHECK(!posix_spawn(&pid, "/proc/self/exe", NULL, NULL, argv, environ));
		CHECK(!await(pid));
	}
	CHECK(!sem_init(&holds, 0, 0) && !sem_init(&lets_go, 0, 0));
	/* So that it is known where the list's lock is. */
	dlsym(RTLD_DEFAULT, "main");
	load();
	CHECK(!pthread_create(&t, NULL, holds_list, NULL));
	sem_wait(&holds);
	forked_calls();
	sem_post(&lets_go);
	pthread_join(t, NULL);
	return 0;
}

static void *one_thread(void *n)
{
	calls((int)(long)n);
	return NULL;
}

int threads(void)
{
	enum { AT_ONCE = 50, ROUNDS = 20 };
	pthread_t t[AT_ONCE];

	load();
	for (int r = 0; r < ROUNDS; r++) {
		for (int i = 0; i < AT_ONCE; i++)
			CHECK(!pthread_create(&t[i], NULL, one_thread, (void *)10));
		for (int i = 0; i < AT_ONCE; i++)
			pthread_join(t[i], NULL);
	}
	CHECK(GET(cuMockCount)() == AT_ONCE * ROUNDS * 10);
	return 0;
}

/*
 * A thousand threads, none of which ends before all have called, so that each needs its own
 * of everything at the same time.  What they allocate says whose call it is and which.
 */
enum { CROWD = 1000, CROWD_CALLS = 120 };

static pthread_barrier_t all_here;

static void *one_of_crowd(void *n)
{
	__typeof__(cuMemAlloc_v2) *alloc = GET(cuMemAlloc_v2);
	dptr p;

	for (int i = 0; i < CROWD_CALLS; i++) {
		if (i == 0 || i == 1 || i == CROWD_CALLS - 1)
			pthread_barrier_wait(&all_here);
		CHECK(!alloc(&p, (size_t)n * 1000 + (size_t)i));
	}
	pthread_barrier_wait(&all_here);
	return NULL;
}

int crowd(void)
{
	static pthread_t t[CROWD];
	pthread_attr_t small;

	load();
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 128 << 10);
	pthread_barrier_init(&all_here, NULL, CROWD);
	for (long i = 0; i < CROWD; i++)
		CHECK(!pthread_create(&t[i], &small, one_of_crowd, (void *)(i + 1)));
	for (int i = 0; i < CROWD; i++)
		pthread_join(t[i], NULL);
	return 0;
}

int many(void)
{
	load();
	calls(20000);
	return 0;
}

static sigjmp_buf jump;

static void jumps(void *arg)
{
	(void)arg;
	siglongjmp(jump, 1);
}

/* Calls from the same frame: from deeper ones they would seem to be inside what was left. */
int longjmps(void)
{
	load();
	set_current = GET(cuCtxSetCurrent);
	for (volatile int i = 0; i < 3; i++) {
		if (!sigsetjmp(jump, 1))
			GET(cuMockCall)(jumps, NULL);
		CHECK(!set_current((void *)1));
		CHECK(!set_current((void *)1));
	}
	return 0;
}

static void nested_body(void *arg)
{
	if (arg)
		GET(cuMockCall)(nested_body, (char *)arg - 1);
	calls(1);
}

int nested(void)
{
	load();
	GET(cuMockCall)(nested_body, (char *)70);
	return 0;
}

/* For as long as it takes until the clock has its line. */
int jumped_to(void)
{
	__typeof__(cuStreamSynchronize) *synchronize;

	load();
	synchronize = GET(cuStreamSynchronize);
	GET(cuMockNext)(GET(cuCtxSetCurrent));
	for (int i = 0; i < 300; i++) {
		CHECK(!synchronize((void *)1));
		usleep(200);
	}
	return 0;
}

static volatile int handled;

/*
 * A signal SIGNAL_US microseconds from now, or a few more: in one of the next hundred calls.  A much
 * shorter time would end before the first of them begins.
 */
static void signal_soon(void)
{
	const char *least = getenv("SIGNAL_US");
	struct itimerval soon = { .it_value = { 0, (least ? atoi(least) : 12) + handled % 16 } };

	setitimer(ITIMER_REAL, &soon, NULL);
}

static void handler(int sig)
{
	(void)sig;
	set_current((void *)2);
	handled++;
}

int signals(void)
{
	/* It lies above the frames of the calls that it interrupts. */
	char above[1 << 16];
	stack_t alt = { .ss_sp = above, .ss_size = sizeof(above) };
	struct sigaction sa = { .sa_handler = handler, .sa_flags = SA_RESTART };
	int own = 0, seen = -1;

	load();
	set_current = GET(cuCtxSetCurrent);
	if (getenv("ALTSTACK")) {
		sigaltstack(&alt, NULL);
		sa.sa_flags |= SA_ONSTACK;
	}
	sigaction(SIGALRM, &sa, NULL);
	while (handled < 3000) {
		/*
		 * One signal after the other, and what it interrupted goes on in between: a packet has
		 * room for some twenty calls of handlers in the middle of a record.
		 */
		if (handled != seen) {
			seen = handled;
			signal_soon();
		}
		set_current((void *)1);
		own++;
	}
	CHECK(GET(cuMockCount)() == own + handled);
	printf("calls %d\n", own + handled);
	return 0;
}

/* A handler that interrupts anything, and leaves by longjmp. */
static void jumping_handler(int sig)
{
	(void)sig;
	handled++;
	siglongjmp(jump, 1);
}

int signal_jumps(void)
{
	load();
	set_current = GET(cuCtxSetCurrent);
	signal(SIGALRM, jumping_handler);
	cudatrace_note("before");
	while (handled < 2000) {
		if (!sigsetjmp(jump, 1)) {
			signal_soon();
			for (;;)
				set_current((void *)1);
		}
	}
	calls(10);
	cudatrace_note("after");
	return 0;
}

static pthread_key_t late;

static void late_destructor(void *left)
{
	calls(1);
	if ((long)left > 1)
		pthread_setspecific(late, (char *)left - 1);
}

static void *late_thread(void *unused)
{
	(void)unused;
	calls(1);
	pthread_setspecific(late, (void *)4);
	return NULL;
}

static void at_exit(void)
{
	calls(1);
}

int exits(void)
{
	pthread_t t;

	load();
	atexit(at_exit);
	pthread_key_create(&late, late_destructor);
	pthread_create(&t, NULL, late_thread, NULL);
	pthread_join(t, NULL);
	return 0;
}
