// SPDX-License-Identifier: LGPL-2.1-or-later
/* See rank.h. */
#include "base/rank.h"

#include <stdlib.h>
#include <string.h>

#include "base/proc.h"
#include "userlib/hook/launchers.h"

_Static_assert(CT_RANK_TEXT == CT_RANK_LINE_MAX, "the library's line");

bool ct_rank_read(pid_t pid, char text[CT_RANK_TEXT])
{
	size_t size;
	char *env = ct_proc_environment(pid, CT_ENVIRONMENT_MAX - 1, &size);
	bool is = size && ct_rank_line(text, (uint32_t)pid, env, size + 1);

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
