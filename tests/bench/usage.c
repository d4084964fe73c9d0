// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Runs a command and writes what it took to a file, as one line: seconds by the clock,
 * seconds of processor time, peak resident KiB of its largest process.
 *
 *	usage FILE COMMAND [ARGUMENT...]
 *
 * Exits with the command's status, 126 if it was killed.
 */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(struct timeval t)
{
	return t.tv_sec + t.tv_usec / 1e6;
}

int main(int argc, char **argv)
{
	struct timespec begin, end;
	struct rusage used;
	int status;
	pid_t pid;
	FILE *f;

	if (argc < 3) {
		fprintf(stderr, "usage: usage FILE COMMAND [ARGUMENT...]\n");
		return 2;
	}
	clock_gettime(CLOCK_MONOTONIC, &begin);
	pid = fork();
	if (!pid) {
		execvp(argv[2], argv + 2);
		perror(argv[2]);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &used) != pid) {
		perror("usage");
		return 2;
	}
	clock_gettime(CLOCK_MONOTONIC, &end);
	f = fopen(argv[1], "w");
	if (!f) {
		perror(argv[1]);
		return 2;
	}
	fprintf(f, "%.3f %.3f %ld\n",
		end.tv_sec - begin.tv_sec + (end.tv_nsec - begin.tv_nsec) / 1e9,
		seconds(used.ru_utime) + seconds(used.ru_stime), used.ru_maxrss);
	fclose(f);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 126;
}
