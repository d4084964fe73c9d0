// SPDX-License-Identifier: LGPL-2.1-or-later
// Preloaded after the library, so that it ends after it: then the program still calls.
// Its constructor calls the program, too, if that wants to.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

__attribute__((constructor)) static void start(void)
{
	void (**hook)(void) = (void (**)(void))dlsym(RTLD_DEFAULT, "late_start");

	if (hook && *hook)
		(*hook)();
}

__attribute__((visibility("default"))) void (*late_hook)(void);

__attribute__((destructor)) static void late(void)
{
	if (late_hook)
		late_hook();
}
