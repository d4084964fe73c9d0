// SPDX-License-Identifier: LGPL-2.1-or-later
/* Calls that wait on a stack of their own while others are made. */
#include "victim.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#define SIZE	(256u << 10)

static ucontext_t here, there;
static __typeof__(cuStreamSynchronize) *synchronize;

/* What libcuda is given to call. */
static int callback(void *function)
{
	((void (*)(void))function)();
	return 0;
}

/* The outer call of the coroutine waits in here. */
static void wait_in_callback(void)
{
	calls(1);
	CHECK(!swapcontext(&there, &here));
	calls(1);
}

static void coroutine(void)
{
	CHECK(!synchronize((void *)wait_in_callback));
	calls(1);
}

/* The coroutine's call ends inside one of ours. */
static void resume(void)
{
	calls(1);
	CHECK(!swapcontext(&here, &there));
	calls(1);
}

static void make(void *stack)
{
	CHECK(!getcontext(&there));
	there.uc_stack.ss_sp = stack;
	there.uc_stack.ss_size = SIZE;
	there.uc_link = &here;
	makecontext(&there, coroutine, 0);
}

static void *run(void *stack)
{
	synchronize = GET(cuStreamSynchronize);
	GET(cuMockNext)(callback);
	/* Until the thread's clock goes by the counter: before, no call takes a fast path. */
	for (int i = 0; i < 100; i++) {
		calls(1);
		usleep(200);
	}
	for (int i = 0; i < 10; i++) {
		/* One ends after the other, or the first inside the second. */
		make(stack);
		CHECK(!swapcontext(&here, &there));
		calls(2);
		if (i % 2)
			CHECK(!synchronize((void *)resume));
		else
			CHECK(!swapcontext(&here, &there));
		calls(1);
	}
	return NULL;
}

/* The coroutine's stack is far from ours; or just below it, where ours might grow to. */
int coroutines(void)
{
	char *m = mmap(NULL, 8 * SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_t attr;
	pthread_t t;

	CHECK(m != MAP_FAILED);
	load();
	if (!getenv("CLOSE")) {
		run(m);
		return 0;
	}
	pthread_attr_init(&attr);
	CHECK(!pthread_attr_setstack(&attr, m + SIZE, 7 * SIZE));
	CHECK(!pthread_create(&t, &attr, run, m));
	return pthread_join(t, NULL);
}
