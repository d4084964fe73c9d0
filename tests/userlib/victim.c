// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The program that the tests trace: each subcommand does one thing that has
 * broken a tracer somewhere, checks that it worked, and exits 0.  It is run with
 * and without the library; its output must be the same.
 */
#define _GNU_SOURCE
#include "mock.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "../../userlib/include/cudatrace/cudatrace.h"

extern char **environ;

static void *lib;
static __typeof__(cuCtxSetCurrent) *set_current;

#define CHECK(x)	do { if (!(x)) {				\
	printf("%s:%d: %s\n", __FILE__, __LINE__, #x); exit(1); } } while (0)
#define GET(name)	((__typeof__(name) *)dlsym(lib, #name))

static void load(void)
{
	lib = dlopen("libcuda.so.1", RTLD_NOW);
	CHECK(lib);
}

static void calls(int n)
{
	__typeof__(cuCtxSetCurrent) *set = GET(cuCtxSetCurrent);

	for (int i = 0; i < n; i++)
		CHECK(!set((void *)1));
}

static int basic(void)
{
	unsigned long long block[16] = { 0, 0, 1, 0x1111, 0, 0, 0, 0, 0, 2, 0, 0x2222, 0,
					 0, 100, 10 };
	unsigned config[16] = { 9, 8, 7, 6, 5, 4, 3, 0, 0x77, 0 };
	void *ctx, *m, *f, *s;
	size_t n, t;
	dptr p = 0;
	char buf[16];

	load();
	CHECK(!GET(cuInit)(0));
	CHECK(GET(cuInit)(1) == 1);
	CHECK(!GET(cuCtxGetCurrent)(&ctx) && ctx == (void *)0xc0ffee);
	CHECK(!GET(cuMemAlloc_v2)(&p, 4096) && p == 0x7f0000001000);
	CHECK(GET(cuMemAlloc_v2)(NULL, 1) == 1);
	CHECK(GET(cuMemAlloc_v2)(&p, 1ull << 41) == 2);
	CHECK(!GET(cuMemGetInfo_v2)(&n, NULL) && n == 1000);
	CHECK(!GET(cuMemGetInfo_v2)(NULL, &t) && t == 2000);
	CHECK(!GET(cuMemcpyHtoD_v2)(p, buf, 16));
	CHECK(!GET(cuMemcpyHtoDAsync_v2)(p, buf, 16, (void *)8));
	CHECK(!GET(cuMemcpyDtoH_v2)(buf, p, 16) && buf[15] == 0x5a);
	CHECK(!GET(cuMemcpy2D_v2)(block));
	CHECK(GET(cuMemcpy2D_v2)(NULL) == 1);
	CHECK(!GET(cuMemsetD32_v2)(p, 0xabcd, 4));
	CHECK(!GET(cuModuleLoadData)(&m, buf));
	CHECK(!GET(cuModuleGetFunction)(&f, m, "_Z6kernelPf"));
	CHECK(!GET(cuLaunchKernel)(f, 1, 2, 3, 4, 5, 6, 7, (void *)8, (void *)9,
				   (void *)10));
	CHECK(!GET(cuModuleUnload)(m));
	CHECK(!GET(cuLaunchKernel)(f, 1, 2, 3, 4, 5, 6, 7, (void *)8, (void *)9,
				   (void *)10));
	CHECK(!GET(cuModuleLoadData)(&m, buf));
	CHECK(!GET(cuModuleGetFunction)(&f, m, "second kernel%"));
	CHECK(GET(cuModuleGetFunction)(&f, m, "absent") == 500);
	CHECK(!GET(cuLaunchKernelEx)(config, f, NULL, NULL));
	CHECK(GET(cuLaunchKernelEx)(NULL, f, NULL, NULL) == 1);
	CHECK(!GET(cuStreamCreate)(&s, 1));
	CHECK(!GET(cuStreamSynchronize)(s));
	CHECK(!GET(cuMemFree_v2)(p));
	return 0;
}

static int args(void)
{
	ipc_handle h;
	dptr p;

	load();
	for (int i = 0; i < 64; i++)
		h.bytes[i] = (char)(i * 3 + 1);
	CHECK(!GET(cuIpcOpenMemHandle_v2)(&p, h, 77) && p == 0xabc);
	CHECK(!GET(cuTensorMapEncodeIm2colWide)((void *)100, 101, 102, (void *)103,
		(void *)104, (void *)105, (void *)106, (void *)107, 108, 109,
		(void *)110, 111, 112, 113, 114, 115));
	CHECK(!GET(cuParamSetf)((void *)1, 2, 3.5f));
	CHECK(GET(cuMockMany)(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17,
			      18, 19, 20) == 42.5);
	return 0;
}

/* Calls at the very top of a stack: 16 words above may not be there. */
static void *stack_edge;

static void on_edge(void)
{
	CHECK(!GET(cuMockErrno)() || 1);
}

static int edge(void)
{
	static ucontext_t back, c;
	char *m = mmap(NULL, 3 * 65536, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	load();
	mprotect(m, 65536, PROT_READ | PROT_WRITE);
	stack_edge = m + 65536;
	getcontext(&c);
	c.uc_stack.ss_sp = m;
	c.uc_stack.ss_size = 65536;
	c.uc_link = &back;
	makecontext(&c, on_edge, 0);
	swapcontext(&back, &c);
	return 0;
}

static int proc(void)
{
	__typeof__(cuGetProcAddress_v2) *get, *again;
	int (*get1)(const char *, void **, int, unsigned long long);
	int (*launch)(void *, ...);
	void *p, *q, *r;
	int status = 7;
	dptr d;

	load();
	get = GET(cuGetProcAddress_v2);
	get1 = (int (*)(const char *, void **, int, unsigned long long))
		dlsym(lib, "cuGetProcAddress");
	CHECK(!get("cuMemAlloc", &p, 12000, 0, &status) && !status);
	CHECK(!((__typeof__(cuMemAlloc_v2) *)p)(&d, 10) && d == 0x7f000000000a);
	CHECK(p == dlsym(lib, "cuMemAlloc_v2"));	/* the same thunk */
	CHECK(!get("cuMemAlloc", &q, 2000, 0, NULL) && q != p);
	CHECK(get("cuNothing", &r, 12000, 0, &status) == 500 && !r && status == 1);
	CHECK(get(NULL, &r, 12000, 0, NULL) == 1);
	CHECK(get("cuInit", NULL, 12000, 0, NULL) == 1);
	CHECK(!get("cuLaunchKernel", &p, 12000, 0, NULL));
	CHECK(!get("cuLaunchKernel", &q, 12000, 2, NULL) && q != p);
	launch = (int (*)(void *, ...))q;
	CHECK(!launch(NULL, 1, 2, 3, 4, 5, 6, 7, (void *)8, (void *)9, (void *)10));
	/* It hands out itself, in both versions. */
	CHECK(!get("cuGetProcAddress", &p, 12000, 0, NULL));
	again = (__typeof__(cuGetProcAddress_v2) *)p;
	CHECK(!again("cuMemFree", &p, 12000, 0, &status));
	CHECK(!((__typeof__(cuMemFree_v2) *)p)(d));
	CHECK(!get("cuGetProcAddress", &p, 11030, 0, NULL));
	CHECK(p == (void *)get1);
	CHECK(!get1("cuCtxGetCurrent", &p, 11030, 0));
	CHECK(!((__typeof__(cuCtxGetCurrent) *)p)(&q));
	return 0;
}

/* What dlsym must still mean. */
static int lookups(void)
{
	void *self = dlopen(NULL, RTLD_NOW);
	char *error;

	/* No libcuda yet: nothing may pretend that there is one. */
	CHECK(!dlsym(RTLD_DEFAULT, "cuInit"));
	error = dlerror();
	CHECK(error && strstr(error, "cuInit"));
	CHECK(!dlsym(self, "cuInit"));
	CHECK(dlerror() && !dlerror());
	CHECK(dlsym(RTLD_NEXT, "malloc") && dlsym(RTLD_DEFAULT, "malloc"));
	CHECK(!dlsym(RTLD_NEXT, "cuInit"));
	load();
	CHECK(!dlsym(RTLD_DEFAULT, "cuInit"));		/* loaded RTLD_LOCAL */
	CHECK(dlsym(lib, "cuInit") && !dlerror());
	CHECK(dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL) == lib);
	CHECK(dlsym(RTLD_DEFAULT, "cuInit") == dlsym(lib, "cuInit"));
	CHECK(!((__typeof__(cuInit) *)dlsym(RTLD_DEFAULT, "cuInit"))(0));
	CHECK(dlsym(RTLD_NEXT, "cuInit"));	/* the real one: not replaced */
	CHECK(!dlsym(lib, "cuBsomething") && dlerror());
	CHECK(dlsym(lib, "printf"));
	return 0;
}

/* In a namespace of its own libcuda is out of our sight, and must work. */
static int namespaces(void)
{
	void *l = dlmopen(LM_ID_NEWLM, "libcuda.so.1", RTLD_NOW);
	__typeof__(cuInit) *init = l ? (__typeof__(cuInit) *)dlsym(l, "cuInit") : NULL;

	CHECK(init && !init(0));
	load();
	calls(2);
	return 0;
}

static int await(pid_t pid)
{
	int status;

	CHECK(waitpid(pid, &status, 0) == pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static int blocked_tid;

static void *blocked(void *unused)
{
	__atomic_store_n(&blocked_tid, (int)syscall(SYS_gettid), __ATOMIC_RELEASE);
	CHECK(!GET(cuMemGetInfo_v2)(NULL, NULL));
	return unused;
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
 * Another thread waits inside the library, with whatever it has locked: for the
 * registry, which we hold.  Lookups must not wait for it, nor a child that is forked now.
 */
static int held(void)
{
	char path[4096];
	pthread_t t;
	pid_t pid;
	int fd, tid, go[2];

	load();
	calls(1);
	GET(cuMemGetInfo_v2);
	snprintf(path, sizeof(path), "%s/.registry", getenv("CUDATRACE_DIR"));
	fd = open(path, O_RDWR);
	CHECK(fd >= 0 && !flock(fd, LOCK_EX));
	CHECK(!pthread_create(&t, NULL, blocked, NULL));
	while (!(tid = __atomic_load_n(&blocked_tid, __ATOMIC_ACQUIRE)))
		usleep(1000);
	for (int asleep = 0; asleep < 20; usleep(1000))
		asleep = state_of(tid) == 'S' ? asleep + 1 : 0;
	CHECK(dlsym(RTLD_DEFAULT, "strlen") && !dlsym(lib, "cublasCreate_v2"));
	CHECK(dlsym(lib, "cuCtxSetCurrent") && dlsym(lib, "cuMemGetInfo_v2"));
	CHECK(dlopen("libm.so.6", RTLD_NOW) && dlsym(RTLD_NEXT, "malloc"));
	calls(1);
	CHECK(state_of(tid) == 'S' && !pipe(go));
	pid = fork();
	if (!pid) {
		CHECK(read(go[0], path, 1) == 1);
		calls(1);
		_exit(0);
	}
	CHECK(!flock(fd, LOCK_UN));
	pthread_join(t, NULL);
	CHECK(write(go[1], "", 1) == 1);
	CHECK(!await(pid));
	return 0;
}

/* While a stream captures, any call that the program did not make could spoil it. */
static int capture(void)
{
	__typeof__(cuMockCount) *count;
	__typeof__(cuFuncGetName) *name;
	const char *text;
	void *ctx;
	int before;

	load();
	count = GET(cuMockCount);
	name = GET(cuFuncGetName);
	CHECK(!name(&text, (void *)0x99));
	before = count();
	CHECK(!GET(cuStreamBeginCapture_v2)((void *)8, 0));
	for (int i = 0; i < 10; i++)
		CHECK(!GET(cuLaunchKernel)((void *)0x1234, 1, 2, 3, 4, 5, 6, 7, (void *)8,
					   (void *)9, (void *)10));
	CHECK(!GET(cuCtxGetCurrent)(&ctx));
	CHECK(!GET(cuMemcpyHtoDAsync_v2)(1, "", 1, (void *)8));
	CHECK(!GET(cuStreamEndCapture)((void *)8, &ctx));
	CHECK(count() - before == 14);
	return 0;
}

/* libcuda is called when it has shut down, and so has the library. */
static void late_call(void)
{
	CHECK(GET(cuCtxSetCurrent)((void *)1) == 4);
	for (int i = 0; i < 10000; i++)
		set_current((void *)1);
}

static int shutdown_calls(void)
{
	void (**hook)(void) = (void (**)(void))dlsym(RTLD_DEFAULT, "late_hook");

	load();
	calls(10);
	set_current = GET(cuCtxSetCurrent);
	CHECK(hook);
	*hook = late_call;
	return 0;
}

static void *one_thread(void *n)
{
	calls((int)(long)n);
	return NULL;
}

static int threads(void)
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

static int many(void)
{
	load();
	calls(20000);
	return 0;
}

static int forks(void)
{
	pid_t pid;

	load();
	calls(3);
	pid = fork();
	if (!pid) {
		calls(5);
		if (!fork()) {
			calls(7);
			_exit(0);
		}
		wait(NULL);
		_exit(0);
	}
	calls(2);
	CHECK(!await(pid));
	calls(1);
	return 0;
}

static int vforks(void)
{
	char *argv[] = { "/bin/true", NULL };
	pid_t pid;

	load();
	calls(3);
	pid = vfork();
	if (!pid) {
		execv("/bin/true", argv);
		_exit(127);
	}
	CHECK(!await(pid));
	CHECK(!posix_spawn(&pid, "/bin/true", NULL, NULL, argv, environ));
	CHECK(!await(pid));
	calls(4);
	return 0;
}

/* The child is the first to use CUDA, then the parent does. */
static int fork_early(void)
{
	pid_t pid = fork();

	if (!pid) {
		load();
		GET(cuInit)(0);
		calls(5);
		_exit(0);
	}
	CHECK(!await(pid));
	load();
	GET(cuInit)(0);
	calls(2);
	return 0;
}

/* A child of vfork lives in our memory and must leave it as it was. */
static int vfork_calls(void)
{
	char *argv[] = { "/bin/true", NULL };
	__typeof__(cuCtxSetCurrent) *set;
	pid_t pid;

	load();
	calls(3);
	set = GET(cuCtxSetCurrent);
	pid = vfork();
	if (!pid) {
		set((void *)1);
		execv("/bin/true", argv);
		_exit(127);
	}
	CHECK(!await(pid));
	calls(4);
	return 0;
}

/* Without the preload: the other program must not be traced. */
static int exec_bare(void)
{
	char *argv[] = { "victim", "many", NULL };

	load();
	calls(3);
	unsetenv("LD_PRELOAD");
	execv("/proc/self/exe", argv);
	return 1;
}

static int exec_self(void)
{
	char *argv[] = { "victim", "many", NULL };

	load();
	calls(3);
	execv("/proc/self/exe", argv);
	return 1;
}

static int killed(void)
{
	load();
	calls(1000);
	kill(getpid(), SIGKILL);
	return 1;
}

static int quick_exit_now(void)
{
	load();
	calls(1000);
	_exit(3);
}

static int aborts(void)
{
	load();
	calls(1000);
	abort();
}

static int hang(void)
{
	load();
	calls(2);
	GET(cuMockHang)();
	return 1;
}

static sigjmp_buf jump;

static void jumps(void *arg)
{
	(void)arg;
	siglongjmp(jump, 1);
}

static int longjmps(void)
{
	load();
	for (volatile int i = 0; i < 3; i++) {
		if (!sigsetjmp(jump, 1))
			GET(cuMockCall)(jumps, NULL);
		calls(2);
	}
	return 0;
}

static void nested_body(void *arg)
{
	if (arg)
		GET(cuMockCall)(nested_body, (char *)arg - 1);
	calls(1);
}

static int nested(void)
{
	load();
	GET(cuMockCall)(nested_body, (char *)70);
	return 0;
}

static volatile int handled;

static void handler(int sig)
{
	(void)sig;
	set_current((void *)2);
	handled++;
}

static int signals(void)
{
	struct itimerval { struct timeval i, v; } tv = { { 0, 50 }, { 0, 50 } };
	/* It lies above the frames of the calls that it interrupts. */
	char above[1 << 16];
	stack_t alt = { .ss_sp = above, .ss_size = sizeof(above) };
	struct sigaction sa = { .sa_handler = handler, .sa_flags = SA_RESTART };
	int own = 0;

	load();
	set_current = GET(cuCtxSetCurrent);
	if (getenv("ALTSTACK")) {
		sigaltstack(&alt, NULL);
		sa.sa_flags |= SA_ONSTACK;
	}
	sigaction(SIGALRM, &sa, NULL);
	extern int setitimer();
	setitimer(0, &tv, NULL);
	while (handled < 3000 && own < 2000000) {
		set_current((void *)1);
		own++;
	}
	memset(&tv, 0, sizeof(tv));
	setitimer(0, &tv, NULL);
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

static int signal_jumps(void)
{
	struct itimerval { struct timeval i, v; } tv = { { 0, 0 }, { 0, 200 } };
	extern int setitimer();

	load();
	set_current = GET(cuCtxSetCurrent);
	signal(SIGALRM, jumping_handler);
	cudatrace_note("before");
	while (handled < 2000) {
		if (!sigsetjmp(jump, 1)) {
			setitimer(0, &tv, NULL);
			for (;;)
				set_current((void *)1);
		}
	}
	calls(10);
	cudatrace_note("after");
	return 0;
}

static int reload(void)
{
	void *first, *other;

	for (int i = 0; i < 4000; i++) {
		load();
		calls(1);
		first = dlsym(lib, "cuInit");
		CHECK(first);
		CHECK(!((__typeof__(cuInit) *)first)(0));
		CHECK(!dlclose(lib));
		/* Something else takes its place, so that it comes back elsewhere. */
		if (i % 3)
			mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (i == 5) {
			other = dlopen("libm.so.6", RTLD_NOW);
			CHECK(other && dlsym(other, "cos"));
		}
	}
	return 0;
}

static int errnos(void)
{
	load();
	errno = 4711;
	CHECK(!GET(cuMockErrno)());
	errno = 4711;
	calls(1);
	CHECK(errno == 4711);
	cudatrace_note("x");
	CHECK(errno == 4711);
	CHECK(dlsym(lib, "cuMemFree_v2") && errno == 4711);
	return 0;
}

static int marks(void)
{
	static char big[5000];

	memset(big, 'y', sizeof(big) - 1);
	cudatrace_note("before cuda");
	load();
	cudatrace_begin("outer");
	calls(1);
	cudatrace_begin("inner");
	cudatrace_note("");
	cudatrace_end();
	cudatrace_end();
	cudatrace_note(big);
	cudatrace_note(NULL);
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

static int exits(void)
{
	pthread_t t;

	load();
	atexit(at_exit);
	pthread_key_create(&late, late_destructor);
	pthread_create(&t, NULL, late_thread, NULL);
	pthread_join(t, NULL);
	return 0;
}

/* A library that fakes the time, as far as we know: for our callers' callers. */
static int faking;

int clock_gettime(clockid_t id, struct timespec *ts)
{
	long ret = syscall(SYS_clock_gettime, id, ts);

	if (faking)
		ts->tv_sec += 1000000;
	return (int)ret;
}

static unsigned long long real_time(void)
{
	struct timespec ts;

	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

/* Calls with the real time before and after each, over several lines' time. */
static int clocks(void)
{
	unsigned long long before;

	load();
	faking = 1;
	for (int i = 0; i < 500; i++) {
		before = real_time();
		calls(1);
		printf("call %llu %llu\n", before, real_time());
		usleep(i % 100 ? 500 : 150000);
	}
	return 0;
}

static int closes_all(void)
{
	load();
	calls(10);
	for (int i = 3; i < 2000; i++)
		close(i);
	CHECK(open("/dev/null", O_RDONLY) == 3);
	calls(3000);
	return 0;
}

static int fds(void)
{
	int a, b, c;

	load();
	a = open("/dev/null", O_RDONLY);
	calls(5000);
	b = open("/dev/null", O_RDONLY);
	c = open("/dev/null", O_RDONLY);
	printf("fds %d %d %d\n", a, b, c);
	return 0;
}

static int limit(void)
{
	struct rlimit l = { 40000, 40000 };

	load();
	setrlimit(RLIMIT_FSIZE, &l);
	calls(5000);
	return 0;
}

static int directory(void)
{
	load();
	CHECK(!chdir("/"));
	calls(5000);
	return 0;
}

static int until_killed(void)
{
	load();
	while (lib)
		calls(1000);
	return 0;
}

/* A node of NVIDIA's major number; nobody answers but the fake in the test. */
static int ioctls(void)
{
	unsigned control[8] = { 0xc1d00001, 0x5c000002, 0x20800102, 0, 0, 0, 0, 0 };
	unsigned long long xfer[2] = { 0x2a | 32ull << 32, 0 };
	int fd = open(getenv("NODE"), O_PATH), ret;

	CHECK(fd >= 0);
	xfer[1] = (unsigned long long)control;
	ret = ioctl(fd, 0xc020462a, control);
	printf("%d %d\n", ret, ret ? errno : 0);
	ret = ioctl(fd, 0xc01046d3, xfer);
	printf("%d %d\n", ret, ret ? errno : 0);
	ret = ioctl(fd, 0xc020462a, (void *)16);	/* leads nowhere */
	printf("%d %d\n", ret, ret ? errno : 0);
	ret = ioctl(fd, 0xc010462a, (void *)16);
	printf("%d %d\n", ret, ret ? errno : 0);
	CHECK(ioctl(1, 0x4600, NULL) < 0);		/* not the driver's */
	return 0;
}

static const struct {
	const char *name;
	int (*run)(void);
} commands[] = {
	{ "basic", basic }, { "args", args }, { "edge", edge }, { "proc", proc },
	{ "lookups", lookups }, { "dlmopen", namespaces }, { "threads", threads }, { "many", many },
	{ "held", held }, { "capture", capture }, { "shutdown", shutdown_calls },
	{ "fork", forks }, { "fork_early", fork_early }, { "vfork", vforks },
	{ "vfork_calls", vfork_calls }, { "exec", exec_self }, { "exec_bare", exec_bare },
	{ "killed", killed }, { "_exit", quick_exit_now }, { "abort", aborts }, { "hang", hang },
	{ "longjmp", longjmps }, { "nested", nested }, { "signals", signals },
	{ "signal_jumps", signal_jumps }, { "reload", reload }, { "errno", errnos },
	{ "marks", marks }, { "exits", exits }, { "closes_all", closes_all },
	{ "fds", fds }, { "limit", limit }, { "directory", directory },
	{ "clock", clocks }, { "until_killed", until_killed }, { "ioctls", ioctls },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc == 2 && i < sizeof(commands) / sizeof(*commands); i++)
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].run();
	fprintf(stderr, "usage: victim COMMAND\n");
	return 2;
}
