// SPDX-License-Identifier: LGPL-2.1-or-later
/* See rank.h. */
#include "base/rank.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "userlib/hook/launchers.h"

_Static_assert(CT_RANK_TEXT == CT_RANK_LINE_MAX, "the library's line");

bool ct_rank_read(pid_t pid, char text[CT_RANK_TEXT])
{
	char path[64], *env = malloc(CT_ENVIRONMENT_MAX);
	size_t used = 0;
	ssize_t n = 0;
	bool is = false;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/environ", pid);
	fd = env ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	while (fd >= 0 && used < CT_ENVIRONMENT_MAX - 1 && (n = read(fd, env + used, CT_ENVIRONMENT_MAX - 1 - used)) > 0)
		used += (size_t)n;
	if (fd >= 0)
		close(fd);
	if (used) {
		env[used] = '\0';
		is = ct_rank_line(text, (uint32_t)pid, env, used + 1);
	}
	free(env);
	return is;
}

int32_t ct_rank_number(pid_t pid)
{
	char text[CT_RANK_TEXT];
	const char *rank = ct_rank_read(pid, text) ? strstr(text, " rank=") : NULL;
	long number = rank ? strtol(rank + strlen(" rank="), NULL, 10) : -1;

	return number > INT32_MAX ? -1 : (int32_t)number;
}
