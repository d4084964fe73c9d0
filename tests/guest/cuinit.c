// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The smallest program that makes NVIDIA's libcuda talk to its driver: dlopen and
 * cuInit, in the way of a runtime library.  Prints what cuInit returned.
 */
#include <dlfcn.h>
#include <stdio.h>

int main(void)
{
	void *lib = dlopen("libcuda.so.1", RTLD_NOW);
	int (*init)(unsigned int), (*version)(int *);
	int v = 0, ret;

	if (!lib) {
		fprintf(stderr, "%s\n", dlerror());
		return 2;
	}
	init = (int (*)(unsigned int))dlsym(lib, "cuInit");
	version = (int (*)(int *))dlsym(lib, "cuDriverGetVersion");
	if (!init || !version) {
		fprintf(stderr, "%s\n", dlerror());
		return 2;
	}
	ret = init(0);
	version(&v);
	printf("cuInit %d version %d\n", ret, v);
	return 0;
}
