/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a thread does at a moment, as far as its records tell.  Everything that charges time to
 * somebody does it by these accounts.
 */
#ifndef CT_CLI_ACCOUNT_H
#define CT_CLI_ACCOUNT_H

#include "analysis/engine.h"

enum ct_account {
	CT_ACCOUNT_APP,		/* in the application, between calls */
	CT_ACCOUNT_WAIT,	/* waiting in a synchronisation, on or off the CPU */
	CT_ACCOUNT_OFF_CPU,	/* off the CPU, not in a synchronisation (only the module sees it) */
	CT_ACCOUNT_DRIVER,	/* in the kernel driver */
	CT_ACCOUNT_ABSENT,	/* before the first or after the last record of a further thread */
	CT_ACCOUNT_CALLS,	/* + CT_CAT_*: in libcuda itself, by category */
	CT_ACCOUNT_COUNT = CT_ACCOUNT_CALLS + CT_CAT_COUNT,
};

/* "application", "waiting", "off the CPU", "kernel driver", "absent", "memory" ... */
const char *ct_account_word(unsigned int account);

/**
 * ct_account_after() - what a thread does from an event of it on
 * @off: it is off the CPU; kept by the caller for each thread, false at first
 *
 * Return: an account; never CT_ACCOUNT_ABSENT.
 */
unsigned int ct_account_after(const struct ct_trace_event *e, bool *off);

/* Of an iteration; ns.  app + wait + off_cpu + driver + calls is its duration. */
struct ct_iteration_account {
	uint64_t app, wait, off_cpu, driver, calls;
	uint32_t calls_count;		/* calls of libcuda that began in it, those of getters too */
	uint32_t syncs;
};

struct ct_stage_account {
	uint64_t ns[CT_ACCOUNT_COUNT];
	uint64_t launches, copies, syncs, calls;	/* that began in the stage; copies: sets, too */
	uint64_t sets, graphs;		/* of the copies; of the launches */
	uint64_t waited;		/* of the copies: the call waits until it is done */
};

void ct_account_iteration(struct ct_iteration_account *i, unsigned int account, uint64_t ns);

#endif
