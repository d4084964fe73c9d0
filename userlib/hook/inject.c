// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The second way in, for programs that cannot be preloaded: libcuda loads the library
 * that CUDA_INJECTION64_PATH names when it is initialised, and calls
 * InitializeInjection().  What the program has looked up by then leads through libcuda's
 * table all the same.
 */
#include <dlfcn.h>

#include "base/elf.h"
#include "base/options.h"
#include "base/process.h"
#include "hook/objects.h"

static void chain(void)
{
	void *(*open)(const char *, int) = (void *(*)(const char *, int))ct_find_next("dlopen");
	void *(*sym)(void *, const char *) = (void *(*)(void *, const char *))ct_find_next("dlsym");
	int (*next)(void) = NULL;
	void *handle;

	if (!*ct_options.injection_next || !open || !sym)
		return;
	handle = open(ct_options.injection_next, RTLD_LAZY);
	if (handle)
		next = (int (*)(void))sym(handle, "InitializeInjection");
	if (next)
		next();
}

__attribute__((visibility("default"))) int InitializeInjection(void);

int InitializeInjection(void)
{
	static u32 once;

	if (__atomic_exchange_n(&once, 1u, __ATOMIC_RELAXED))
		return 1;
	if (ct_ready)
		ct_objects_check();
	chain();
	return 1;
}
