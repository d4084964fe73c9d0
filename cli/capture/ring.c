// SPDX-License-Identifier: LGPL-2.1-or-later
/* See ring.h. */
#include "capture/ring.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

/*
 * A ring must hold what a CPU records while the recorder does not run: it reads every 10 ms,
 * but a busy scheduler or disk may stop it for some 100 ms.  A million records a second are
 * 64 MB a second, of which 16 MiB hold 250 ms.  More by default would only cost: the module
 * clears all of it when a session starts.  A sixteenth of the memory is what a machine can
 * spare without swapping, and 1 GiB together keeps the start of a session on a machine of
 * hundreds of CPUs below about a second.
 */
#define SHARE 16
#define TOTAL_MAX (1ull << 30)
#define DEFAULT_MIN (1ull << 20)
#define DEFAULT_MAX (16ull << 20)

#define PACKET (64u << 10) /* bytes of a packet where nobody chose them */
#define RING_MAX (1ull << 30) /* the module takes no more */

/* The first line of a file below @root that begins with @word, or "". */
static void ring_read_line(const char *root, const char *file, const char *word, char *line,
			   size_t room)
{
	char path[PATH_MAX];
	FILE *f;

	*line = '\0';
	if (snprintf(path, sizeof(path), "%s%s", root, file) >= (int)sizeof(path))
		return;
	f = fopen(path, "re");
	if (!f)
		return;
	do {
		if (!fgets(line, room, f))
			*line = '\0';
	} while (*line && strncmp(line, word, strlen(word)));
	fclose(f);
	line[strcspn(line, "\n")] = '\0';
}

/* Where cgroup v2 is mounted. */
static void ring_find_cgroups(const char *root, char *mount, size_t room)
{
	char path[PATH_MAX], line[PATH_MAX], point[PATH_MAX];
	FILE *f;

	snprintf(mount, room, "/sys/fs/cgroup");
	if (snprintf(path, sizeof(path), "%s/proc/self/mountinfo", root) >= (int)sizeof(path))
		return;
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		if (!strstr(line, " - cgroup2 ") || sscanf(line, "%*s %*s %*s %*s %s", point) != 1)
			continue;
		snprintf(mount, room, "%s", point);
		break;
	}
	if (f)
		fclose(f);
}

/* The number in a file of a cgroup; UINT64_MAX: "max", or there is no such file. */
static uint64_t ring_cgroup_number(const char *root, const char *mount, const char *group,
				   const char *name)
{
	char path[PATH_MAX], line[64], *end;
	uint64_t value;

	if (snprintf(path, sizeof(path), "%s%s/%s", mount, group, name) >= (int)sizeof(path))
		return UINT64_MAX;
	ring_read_line(root, path, "", line, sizeof(line));
	value = strtoull(line, &end, 10);
	return end == line ? UINT64_MAX : value;
}

/* What the limits of our cgroup v2, and of those around it, leave. */
static uint64_t ring_cgroup_memory(const char *root)
{
	uint64_t left = UINT64_MAX, most, now;
	char line[PATH_MAX], mount[PATH_MAX], *group, *slash;

	ring_read_line(root, "/proc/self/cgroup", "0::/", line, sizeof(line));
	if (!*line)
		return UINT64_MAX;
	ring_find_cgroups(root, mount, sizeof(mount));
	group = line + strlen("0::");
	for (;;) {
		slash = strrchr(group, '/');
		if (slash && !slash[1])
			*slash = '\0';
		most = ring_cgroup_number(root, mount, group, "memory.max");
		now = ring_cgroup_number(root, mount, group, "memory.current");
		if (most != UINT64_MAX && now != UINT64_MAX && (most > now ? most - now : 0) < left)
			left = most > now ? most - now : 0;
		slash = strrchr(group, '/');
		if (!slash)
			return left;
		*slash = '\0';
	}
}

uint64_t ct_ring_memory(const char *root)
{
	uint64_t machine, group;
	char line[128];

	ring_read_line(root, "/proc/meminfo", "MemAvailable:", line, sizeof(line));
	machine = strtoull(line + strcspn(line, "0123456789"), NULL, 10) << 10;
	group = ring_cgroup_memory(root);
	return group < machine ? group : machine;
}

unsigned int ct_ring_cpus(const char *root)
{
	unsigned int first, last, n = 0;
	char line[1024], *p;
	int used;

	ring_read_line(root, "/sys/devices/system/cpu/possible", "", line, sizeof(line));
	for (p = line; sscanf(p, "%u%n", &first, &used) == 1; p += *p == ',') {
		p += used;
		last = first;
		if (sscanf(p, "-%u%n", &last, &used) == 1)
			p += used;
		n += last >= first ? last - first + 1 : 0;
	}
	return n ? n : 1;
}

static uint64_t ring_bounded(uint64_t bytes, uint64_t least, uint64_t most)
{
	uint64_t size = least;

	while (size * 2 <= bytes && size < most)
		size *= 2;
	return size;
}

uint64_t ct_ring_default(uint64_t memory, unsigned int cpus)
{
	uint64_t all = memory / SHARE < TOTAL_MAX ? memory / SHARE : TOTAL_MAX;

	return ring_bounded(all / cpus, DEFAULT_MIN, DEFAULT_MAX);
}

uint64_t ct_ring_largest(uint64_t memory, unsigned int cpus)
{
	/* The traced program needs memory, too. */
	return ring_bounded(memory / 2 / cpus, DEFAULT_MIN, RING_MAX);
}

static uint32_t ring_packets(uint64_t bytes, uint32_t packet)
{
	return bytes / 2 > packet ? bytes / packet : 2;
}

/* As many packets as are chosen where nobody asks for a size. */
static uint32_t ring_chosen(const struct ct_session *s)
{
	return ring_packets(ct_ring_default(ct_ring_memory(""), ct_ring_cpus("")), s->subbuf_size);
}

int ct_ring_start(int fd, struct ct_session *s, bool smaller, uint64_t *wanted)
{
	uint32_t chosen;

	if (!s->subbuf_size)
		s->subbuf_size = PACKET;
	if (!s->subbuf_count)
		s->subbuf_count = ring_chosen(s);
	*wanted = ct_ring_bytes(s);
	while (ioctl(fd, CT_IOC_START, s)) {
		if (errno != ENOMEM || !smaller || s->subbuf_count == 2)
			return -errno;
		/* Not the largest that there is memory for: the program would have none. */
		chosen = ring_chosen(s);
		s->subbuf_count = chosen < s->subbuf_count ? chosen : s->subbuf_count / 2;
	}
	return 0;
}
