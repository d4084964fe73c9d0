// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Calls that can't be recorded, in threads and processes that never had a packet.  Says
 * how many records they should be: "made N", a process record of each process included.
 */
#include "victim.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define THREADS	200

static pthread_barrier_t begin;
static int each;	/* calls of a thread */

static void *run(void *unused)
{
	pthread_barrier_wait(&begin);
	calls(each);
	return unused;
}

/* No room for another packet beside the trace. */
static void fill_disk(void)
{
	static const char zeros[4096];
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/../fill", getenv("CUDATRACE_DIR"));
	fd = open(path, O_WRONLY | O_CREAT, 0644);
	CHECK(fd >= 0);
	while (write(fd, zeros, sizeof(zeros)) > 0)
		;
	close(fd);
}

static void take_away(const char *what)
{
	struct rlimit none = { 0, 0 };

	if (!strcmp(what, "room"))
		fill_disk();
	else if (!strcmp(what, "rights"))
		CHECK(!setresgid(65534, 65534, 65534) && !setresuid(65534, 65534, 65534));
	else
		CHECK(!setrlimit(RLIMIT_AS, &none));
}

/* No descriptor is free for the first 1,000 calls, nor for those of a thread. */
int no_files(void)
{
	struct rlimit all, none;
	pthread_t t;

	load();
	CHECK(!getrlimit(RLIMIT_NOFILE, &all));
	none = (struct rlimit){ 0, all.rlim_max };
	CHECK(!setrlimit(RLIMIT_NOFILE, &none));
	calls(1000);
	each = 1;
	CHECK(!pthread_barrier_init(&begin, NULL, 1) && !pthread_create(&t, NULL, run, NULL));
	pthread_join(t, NULL);
	CHECK(!setrlimit(RLIMIT_NOFILE, &all));
	usleep(10000);
	calls(50000);
	printf("made %d\n", 1 + 1000 + each + 50000);
	return 0;
}

/* LOSE: what is taken away; LOSE_END: the signal that ends it; LOSE_BUSY: calls before and after. */
int losses(void)
{
	const char *what = getenv("LOSE"), *end = getenv("LOSE_END"), *more = getenv("LOSE_BUSY");
	int busy = more ? atoi(more) : 0;
	bool memory = !strcmp(what, "memory");
	int threads = memory ? 2 : THREADS;
	pthread_t t[THREADS];
	int n = end && *end ? atoi(end) : 0;
	long made;
	pid_t pid;

	each = memory ? 20 : 500;
	made = 1 + 10 + threads * each + 2 * busy;
	load();
	calls(10 + busy);
	CHECK(!pthread_barrier_init(&begin, NULL, (unsigned)threads + 1));
	for (int i = 0; i < threads; i++)
		CHECK(!pthread_create(&t[i], NULL, run, NULL));
	take_away(what);
	pthread_barrier_wait(&begin);
	calls(busy);
	for (int i = 0; i < threads; i++)
		pthread_join(t[i], NULL);
	if (!memory) {
		made += 1 + each;
		pid = fork();
		if (!pid) {
			calls(each);
			if (n)
				raise(n);
			_exit(0);
		}
		CHECK(await(pid) == -n);
	}
	printf("made %ld\n", made);
	fflush(stdout);
	if (n)
		raise(n);
	return 0;
}
