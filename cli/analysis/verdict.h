/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What limits a process, in a sentence for its steady state and one for its startup. */
#ifndef CT_CLI_VERDICT_H
#define CT_CLI_VERDICT_H

#include "analysis/threads/accounting.h"
#include "analysis/device_idle.h"
#include "analysis/gpu/busy.h"

enum ct_limit {
	CT_LIMIT_UNKNOWN, CT_LIMIT_HOST, CT_LIMIT_GPU, CT_LIMIT_SYNC, CT_LIMIT_TRANSFERS,
	CT_LIMIT_MODULES, CT_LIMIT_MEMORY, CT_LIMIT_DRIVER, CT_LIMIT_OFF_CPU, CT_LIMIT_RANKS, CT_LIMIT_PAUSES, CT_LIMIT_MIXED,
};

const char *ct_limit_word(enum ct_limit limit);

/* What it is judged by. */
struct ct_verdict {
	const struct ct_process_phases *process;
	const struct ct_process_account *account;
	const struct ct_idle_process *idle;
	bool measured;				/* the idle time, by records of the GPU */
	const struct ct_gpu_busy_process *busy;	/* by the same records; NULL: there are none */
	uint64_t queued;			/* ns in which it was idle with work queued: ct_gpu_idle_queued() */
	double elsewhere;			/* share of the application's time: ct_hot_elsewhere(); 0: not known */
	enum ct_sample_state waits_for;		/* most of it */
	char holders[300];			/* of Python's lock, if it is that: ct_holders_text() */
	uint64_t polled, polling;		/* ns: see struct ct_polls_thread: .app, .calls of the one launching thread */
	uint64_t waits;				/* ... .waits of it */
	bool rank;				/* it is one of several ranks: it waits for no requests */
	bool partly;				/* some calls only were recorded (record --functions, --types) */
	bool simulated;				/* the GPU */
};

/*
 * Of a process, by its index.  The pass had ct_accounting_analyser, ct_idle_analyser, ct_gpu_busy_analyser,
 * ct_gpu_coverage_analyser, ct_gpu_idle_analyser and ct_stack_scopes_analyser.
 */
void ct_verdict_of(struct ct_verdict *v, const struct ct_analysis *a, unsigned int process);

/* Writes the sentence on the steady state (or the execution) to @buf. */
enum ct_limit ct_verdict_steady(const struct ct_verdict *v, char *buf, size_t size);

/* Writes the sentence on the startup, and on a long teardown, to @buf; "" where the process has neither. */
void ct_verdict_startup(const struct ct_process_phases *p, char *buf, size_t size);

#endif
