// SPDX-License-Identifier: LGPL-2.1-or-later
/* See roles.h. */
#include "explain/diff/roles.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How alike two processes must be to be paired; the most alike ones first. */
enum { ROLES_RANK, ROLES_COMMAND, ROLES_PROGRAM, ROLES_ANY, ROLES_WAYS };

static const char *roles_command(const struct ct_analysis *a, unsigned int index)
{
	const char *command = ct_processes_command(a->processes, a->phases->processes[index].pid);

	return command ? command : "";
}

/* The same text, where any number is as good as any other? */
static bool roles_same_command(const char *x, const char *y)
{
	static const char digits[] = "0123456789";

	while (*x && *y) {
		size_t n = strspn(x, digits), m = strspn(y, digits);

		if (!n != !m || (!n && *x != *y))
			return false;
		x += n ? n : 1;
		y += m ? m : 1;
	}
	return !*x && !*y;
}

static const char *roles_file(const char *word, size_t *len)
{
	const char *slash;

	*len = strcspn(word, " ");
	slash = memrchr(word, '/', *len);
	if (slash)
		*len -= slash + 1 - word;
	return slash ? slash + 1 : word;
}

static bool roles_alike(const char *x, const char *y, int way)
{
	size_t n, m;

	if (way == ROLES_COMMAND)
		return roles_same_command(x, y);
	x = roles_file(x, &n);
	y = roles_file(y, &m);
	return way == ROLES_ANY || (n == m && !strncmp(x, y, n));
}

/* The same rank of a job?  A rank is paired with no other rank. */
static bool roles_fit(const struct ct_analysis *const a[2], unsigned int x, unsigned int y, int way)
{
	int32_t ranks[2] = {
		ct_processes_rank(a[0]->processes, a[0]->phases->processes[x].pid),
		ct_processes_rank(a[1]->processes, a[1]->phases->processes[y].pid),
	};

	if (way == ROLES_RANK)
		return ranks[0] >= 0 && ranks[0] == ranks[1] && roles_alike(roles_command(a[0], x), roles_command(a[1], y), ROLES_PROGRAM);
	return (ranks[0] < 0 || ranks[1] < 0 || ranks[0] == ranks[1]) &&
	       roles_alike(roles_command(a[0], x), roles_command(a[1], y), way);
}

static bool roles_counts(const struct ct_analysis *a, unsigned int index)
{
	return a->phases->processes[index].stages_count && index < CT_ROLES_MAX;
}

int ct_roles_find(struct ct_roles *roles, const struct ct_analysis *const a[2])
{
	unsigned int counts[2], all;
	bool *taken;

	for (unsigned int s = 0; s < 2; s++)
		counts[s] = a[s]->phases->processes_count < CT_ROLES_MAX ? a[s]->phases->processes_count : CT_ROLES_MAX;
	all = counts[0] + counts[1];
	*roles = (struct ct_roles){ .list = calloc(all + 1ul, sizeof(*roles->list)) };
	taken = calloc(counts[1] + 1ul, sizeof(*taken));
	if (!roles->list || !taken) {
		free(taken);
		return -ENOMEM;
	}
	for (unsigned int i = 0; i < counts[0]; i++)
		if (roles_counts(a[0], i))
			roles->list[roles->count++] = (struct ct_role){ { i, -1 } };
	for (int way = 0; way < ROLES_WAYS; way++)
		for (unsigned int i = 0; i < roles->count; i++)
			for (unsigned int k = 0; k < counts[1] && roles->list[i].index[1] < 0; k++)
				if (roles_counts(a[1], k) && !taken[k] &&
				    roles_fit(a, (unsigned int)roles->list[i].index[0], k, way)) {
					roles->list[i].index[1] = k;
					taken[k] = true;
				}
	for (unsigned int k = 0; k < counts[1]; k++)
		if (roles_counts(a[1], k) && !taken[k])
			roles->list[roles->count++] = (struct ct_role){ { -1, k } };
	free(taken);
	return 0;
}

const char *ct_role_name(const struct ct_roles *roles, unsigned int i, const struct ct_analysis *const a[2],
			 char *buf, unsigned int size)
{
	const struct ct_role *role = &roles->list[i];
	unsigned int side = role->index[0] < 0;
	const char *command = roles_command(a[side], role->index[side]), *program, *script;
	int32_t rank = ct_processes_rank(a[side]->processes, a[side]->phases->processes[role->index[side]].pid);
	char of[24] = "";
	size_t n, m = 0;

	if (rank >= 0)
		snprintf(of, sizeof(of), "rank %d: ", rank);
	program = roles_file(command, &n);
	script = program + n + strspn(program + n, " ");
	if (*script && *script != '-')
		script = roles_file(script, &m);
	snprintf(buf, size, "%s%.*s%s%.*s", of, n ? (int)n : 1, n ? program : "?", m ? " " : "", (int)m, m ? script : "");
	return buf;
}

void ct_roles_free(struct ct_roles *roles)
{
	free(roles->list);
	*roles = (struct ct_roles){ 0 };
}
