// SPDX-License-Identifier: LGPL-2.1-or-later
/* A thread with the smallest stack that there may be calls libcuda, ten times: small_stack LIBCUDA */
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>

static void *calls(void *function)
{
	/* An error is as good: there is no context. */
	for (int i = 0; i < 10; i++)
		((int (*)(void))function)();
	return NULL;
}

int main(int argc, char **argv)
{
	void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	void *function = library ? dlsym(library, "cuCtxSynchronize") : NULL;
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	if (!function || pthread_attr_setstacksize(&attr, 16384) || pthread_create(&thread, &attr, calls, function))
		return 2;
	pthread_join(thread, NULL);
	return 0;
}
