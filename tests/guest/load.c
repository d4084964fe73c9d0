// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Usage: load NAME COUNT [RATE [BATCH [FILE]]]
 *        load mark:TEXT COUNT
 *        load watch
 *        load last
 *        load loopback
 *
 * Makes COUNT events of class NAME on /dev/cudatrace, numbered from 0 in "size", RATE per
 * second by this machine's clock (0: as fast as possible), BATCH in one call.  Prints how
 * many it made, and how many per second.  Then waits until FILE exists, because a reader
 * looks up a process when it reads its records.
 *
 * watch: measures until SIGTERM how fast this machine is, which is unknown if it is
 * emulated.  On each processor a loop runs for half a millisecond of every 20.  Prints the
 * speed of the loop on the slowest processor, in millions of rounds per second, and the
 * longest time in ms for which a processor stood still.
 *
 * last: a process whose leader ends before its other thread, and is waited for and freed while that
 * thread is still in the kernel (module/ct_events.c).  Exit status 77: this kernel can't.
 *
 * loopback: brings 127.0.0.1 up, which nothing else in the guest does.
 */
#include <err.h>
#include <fcntl.h>
#include <net/if.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "session.h"

struct event {
	struct ct_mark_head head;
	uint64_t size, ptr;
};

static void wait_until(uint64_t ns)
{
	struct timespec ts = { .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
}

/* The work of one processor; only the process on that processor writes it. */
struct progress {
	uint64_t turns, ns, still_ns;
};

static void watch_one(int cpu, struct progress *p)
{
	const struct sched_param first = { .sched_priority = 50 };
	const uint64_t turns = 100000;
	uint64_t start, begin = now();
	volatile uint64_t sum = 0;

	pin(cpu);
	/* Highest priority, because it measures the emulated machine, not the other processes. */
	sched_setscheduler(0, SCHED_FIFO, &first);
	for (;;) {
		start = now();
		for (uint64_t n = 0; n < turns; n++)
			sum += n;
		p->ns += now() - start;
		p->turns += turns;
		if (now() - begin > p->still_ns)
			p->still_ns = now() - begin;
		begin = now();
		usleep(20000);
	}
}

static int loopback(void)
{
	struct ifreq lo = { .ifr_name = "lo" };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	if (fd < 0 || ioctl(fd, SIOCGIFFLAGS, &lo))
		err(1, "lo");
	lo.ifr_flags |= IFF_UP | IFF_RUNNING;
	if (ioctl(fd, SIOCSIFFLAGS, &lo))
		err(1, "lo");
	return 0;
}

static int watch(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN), i;
	struct progress *p = mmap(NULL, cpus * sizeof(*p), PROT_READ | PROT_WRITE,
				  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint64_t speed, least = ~0ull, still = 0;
	pid_t pid[cpus];
	sigset_t end;
	int sig;

	sigemptyset(&end);
	sigaddset(&end, SIGTERM);
	sigprocmask(SIG_BLOCK, &end, NULL);
	for (i = 0; i < cpus; i++) {
		pid[i] = fork();
		if (!pid[i])
			watch_one(i, &p[i]);
	}
	sigwait(&end, &sig);
	for (i = 0; i < cpus; i++) {
		kill(pid[i], SIGKILL);
		waitpid(pid[i], NULL, 0);
		speed = p[i].turns * 1000 / (p[i].ns + 1);
		least = speed < least ? speed : least;
		still = p[i].still_ns > still ? p[i].still_ns : still;
	}
	printf("%llu %llu\n", (unsigned long long)least, (unsigned long long)(still / 1000000));
	return 0;
}

static void *last_thread(void *unused)
{
	char path[64], state = 0;
	FILE *f;

	(void)unused;
	prctl(PR_SET_NAME, "ct_last");
	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", getpid());
	while (state != 'Z') {
		usleep(10000);
		f = fopen(path, "r");
		if (!f || fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
			errx(1, "%s", path);
		fclose(f);
	}
	syscall(SYS_exit, 0);
	return unused;
}

static int last(void)
{
	int fd = open("/dev/ct_events", O_WRONLY);
	pthread_t t;
	pid_t pid;

	if (fd < 0 || write(fd, "last", 4) != 4)
		return 77;
	pid = fork();
	if (!pid) {
		if (pthread_create(&t, NULL, last_thread, NULL))
			_exit(1);
		syscall(SYS_exit, 0);
	}
	waitpid(pid, NULL, 0);
	return write(fd, "reaped", 6) != 6;
}

static int text_marks(int fd, const char *text, uint64_t count)
{
	struct mark m = text_mark(text);

	while (count--)
		if (ioctl(fd, CT_IOC_MARK(sizeof(m)), &m))
			err(1, "CT_IOC_MARK");
	return 0;
}

int main(int argc, char **argv)
{
	uint64_t count, rate, batch, made = 0, start, i;
	struct event e[CT_MARK_MAX / sizeof(struct event)];
	struct ct_define d;
	int fd;

	if (argc == 2 && !strcmp(argv[1], "watch"))
		return watch();
	if (argc == 2 && !strcmp(argv[1], "last"))
		return last();
	if (argc == 2 && !strcmp(argv[1], "loopback"))
		return loopback();
	if (argc < 3)
		errx(64, "Usage: load NAME COUNT [RATE [BATCH [FILE]]]");
	count = strtoull(argv[2], NULL, 0);
	rate = argc > 3 ? strtoull(argv[3], NULL, 0) : 0;
	batch = argc > 4 ? strtoull(argv[4], NULL, 0) : 1;
	if (!batch || batch > 36 || strlen(argv[1]) >= sizeof(d.name))
		errx(64, "BATCH is 1 to 36, NAME short");
	fd = device(O_WRONLY);
	if (!strncmp(argv[1], "mark:", 5))
		return text_marks(fd, argv[1] + 5, count);
	d = define(argv[1], argv[1]);
	if (ioctl(fd, CT_IOC_DEFINE, &d))
		err(1, "CT_IOC_DEFINE");
	start = now();
	while (made < count) {
		uint64_t n = count - made < batch ? count - made : batch;

		for (i = 0; i < n; i++)
			e[i] = (struct event){ .head = { .size = sizeof(e[i]), .class = d.id,
							 .flags = CT_F_INSTANT },
					       .size = made + i, .ptr = 0x7f0000000000 };
		if (rate)
			wait_until(start + made * 1000000000 / rate);
		if (ioctl(fd, CT_IOC_MARK(n * sizeof(*e)), e))
			err(1, "CT_IOC_MARK");
		made += n;
	}
	if (rate)
		wait_until(start + made * 1000000000 / rate);
	printf("%llu events, %llu a second\n", (unsigned long long)made, (unsigned long long)
	       (made * 1000000000 / (now() - start + 1)));
	while (argc > 5 && access(argv[5], F_OK))
		usleep(10000);
	return 0;
}
