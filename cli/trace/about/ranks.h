/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which process is which rank of a job, by the lines of info that the library wrote from the
 * environment that the launcher gave it.
 */
#ifndef CT_CLI_ABOUT_RANKS_H
#define CT_CLI_ABOUT_RANKS_H

#include "base/keyed.h"
#include "trace/registry.h"

struct ct_rank {
	uint64_t pid;
	int32_t rank;			/* each number -1: not known */
	int32_t size, local_rank, local_size, node;
	const char *launcher;		/* "torchrun"; "": not known.  Valid as long as the registry. */
};

struct ct_ranks {
	CT_KEYED(struct ct_rank) list;
};

/* 0 or -ENOMEM.  Free also after an error. */
int ct_ranks_read(struct ct_ranks *ranks, const struct ct_registry *reg);

/* NULL: the process is no rank, as far as its launcher said. */
static inline const struct ct_rank *ct_ranks_of(const struct ct_ranks *ranks, uint32_t pid)
{
	return ct_keyed_get(&ranks->list, pid);
}

void ct_ranks_free(struct ct_ranks *ranks);

#endif
