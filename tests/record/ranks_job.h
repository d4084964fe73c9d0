/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the programs of jobs share: ranks.c, ranks_shapes.c, ranks_one.c. */
#ifndef RECORD_RANKS_JOB_H
#define RECORD_RANKS_JOB_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../sim/cuda_sim.h"
#include "../sim/nccl.h"

#define OK(call)	ok((int)(call), __FILE__, __LINE__)

static inline void ok(int result, const char *file, int line)
{
	if (!result)
		return;
	fprintf(stderr, "%s:%d: %d\n", file, line, result);
	exit(1);
}

/* A number of the environment; 0: it is not there. */
static inline int number(const char *name)
{
	const char *value = getenv(name);

	return value ? atoi(value) : 0;
}

/* That of a communicator: whoever @makes it leaves it in @path, the others wait for it there. */
static inline ncclUniqueId unique_id(const char *path, bool makes)
{
	char temporary[4200];
	ncclUniqueId id;
	FILE *f;

	if (makes) {
		OK(ncclGetUniqueId(&id));
		snprintf(temporary, sizeof(temporary), "%s.new", path);
		f = fopen(temporary, "w");
		if (!f || fwrite(&id, sizeof(id), 1, f) != 1 || fclose(f) || rename(temporary, path))
			exit(2);
		return id;
	}
	while (!(f = fopen(path, "r")))
		usleep(1000);
	if (fread(&id, sizeof(id), 1, f) != 1)
		exit(2);
	fclose(f);
	return id;
}

/* The rank is about to make its last call, to wait for ever, or to end before the others do: FILE.RANK. */
static inline void tell(const char *path, int rank)
{
	char name[4200];
	FILE *f;

	snprintf(name, sizeof(name), "%s.%d", path, rank);
	f = fopen(name, "w");
	if (f)
		fclose(f);
}

#endif
