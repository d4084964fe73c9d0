// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A program that knows nothing of CUDA and loads a plugin that is linked to
 * libcuda: the plugin's slots must be found before its first call.
 *
 *	plugin FILE [TIMES [keep]]	loads and unloads it so often; keep: but not libcuda,
 *					and it takes another one's place in the loader's list
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	void *other = NULL;

	if (argc > 3) {
		dlopen("libcuda.so.1", RTLD_NOW);
		other = dlopen("late.so", RTLD_NOW);
		if (!other || !dlsym(dlopen("libresolv.so.2", RTLD_NOW), "ns_name_skip"))
			return 1;
		dlclose(other);
	}
	for (int i = argc > 2 ? atoi(argv[2]) : 1; i > 0; i--) {
		void *lib = dlopen(argc > 1 ? argv[1] : "", RTLD_LAZY);
		int (*run)(void) = lib ? (int (*)(void))dlsym(lib, "linked_run") : NULL;

		if (!run) {
			printf("%s\n", dlerror());
			return 1;
		}
		if (run() || (argc > 2 && dlclose(lib)))
			return 1;
	}
	return 0;
}
