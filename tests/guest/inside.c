// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Makes calls of libcuda with one ioctl of the driver in each, and checks that the trace has
 * every ioctl inside its call.  The preload library stamps the call, the module the ioctl.
 *
 *	inside calls N THREADS	makes N calls in each thread (the tests' libcuda,
 *				NVIDIA's real driver)
 *	inside check N		reads the trace as JSON lines; exit status 0 if there are N
 *				calls and nvidia_ioctl begins and ends in each.  Prints how
 *				many calls there were, and the shortest distances in ns.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "../userlib/mock.h"

/* NV_ESC_SYS_PARAMS needs no GPU and does nothing. */
#define SYS_PARAMS	_IOWR('F', 214, uint64_t)

#define CALL	"\"name\":\"cuMockIoctl\""
#define IOCTL	"\"name\":\"nvidia_ioctl\""
#define PHASE	"\"phase\":\""

static __typeof__(cuMockIoctl) *mock;
static long count;

static void *calls(void *failed)
{
	int fd = open("/dev/nvidiactl", O_RDWR | O_CLOEXEC);
	uint64_t size;

	if (fd < 0)
		*(int *)failed = 1;
	/* The driver may refuse it if another size was set before. */
	for (long i = 0; i < count && fd >= 0; i++) {
		size = 0;
		mock(fd, SYS_PARAMS, &size);
		/* So that the recorder keeps up on a slow machine. */
		if (i % 1000 == 999)
			usleep(50000);
	}
	return NULL;
}

static int make_calls(int threads)
{
	void *lib = dlopen("libcuda.so.1", RTLD_NOW);
	pthread_t t[64];
	int failed = 0;

	mock = lib ? (__typeof__(mock))dlsym(lib, "cuMockIoctl") : NULL;
	if (!mock || threads < 1 || threads > 64)
		return 2;
	for (int i = 0; i < threads; i++)
		if (pthread_create(&t[i], NULL, calls, &failed))
			return 2;
	for (int i = 0; i < threads; i++)
		pthread_join(t[i], NULL);
	return failed;
}

/* The last four times of a thread: of its call (B, E) and of the ioctl (B, E). */
static struct thread {
	long tid;
	unsigned have;
	uint64_t ns[4];
} thread[64];

static struct thread *thread_of(long tid)
{
	for (int i = 0; i < 64; i++) {
		if (!thread[i].tid)
			thread[i].tid = tid;
		if (thread[i].tid == tid)
			return &thread[i];
	}
	fprintf(stderr, "inside: more than 64 threads\n");
	exit(2);
}

static uint64_t number(const char *line, const char *key)
{
	const char *p = strstr(line, key);

	return p ? strtoull(p + strlen(key), NULL, 10) : 0;
}

static int check(long want)
{
	static char line[1 << 16];
	uint64_t before = UINT64_MAX, after = UINT64_MAX;
	long found = 0, outside = 0, strange = 0;

	while (fgets(line, sizeof(line), stdin)) {
		bool ioctl = strstr(line, IOCTL);
		const char *phase = ioctl || strstr(line, CALL) ? strstr(line, PHASE) : NULL;
		struct thread *t;
		unsigned what;

		if (!phase)
			continue;
		phase += strlen(PHASE);
		if (*phase != 'B' && *phase != 'E')
			continue;
		t = thread_of((long)number(line, "\"tid\":"));
		what = (ioctl ? 2 : 0) + (*phase == 'E');
		if (t->have & 1u << what)
			strange++;
		t->have |= 1u << what;
		t->ns[what] = number(line, "\"ts_ns\":");
		if (t->have != 15)
			continue;
		t->have = 0;
		found++;
		if (t->ns[0] > t->ns[2] || t->ns[3] > t->ns[1] || t->ns[2] > t->ns[3]) {
			if (outside++ < 5)
				printf("call %llu to %llu, ioctl %lld to %lld ns later, thread %ld\n",
				       (unsigned long long)t->ns[0], (unsigned long long)t->ns[1],
				       (long long)(t->ns[2] - t->ns[0]),
				       (long long)(t->ns[3] - t->ns[0]), t->tid);
			continue;
		}
		if (t->ns[2] - t->ns[0] < before)
			before = t->ns[2] - t->ns[0];
		if (t->ns[1] - t->ns[3] < after)
			after = t->ns[1] - t->ns[3];
	}
	printf("%ld calls, %ld ioctls outside, %ld lines without a partner; at least %llu ns before, %llu after\n",
	       found, outside, strange, (unsigned long long)before, (unsigned long long)after);
	return found != want || outside || strange;
}

int main(int argc, char **argv)
{
	if (argc > 2)
		count = strtol(argv[2], NULL, 10);
	if (argc == 4 && !strcmp(argv[1], "calls"))
		return make_calls(atoi(argv[3]));
	if (argc == 3 && !strcmp(argv[1], "check"))
		return check(count);
	fprintf(stderr, "usage: inside calls N THREADS | inside check N\n");
	return 2;
}
