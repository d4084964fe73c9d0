// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A program that knows nothing of CUDA and loads a plugin that is linked to
 * libcuda: the plugin's slots must be found before its first call.
 */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	void *lib = dlopen(argc > 1 ? argv[1] : "", RTLD_LAZY);
	int (*run)(void) = lib ? (int (*)(void))dlsym(lib, "linked_run") : NULL;

	if (!run) {
		printf("%s\n", dlerror());
		return 1;
	}
	return run();
}
