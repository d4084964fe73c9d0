// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Breakpoints of the kernel (uprobes) at the entries of a library's functions, as perf and bpftrace set them, in all
 * processes that have it: uprobes FILE FUNCTION...
 *
 * Prints "set", or why not; at SIGTERM "N hits".  They are gone with this process.
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MOST	1024

/* Where in its file a function is; 0: not known. */
static uint64_t offset_of(const void *function)
{
	unsigned long start, end, offset;
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[4352];

	while (maps && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx %*s %lx", &start, &end, &offset) == 3 && (uintptr_t)function >= start &&
		    (uintptr_t)function < end) {
			fclose(maps);
			return (uintptr_t)function - start + offset;
		}
	if (maps)
		fclose(maps);
	return 0;
}

int main(int argc, char **argv)
{
	struct perf_event_attr attr = { .size = sizeof(attr) };
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	int fd[MOST], count = 0, type, signal;
	uint64_t hits = 0, n;
	sigset_t term;
	void *library;
	FILE *f;

	if (argc < 3 || (argc - 2) * cpus > MOST)
		return 2;
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, NULL);
	library = dlopen(argv[1], RTLD_LAZY);
	f = fopen("/sys/bus/event_source/devices/uprobe/type", "re");
	if (!f || fscanf(f, "%d", &type) != 1) {
		puts("this kernel has no uprobes by perf_event_open()");
		return 1;
	}
	fclose(f);
	attr.type = (uint32_t)type;
	attr.uprobe_path = (uintptr_t)argv[1];
	for (int i = 2; i < argc; i++) {
		attr.probe_offset = offset_of(library ? dlsym(library, argv[i]) : NULL);
		for (long cpu = 0; cpu < cpus; cpu++) {
			fd[count] = (int)syscall(SYS_perf_event_open, &attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
			if (fd[count++] < 0 && errno != ENODEV) {
				printf("perf_event_open: %s\n", strerror(errno));
				return 1;
			}
		}
	}
	puts("set");
	fflush(stdout);
	sigwait(&term, &signal);
	for (int i = 0; i < count; i++)
		if (fd[i] >= 0 && read(fd[i], &n, sizeof(n)) == sizeof(n))
			hits += n;
	printf("%llu hits\n", (unsigned long long)hits);
	return 0;
}
