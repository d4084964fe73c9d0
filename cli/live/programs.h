/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What each process does and holds, as `top` shows it above the functions; and the processes of this machine
 * that use libcuda and are not recorded, or stand by.  Memory is bounded.
 */
#ifndef CT_CLI_PROGRAMS_H
#define CT_CLI_PROGRAMS_H

#include <stdio.h>

#include "base/keyed.h"
#include "spans/processes.h"
#include "trace/record.h"

/* now_...: since the last view. */
struct ct_program {
	uint64_t pid;
	uint64_t calls, now_calls, failed, ns, now_ns;
	uint64_t copied, now_copied;	/* bytes */
	uint64_t held;			/* bytes of the GPU's memory that it allocated and did not free */
	bool here;			/* it called just now, so it is a process of this machine */
	bool sizes;			/* its records say how much they copy and allocate */
};

/* What is known by an address or a handle; it is held where since > freed. */
struct ct_program_memory {
	uint64_t at, who;
	uint64_t bytes, since, freed;	/* ns: when it was allocated and freed last */
};

struct ct_program_other {
	uint32_t pid;
	char what[64];
};

struct ct_programs {
	CT_KEYED(struct ct_program) programs;
	CT_KEYED(struct ct_program_memory) memory;
	bool memory_full;
	struct ct_program_other *others;
	unsigned int others_count, others_room;
	uint64_t looked;		/* ns: for others, last */
};

/* A call of libcuda, or of what else is recorded. */
int ct_programs_call(struct ct_programs *p, uint32_t pid, bool here, bool failed, uint64_t ns);

/* Takes note of what a record says of memory and copies, in whatever order threads' records come; 0 or -ENOMEM. */
int ct_programs_record(struct ct_programs *p, const struct ct_record *r);

/* From now on the figures "now" are of the whole recording. */
void ct_programs_whole(struct ct_programs *p);

struct ct_programs_view {
	FILE *out;
	unsigned int width;
	double seconds;			/* that the figures "now" are of */
	const char *dir;		/* the trace directory; NULL: none */
	bool machine;			/* other processes of the machine, too */
	bool by_calls, by_failed;	/* else by time */
	unsigned int pid;		/* this process alone; 0: all */
};

/* Prints the table and begins the next "now".  Return: lines. */
unsigned int ct_programs_print(struct ct_programs *p, struct ct_processes *names, const struct ct_programs_view *view);

void ct_programs_free(struct ct_programs *p);

#endif
