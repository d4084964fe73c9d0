// SPDX-License-Identifier: LGPL-2.1-or-later
/* See proc.h. */
#include "base/proc.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static FILE *proc_open(pid_t pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	return fopen(path, "re");
}

bool ct_proc_stat(pid_t pid, struct ct_proc_stat *s)
{
	unsigned long long ticks = 0, stack = 0;
	char line[1024], *begin, *end;
	FILE *f = proc_open(pid, "stat");
	size_t n;

	if (!f)
		return false;
	n = fread(line, 1, sizeof(line) - 1, f);
	fclose(f);
	line[n] = '\0';
	/* A name may have blanks and parentheses. */
	begin = strchr(line, '(');
	end = strrchr(line, ')');
	if (!begin || !end)
		return false;
	*end = '\0';
	*s = (struct ct_proc_stat){ .parent = 0 };
	/* The third field is behind the name; then the 4th, the 22nd and the 28th. */
	if (sscanf(end + 1,
		   " %c %d %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu"
		   " %*s %*s %*s %*s %*s %llu",
		   &s->state, &s->parent, &ticks, &stack) != 4)
		return false;
	s->started = ticks;
	s->stack = stack;
	snprintf(s->name, sizeof(s->name), "%s", begin + 1);
	return true;
}

long ct_proc_status(pid_t pid, const char *field)
{
	FILE *f = proc_open(pid, "status");
	char line[256];
	long value = -1;

	while (f && value < 0 && fgets(line, sizeof(line), f))
		if (!strncmp(line, field, strlen(field)))
			value = atol(line + strlen(field));
	if (f)
		fclose(f);
	return value;
}

FILE *ct_proc_maps(pid_t pid)
{
	return proc_open(pid, "maps");
}

bool ct_proc_next_mapping(FILE *maps, struct ct_proc_mapping *m)
{
	char line[sizeof(m->path) + 128];

	while (fgets(line, sizeof(line), maps)) {
		int at = 0;

		m->path[0] = '\0';
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %n", &m->start, &m->end, &m->offset, &at) < 3)
			continue;	/* the end of a line that was too long */
		line[strcspn(line, "\n")] = '\0';
		if (at)
			snprintf(m->path, sizeof(m->path), "%s", line + at);
		return true;
	}
	return false;
}

const char *ct_proc_file(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

#define FIRST_PIDS	0xeffffffcu	/* the kernel's inode of that namespace */

bool ct_proc_is_first(void)
{
	struct stat st;

	/* That of /proc; whoever may not look is in it, as a rule. */
	return (!stat("/proc/1/ns/pid", &st) || !stat("/proc/self/ns/pid", &st)) && st.st_ino == FIRST_PIDS;
}

pid_t ct_proc_own_pid(pid_t pid)
{
	char path[64], line[256], *last;
	pid_t own = pid;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		if (strncmp(line, "NSpid:", 6))
			continue;
		line[strcspn(line, "\n")] = '\0';
		last = strrchr(line, '\t');
		own = last ? atoi(last + 1) : pid;
		break;
	}
	if (f)
		fclose(f);
	return own;
}

char *ct_proc_environment(pid_t pid, size_t most, size_t *size)
{
	FILE *f = proc_open(pid, "environ");
	char *text = NULL, *more;
	size_t room = 0;

	*size = 0;
	while (f && *size == room && room < most) {
		room = room ? 2 * room : 16384;
		room = room < most ? room : most;
		more = realloc(text, room + 1);
		if (!more) {
			*size = 0;
			free(text);
			text = NULL;
			break;
		}
		text = more;
		*size += fread(text + *size, 1, room - *size, f);
		text[*size] = '\0';
	}
	if (f)
		fclose(f);
	return text;
}
