// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A thread that calls and calls: busy WHAT...
 *
 *	N	so many calls of cuCtxGetDevice
 *	wait	says on stdout how many were made, and waits for a line on stdin
 *	kill	ends by SIGKILL
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
