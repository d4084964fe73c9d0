// SPDX-License-Identifier: LGPL-2.1-or-later
/* See ranks.h.  Must never trust a line of info: anybody may have written it. */
#include "trace/about/ranks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The number behind " word=" in @text; -1: there is none. */
static int32_t ranks_number(const char *text, const char *word)
{
	const char *at = strstr(text, word);
	unsigned long value;
	char *end;

	if (!at)
		return -1;
	at += strlen(word);
	value = strtoul(at, &end, 10);
	return end == at || value > INT32_MAX ? -1 : (int32_t)value;
}

/* "PID rank=3 size=8 local_rank=3 local_size=8 node=0 launcher=torchrun" */
static int ranks_line(struct ct_ranks *ranks, const char *text)
{
	const char *launcher = strstr(text, " launcher=");
	struct ct_rank *rank;
	unsigned long pid;
	char *end;

	pid = strtoul(text, &end, 10);
	if (!pid || pid > UINT32_MAX || *end != ' ' || ranks_number(text, " rank=") < 0)
		return 0;
	rank = ct_keyed_put(&ranks->list, pid);
	if (!rank)
		return -ENOMEM;
	*rank = (struct ct_rank){
		.pid = pid, .rank = ranks_number(text, " rank="), .size = ranks_number(text, " size="),
		.local_rank = ranks_number(text, " local_rank="),
		.local_size = ranks_number(text, " local_size="), .node = ranks_number(text, " node="),
		.launcher = launcher ? launcher + strlen(" launcher=") : "",
	};
	return 0;
}

int ct_ranks_read(struct ct_ranks *ranks, const struct ct_registry *reg)
{
	int rc = 0;

	*ranks = (struct ct_ranks){ 0 };
	for (unsigned int i = 0; i < reg->infos_count && !rc; i++)
		if (!strcmp(reg->infos[i].key, "rank"))
			rc = ranks_line(ranks, reg->infos[i].text);
	return rc;
}

void ct_ranks_free(struct ct_ranks *ranks)
{
	ct_keyed_free(&ranks->list);
}
