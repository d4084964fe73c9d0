/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What each process does and holds, as `top` shows it above the functions; and the processes of this machine
 * that use libcuda and are not recorded, or stand by.  Memory is bounded.
 */
#ifndef CT_CLI_PROGRAMS_H
#define CT_CLI_PROGRAMS_H

#include <stdio.h>

#include "base/keyed.h"
#include "live/elsewhere.h"
#include "live/live.h"
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
	bool partly;			/* records of it were left out: what it holds is not known */
	bool elsewhere;			/* its directory is followed; it began at this tick */
	uint64_t started;
};

/* What is known by an address or a handle; it is held where since > freed. */
struct ct_program_memory {
	uint64_t at, who;
	uint64_t bytes, since, freed;	/* ns: when it was allocated and freed last */
};

/* A process of this machine that uses libcuda, or stands by. */
struct ct_program_other {
	uint32_t pid;
	char name[16];			/* as the kernel cuts it */
	uint64_t started;		/* ticks since boot */
	const char *what;		/* in words, where it is not recorded into a directory */
	const char *why;		/* its directory can't be followed; NULL: it is */
	bool attached, session;		/* session: it is in the module's, if one runs */
	char *dir;			/* NULL: none */
};

struct ct_programs {
	CT_KEYED(struct ct_program) programs;
	CT_KEYED(struct ct_program_memory) memory;
	bool memory_full;
	struct ct_program_other *others;
	unsigned int others_count, others_room;
	bool follows;			/* directories of other recordings */
	bool hidden;			/* there are processes of others that may not be looked at */
	uint64_t looked;		/* ns: for others, last */
	struct ct_nvml_used *used;	/* NULL: there was no program yet, or NVML can't be asked */
	bool used_known;		/* in this view */
};

/* Where a call comes from, and what it counts for. */
struct ct_programs_from {
	bool here;			/* a process of this machine, just now */
	bool gpu;			/* the GPU did it: it is no call */
	bool session;			/* the module's session, which began before */
	bool elsewhere;			/* it was recorded into a directory that the machine's view follows */
	bool now;			/* it ended since the last view */
};

/* A call of libcuda, or of what else is recorded. */
int ct_programs_call(struct ct_programs *p, const struct ct_live_call *call, struct ct_programs_from from);

/* Takes note of what a record says of memory and copies, in whatever order threads' records come; 0 or -ENOMEM. */
int ct_programs_record(struct ct_programs *p, const struct ct_record *r, struct ct_programs_from from);

/* Records of this process, 0: of all, were left out. */
void ct_programs_left_out(struct ct_programs *p, uint32_t pid);

/*
 * Looks once a second which processes of the machine use libcuda and are not recorded into @dir (NULL: none).  With
 * @follow directories of other recordings are followed: processes that are recorded there have figures, too, and
 * those that are not any more, or have ended, are forgotten.  True: it has looked.
 */
bool ct_programs_look(struct ct_programs *p, const char *dir, struct ct_elsewhere *follow);

/* From now on the figures "now" are of the whole recording. */
void ct_programs_whole(struct ct_programs *p);

struct ct_programs_view {
	FILE *out;
	unsigned int width;
	double seconds;			/* that the figures "now" are of */
	const char *dir;		/* the trace directory; NULL: none */
	bool machine;			/* other processes of the machine, too */
	bool session;			/* what is recorded is the module's session */
	bool by_calls, by_failed, by_bytes; /* else by time */
	unsigned int pid;		/* this process alone; 0: all */
	unsigned int rows;		/* of all processes; 0: some that are recorded, and some others */
};

/* Prints the table, of the last look, and begins the next "now".  Return: lines. */
unsigned int ct_programs_print(struct ct_programs *p, struct ct_processes *names, const struct ct_programs_view *view);

void ct_programs_free(struct ct_programs *p);

#endif
