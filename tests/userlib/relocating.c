// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A plugin that is linked to libcuda, and whose loading is interrupted in the middle of
 * its relocation: the loader calls the resolver of chosen(), between the slots of two of
 * libcuda's functions.  As if another thread called CUDA then.
 *
 *	relocating PLUGIN	(with -DPLUGIN: the plugin)
 *
 * With $NODE, a file of NVIDIA's driver, the plugin makes an ioctl on it, and is opened with
 * RTLD_DEEPBIND.
 */
#include "mock.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

/* Where the resolver finds what to call: it cannot go by a slot of its own. */
#define MEETING		((int (**)(unsigned))0x200000000)

#ifdef PLUGIN
static int one(void)
{
	return 1;
}

__attribute__((used)) static int (*choose(void))(void)
{
	(*MEETING)(0);
	return one;
}

int chosen(void) __attribute__((ifunc("choose")));

int run(void)
{
	void *ctx;

	for (int i = 0; i < 10; i++)
		if (cuCtxGetCurrent(&ctx) || !chosen() || cuCtxSetCurrent((void *)1))
			return 1;
	if (getenv("NODE"))
		ioctl(open(getenv("NODE"), O_PATH), 0xc020462a, NULL);
	return 0;
}
#else
int main(int argc, char **argv)
{
	void *cuda = dlopen("libcuda.so.1", RTLD_NOW), *lib;
	int (*run)(void);

	if (argc < 2 || !cuda ||
	    mmap(MEETING, 4096, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != MEETING)
		return 2;
	*MEETING = (int (*)(unsigned))dlsym(cuda, "cuInit");
	lib = dlopen(argv[1], RTLD_NOW | (getenv("NODE") ? RTLD_DEEPBIND : 0));
	run = lib ? (int (*)(void))dlsym(lib, "run") : NULL;
	if (!run) {
		printf("%s\n", dlerror());
		return 1;
	}
	return run();
}
#endif
