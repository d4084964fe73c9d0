/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names of a trace's processes, from the points until now.  A process of a job has the number of its
 * rank, by its launcher's environment, else by the largest communicator that it is in.
 */
#ifndef CT_CLI_PROCESSES_H
#define CT_CLI_PROCESSES_H

#include "base/keyed.h"
#include "trace/about/ranks.h"
#include "trace/merge.h"

/* A process that became another program (exec) had another name before. */
struct ct_process_former {
	uint64_t until;		/* ns */
	char *name;
};

struct ct_process_name {
	uint64_t pid;
	char *name;
	struct ct_process_former *former;	/* in the order of time */
	uint32_t former_count, former_capacity;
	char *command;		/* with its arguments */
};

/* What a process said to libcuda and libnccl. */
struct ct_process_place {
	uint64_t pid;
	int32_t gpu;		/* of its first context; -1: not known */
	int32_t rank;		/* in its largest communicator; -1: it has none */
	int32_t last;		/* it is several ranks, up to that one; else the same */
	uint32_t ranks;		/* of that communicator */
	uint64_t communicator;
};

struct ct_processes {
	CT_KEYED(struct ct_process_name) names;
	CT_KEYED(struct ct_process_place) places;
	struct ct_ranks ranks;
};

/* Who is which rank, as the trace's registry says.  0 or -ENOMEM. */
int ct_processes_ranks(struct ct_processes *p, const struct ct_registry *reg);

/* Its rank in the job, or -1, also where it is several. */
int32_t ct_processes_rank(const struct ct_processes *p, uint32_t pid);

/* The number of its GPU in the process; -1: not known. */
int32_t ct_processes_gpu(const struct ct_processes *p, uint32_t pid);

/* Does a record of the class say something of its process? */
static inline bool ct_processes_wants(const struct ct_class *class)
{
	return class->id == CT_CLASS_process || ct_class_is(class, CT_IS_COMMUNICATOR | CT_IS_CONTEXT);
}

/* Takes note of a record; 0 or -ENOMEM. */
int ct_processes_record(struct ct_processes *p, const struct ct_record *r);

static inline int ct_processes_point(struct ct_processes *p, const struct ct_point *point)
{
	return ct_processes_record(p, &point->record);
}

/* The same of what a summary says of a process; numbers of -1 are not known. */
int ct_processes_tell(struct ct_processes *p, uint32_t pid, const char *name, int32_t rank, int32_t gpu);

/* "python3 (412)", of a rank "rank 3 (python3 412, GPU 3)", of several "ranks 0-7 (python3 412)", cut to @size; bytes that a terminal would obey are made '?'. */
const char *ct_processes_name(const struct ct_processes *p, uint32_t pid, char *buf,
			      unsigned int size);

/* The same with the name that it had at @ts, ns. */
const char *ct_processes_name_at(const struct ct_processes *p, uint32_t pid, uint64_t ts, char *buf, unsigned int size);

/* The name alone, as the trace has it; NULL: not known. */
const char *ct_processes_word(const struct ct_processes *p, uint32_t pid);
/* Its command line, as the trace has it; NULL: not known. */
const char *ct_processes_command(const struct ct_processes *p, uint32_t pid);
void ct_processes_free(struct ct_processes *p);

#endif
