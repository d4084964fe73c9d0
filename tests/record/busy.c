// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A thread that calls and calls: busy WHAT...
 *
 *	N	so many calls of cuCtxGetDevice
 *	wait	says on stdout how many were made, and waits for a line on stdin
 *	names=N	launches so many kernels, each with a name of its own
 *	kill	ends by SIGKILL
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As a program does that compiles kernels while it runs. */
static int names(void *lib, unsigned long count)
{
	int (*retain)(void **, int) = (int (*)(void **, int))dlsym(lib, "cuDevicePrimaryCtxRetain");
	int (*set)(void *) = (int (*)(void *))dlsym(lib, "cuCtxSetCurrent");
	int (*load)(void **, const void *) = (int (*)(void **, const void *))dlsym(lib, "cuModuleLoadData");
	int (*function)(void **, void *, const char *) = (int (*)(void **, void *, const char *))dlsym(lib, "cuModuleGetFunction");
	int (*unload)(void *) = (int (*)(void *))dlsym(lib, "cuModuleUnload");
	int (*launch)(void *, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, void *,
		      void **, void **) = (__typeof__(launch))dlsym(lib, "cuLaunchKernel");
	int (*wait)(void) = (int (*)(void))dlsym(lib, "cuCtxSynchronize");
	char name[128], image[256];
	void *context, *module, *f, *p = NULL;
	int a = 0, failed = retain(&context, 0) || set(context);

	for (unsigned long i = 0; i < count && !failed; i++) {
		void *args[] = { &p, &a, &a };

		snprintf(name, sizeof(name), "kernel_%0100lu", i);
		snprintf(image, sizeof(image), "cudatrace-sim-image 1\nkernel %s pii\n", name);
		failed = load(&module, image) || function(&f, module, name) || launch(f, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL) ||
			 wait() || unload(module);
	}
	return failed;
}

int main(int argc, char **argv)
{
	void *lib = dlopen("libcuda.so.1", RTLD_NOW);
	int (*init)(unsigned int), (*get)(int *), device;
	unsigned long made = 0;
	char line[16];

	if (!lib) {
		fprintf(stderr, "busy: %s\n", dlerror());
		return 1;
	}
	init = (int (*)(unsigned int))dlsym(lib, "cuInit");
	get = (int (*)(int *))dlsym(lib, "cuCtxGetDevice");
	if (!init || !get || init(0))
		return 1;
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "kill"))
			raise(SIGKILL);
		if (!strncmp(argv[i], "names=", 6)) {
			if (names(lib, strtoul(argv[i] + 6, NULL, 10)))
				return 1;
			continue;
		}
		if (!strcmp(argv[i], "wait")) {
			printf("%lu\n", made);
			fflush(stdout);
			if (!fgets(line, sizeof(line), stdin))
				return 1;
			continue;
		}
		for (unsigned long n = strtoul(argv[i], NULL, 10); n; n--, made++)
			get(&device);
	}
	printf("%lu\n", made);
	return 0;
}
