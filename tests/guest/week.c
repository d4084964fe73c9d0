// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A week of a flight recorder: the clock moves on in steps (ct_clock.ko), a busy CPU records at each
 * of them, a quiet one once a day.  Each mark says when it was made; so the traces can be judged.
 *
 * Usage: week DIR	takes a snapshot DIR/day-N at the end of each day, and prints for each
 *			"N BUSY QUIET": how many marks each CPU has made by then
 */
#include "session.h"

#define STEP_HOURS	2
#define BUSY_MARKS	60	/* at each step */
#define DAYS		8

static uint64_t made[2];

static void mark(int fd, int cpu)
{
	char text[sizeof(((struct mark *)0)->text) + 1];
	struct mark m;

	snprintf(text, sizeof(text), "w%d %llu %llu.", cpu, (unsigned long long)++made[cpu],
		 (unsigned long long)now() / 1000000);
	m = text_mark(text);
	if (call(fd, CT_IOC_MARK(sizeof(m)), &m)) {
		perror("CT_IOC_MARK");
		exit(1);
	}
}

/* The clock jumps; then the kernel has time to run what became due. */
static void step(int fd, unsigned int hours)
{
	char text[16];
	int n = snprintf(text, sizeof(text), "%u", hours * 3600);

	if (write(fd, text, n) != n) {
		perror("/dev/ct_clock");
		exit(1);
	}
	for (n = 0; n < 5; n++)
		usleep(10000);
}

int main(int argc, char **argv)
{
	struct ct_session arg = { .size = sizeof(arg), .subbuf_size = 4096, .subbuf_count = 16,
				  .flags = CT_SESSION_OVERWRITE, .groups = 1u << CT_GROUP_ADDED };
	int fd = device(O_RDWR), clock = open("/dev/ct_clock", O_WRONLY | O_CLOEXEC), day, hour, i;
	char command[4096];

	if (argc != 2 || clock < 0 || call(fd, CT_IOC_START, &arg)) {
		fprintf(stderr, "week: %s\n", strerror(errno));
		return 1;
	}
	for (day = 0; day < DAYS; day++) {
		for (hour = 0; hour < 24; hour += STEP_HOURS) {
			step(clock, STEP_HOURS);
			pin(0);
			for (i = 0; i < BUSY_MARKS; i++)
				mark(fd, 0);
			pin(1);
			if (hour == 12)
				mark(fd, 1);
		}
		printf("%d %llu %llu\n", day, (unsigned long long)made[0],
		       (unsigned long long)made[1]);
		fflush(stdout);
		snprintf(command, sizeof(command), "cudatrace snapshot -q -o %s/day-%d", argv[1], day);
		if (system(command))
			return 1;
	}
	return 0;
}
