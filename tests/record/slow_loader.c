// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * To be preloaded to a program that is attached to: while the file that SLOW names holds a number, each malloc(),
 * calloc() and dl_iterate_phdr() of it takes so many microseconds more, so that loading a library takes long, with
 * the loader's lock held.  With SLOW_COMPUTES the thread needs a processor for all that time.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);

static volatile unsigned int *slow;
static int computes;

static __attribute__((constructor)) void begin(void)
{
	const char *path = getenv("SLOW");
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	void *map = fd < 0 ? MAP_FAILED : mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);

	if (map != MAP_FAILED)
		slow = map;
	computes = getenv("SLOW_COMPUTES") != NULL;
	if (fd >= 0)
		close(fd);
}

static void wait_a_bit(void)
{
	struct timespec begin, now;

	if (!slow || !*slow)
		return;
	if (!computes) {
		usleep(*slow);
		return;
	}
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	while ((now.tv_sec - begin.tv_sec) * 1000000 + (now.tv_nsec - begin.tv_nsec) / 1000 < (long)*slow);
}

void *malloc(size_t size)
{
	wait_a_bit();
	return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	wait_a_bit();
	return __libc_calloc(count, size);
}

int dl_iterate_phdr(int (*each)(struct dl_phdr_info *, size_t, void *), void *data)
{
	static __typeof__(dl_iterate_phdr) *next;

	if (!next)
		next = (__typeof__(next))dlsym(RTLD_NEXT, "dl_iterate_phdr");
	wait_a_bit();
	return next(each, data);
}
