// SPDX-License-Identifier: MIT
/*
 * What selfcheck.sh runs in the guest, built on the host:
 *
 *   probe cuinit  calls cuInit of the libcuda.so.1 that programs find
 *   probe rm      allocates and frees a root client of NVIDIA's driver
 *
 * Prints one line of what came back; fails only if it could not ask.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

/* The parameter blocks of the driver's two oldest calls, word by word. */
struct rm_alloc {
	uint32_t root, parent, object, class;
	uint64_t params;
	uint32_t size, status;
};

struct rm_free {
	uint32_t root, parent, object, status;
};

#define RM_ALLOC	_IOWR('F', 0x2b, struct rm_alloc)
#define RM_FREE		_IOWR('F', 0x29, struct rm_free)
#define ROOT_CLIENT	0x41

static int cuinit(void)
{
	void *libcuda = dlopen("libcuda.so.1", RTLD_NOW);
	int (*init)(unsigned int);

	if (!libcuda) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	*(void **)&init = dlsym(libcuda, "cuInit");
	if (!init) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	printf("cuInit returned %d\n", init(0));
	return 0;
}

static int rm(void)
{
	struct rm_alloc alloc = { .class = ROOT_CLIENT };
	struct rm_free free = { 0 };
	int fd = open("/dev/nvidiactl", O_RDWR);

	if (fd < 0 || ioctl(fd, RM_ALLOC, &alloc)) {
		perror("/dev/nvidiactl");
		return 1;
	}
	free.root = free.object = alloc.object;
	if (ioctl(fd, RM_FREE, &free)) {
		perror("RM_FREE");
		return 1;
	}
	printf("alloc status 0x%x, free status 0x%x\n", alloc.status, free.status);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "cuinit"))
		return cuinit();
	if (argc == 2 && !strcmp(argv[1], "rm"))
		return rm();
	fprintf(stderr, "usage: probe cuinit|rm\n");
	return 2;
}
