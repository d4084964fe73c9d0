// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Usage: load NAME COUNT [RATE [BATCH]]
 *        load mark:TEXT COUNT
 *        load speed
 *
 * Makes COUNT events of class NAME on /dev/cudatrace, numbered from 0 in "size", RATE
 * a second by this machine's own clock (0: as fast as it goes), BATCH in one call.
 * Prints how many it made and how many a second that were.
 *
 * speed: how fast this machine is just now, with all processors at work, in millions of
 * turns of a loop a second on one of them: of an emulated one that is not known.
 */
#include <err.h>
#include <stdio.h>
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

static int speed(void)
{
	const uint64_t turns = 40000000;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN), i;
	uint64_t start = now();
	volatile uint64_t sum = 0;

	for (i = 0; i < cpus; i++) {
		if (!fork()) {
			for (uint64_t n = 0; n < turns; n++)
				sum += n;
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
	printf("%llu\n", (unsigned long long)(turns * 1000 / (now() - start)));
	return 0;
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

	if (argc == 2 && !strcmp(argv[1], "speed"))
		return speed();
	if (argc < 3)
		errx(64, "Usage: load NAME COUNT [RATE [BATCH]]");
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
	return 0;
}
