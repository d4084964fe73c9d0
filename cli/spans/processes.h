/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of a trace's processes, from the points until now. */
#ifndef CT_CLI_PROCESSES_H
#define CT_CLI_PROCESSES_H

#include "base/keyed.h"
#include "trace/merge.h"

struct ct_process_name {
	uint64_t pid;
	char *name;
	char *command;		/* with its arguments */
};

struct ct_processes {
	CT_KEYED(struct ct_process_name) names;
};

/* Takes note of a record; 0 or -ENOMEM. */
int ct_processes_record(struct ct_processes *p, const struct ct_record *r);

static inline int ct_processes_point(struct ct_processes *p, const struct ct_point *point)
{
	return ct_processes_record(p, &point->record);
}

/* "python3 (412)", cut to @size; bytes that a terminal would obey are made '?'. */
const char *ct_processes_name(const struct ct_processes *p, uint32_t pid, char *buf,
			      unsigned int size);

/* The name alone, as the trace has it; NULL: not known. */
const char *ct_processes_word(const struct ct_processes *p, uint32_t pid);
/* Its command line, as the trace has it; NULL: not known. */
const char *ct_processes_command(const struct ct_processes *p, uint32_t pid);
void ct_processes_free(struct ct_processes *p);

#endif
