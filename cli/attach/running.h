/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cudatrace record --pid and --all: a recording of processes that already run. */
#ifndef CT_CLI_RUNNING_H
#define CT_CLI_RUNNING_H

#include <stdbool.h>
#include <sys/types.h>

#include "capture/flight.h"
#include "capture/launch.h"
#include "capture/capture_range.h"
#include "capture/recording.h"

#define CT_RUNNING_MAX	1024	/* processes of one recording */

struct ct_running {
	const pid_t *pids;		/* asked for */
	unsigned int pids_count;
	struct ct_child *child;		/* instead: a program that launch() starts, and what it starts; NULL: none */
	int (*launch)(void *arg, struct ct_error *err);
	double delay;			/* seconds from now on, before anything is recorded */
	bool all;			/* every process with libcuda, those that come meanwhile, too */
	bool partly;			/* also where calls will be missed */
	const char *gpu, *gpu_what;	/* the plugin, and what it is to collect; NULL: none */
	const char *stacks, *stacks_what;	/* the plugin, and of whom it takes frames; NULL: none */
	bool sample;			/* threads are sampled, by the caller */
	const struct ct_capture_range *range;	/* which part of the processes' time */
	double seconds;			/* 0: until Ctrl-C or the end of all of them */
	struct ct_flight *flight;	/* record --keep */
	/* Records come from now on; and no more of them. */
	void (*begun)(void *arg);
	void (*ended)(void *arg);
	void *arg;
};

/*
 * Records them into @rec, whose directory and registry are there, and leaves them as they were.
 * @library: the preload library's file
 *
 * Return: how many were recorded; a negative errno: none was, with a line in @err.
 */
int ct_running_record(struct ct_recording *rec, const struct ct_running *r, const char *library,
		      struct ct_error *err);

/* What the registry says was recorded. */
void ct_running_command(const struct ct_running *r, char *text, size_t size);

#endif
