// SPDX-License-Identifier: LGPL-2.1-or-later
/* What a call may look like, and how a program may come by it. */
#include "victim.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "../../userlib/include/cudatrace/cudatrace.h"

/* For handlers, which must not look it up. */
static __typeof__(cuCtxSetCurrent) *set_current;

int basic(void)
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

int args(void)
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

/* Calls go the quick ways once the clock has its first slope (10 ms), but a function's first one. */
int floats(void)
{
	load();
	for (int i = 0; i < 20; i++) {
		CHECK(!GET(cuParamSetf)((void *)1, 2, 3.5f));
		usleep(2000);
	}
	return 0;
}

/* Calls at the very top of a stack: 16 words above may not be there. */
static void *stack_edge;

static void on_edge(void)
{
	CHECK(!GET(cuMockErrno)() || 1);
}

int edge(void)
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

int proc(void)
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
int lookups(void)
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
int namespaces(void)
{
	void *l = dlmopen(LM_ID_NEWLM, "libcuda.so.1", RTLD_NOW);
	__typeof__(cuInit) *init = l ? (__typeof__(cuInit) *)dlsym(l, "cuInit") : NULL;

	CHECK(init && !init(0));
	load();
	calls(2);
	return 0;
}

/* While a stream captures, any call that the program did not make could spoil it. */
int capture(void)
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

static int launch_it(void *f)
{
	return GET(cuLaunchKernel)(f, 1, 2, 3, 4, 5, 6, 7, (void *)8, (void *)9, (void *)10);
}

/* A handle has one name after the other, as far as that is known. */
int names(void)
{
	void *f = (void *)0xf00d, *m;
	const char *name;

	load();
	/* By cuFuncGetName alone, which does not say of what module it is. */
	CHECK(!GET(cuModuleLoadData)(&m, ""));
	CHECK(!GET(cuFuncGetName)(&name, f));
	CHECK(!launch_it(f));
	CHECK(!GET(cuModuleUnload)(m));
	CHECK(!launch_it(f));
	/* It comes again, and libcuda says otherwise than before. */
	CHECK(!GET(cuModuleLoadData)(&m, ""));
	CHECK(!GET(cuModuleGetFunction)(&f, m, "old"));
	CHECK(!launch_it(f));
	CHECK(!GET(cuFuncGetName)(&name, f));
	CHECK(!launch_it(f));
	CHECK(!GET(cuModuleUnload)(m));
	CHECK(!launch_it(f));
	return 0;
}

/* libcuda is called when it has shut down, and so has the library. */
static void late_call(void)
{
	CHECK(GET(cuCtxSetCurrent)((void *)1) == 4);
	for (int i = 0; i < 10000; i++)
		set_current((void *)1);
}

int shutdown_calls(void)
{
	void (**hook)(void) = (void (**)(void))dlsym(RTLD_DEFAULT, "late_hook");

	load();
	calls(10);
	set_current = GET(cuCtxSetCurrent);
	CHECK(hook);
	*hook = late_call;
	return 0;
}

int reload(void)
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

int errnos(void)
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

int marks(void)
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
int clocks(void)
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

/* A node of NVIDIA's major number; nobody answers but the fake in the test. */
int ioctls(void)
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
