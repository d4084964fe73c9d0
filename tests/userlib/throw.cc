// SPDX-License-Identifier: LGPL-2.1-or-later
// Exceptions and thread cancellation that leave a call, backtraces in one, and calls of a
// thread's own objects at its end.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <stdexcept>
#include <unistd.h>

#include "mock.h"

static decltype(cuMockCall) *mock_call;
static decltype(cuCtxSetCurrent) *set_current;

static void thrower(void *depth)
{
	if (depth)
		mock_call(thrower, (char *)depth - 1);
	throw std::runtime_error("through");
}

static void tracer(void *found)
{
	void *frames[32];
	int n = backtrace(frames, 32);
	char **names = backtrace_symbols(frames, n);

	for (int i = 0; i < n; i++)
		if (strstr(names[i], "main"))
			*(bool *)found = true;
	free(names);
}

static void sleeper(void *)
{
	for (;;)
		pause();
}

static void *cancelled(void *)
{
	mock_call(sleeper, nullptr);
	return nullptr;
}

/* Destroyed when its thread ends, before the keys of pthread_setspecific(). */
struct late {
	~late() { set_current(nullptr); }
};

static thread_local late last;

static void *ends(void *)
{
	(void)&last;
	set_current(nullptr);
	return nullptr;
}

int main()
{
	void *lib = dlopen("libcuda.so.1", RTLD_NOW);
	bool found = false;
	pthread_t t;
	void *ret;

	mock_call = (decltype(mock_call))dlsym(lib, "cuMockCall");
	set_current = (decltype(set_current))dlsym(lib, "cuCtxSetCurrent");
	for (int i = 0; i < 3; i++) {
		try {
			mock_call(thrower, (void *)4);
			return 1;
		} catch (const std::runtime_error &e) {
			set_current(nullptr);
		}
	}
	mock_call(tracer, &found);
	if (!found)
		return 2;
	pthread_create(&t, nullptr, cancelled, nullptr);
	usleep(20000);
	pthread_cancel(t);
	pthread_join(t, &ret);
	if (ret != PTHREAD_CANCELED)
		return 3;
	pthread_create(&t, nullptr, ends, nullptr);
	pthread_join(t, nullptr);
	return 0;
}
