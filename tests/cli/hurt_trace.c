// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What the tests do to traces:
 *
 *	hurt_trace flip FILE SEED	damages some bytes
 *	hurt_trace hold DIR		lives inside the open call of an unfinished
 *					trace, until it is killed
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../module/uapi/cudatrace.h"

static void die(const char *what)
{
	perror(what);
	exit(2);
}

static int flip(const char *path, unsigned int seed)
{
	int fd = open(path, O_RDWR);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) || !st.st_size)
		die(path);
	srand(seed);
	for (int i = rand() % 4; i >= 0; i--) {
		/* Heads of packets and first records are where it hurts. */
		off_t at = rand() % 2 ? rand() % st.st_size : rand() % st.st_size / 4096 * 4096 +
			   rand() % 256;
		uint8_t byte;

		if (at >= st.st_size || pread(fd, &byte, 1, at) != 1)
			continue;
		byte = rand() % 3 ? byte ^ 1 << rand() % 8 : rand();
		if (pwrite(fd, &byte, 1, at) != 1)
			die(path);
	}
	return 0;
}

static int hold(const char *dir)
{
	struct ct_inflight_page *page;
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/.open-4242-1", dir);
	fd = open(path, O_RDWR);
	if (fd < 0)
		die(path);
	page = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		die(path);
	page->pid = page->tid = getpid();
	printf("ready\n");
	fflush(stdout);
	pause();
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "flip"))
		return flip(argv[2], atoi(argv[3]));
	if (argc == 3 && !strcmp(argv[1], "hold"))
		return hold(argv[2]);
	fprintf(stderr, "usage: hurt_trace flip FILE SEED | hold DIR\n");
	return 2;
}
