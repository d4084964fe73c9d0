/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the reports and explain find, as tables.  It needs passes of its own over the trace,
 * which a thread makes while the records are written.
 */
#ifndef CT_CLI_SQLITE_ANALYSIS_H
#define CT_CLI_SQLITE_ANALYSIS_H

#include <pthread.h>

#include "analysis/engine.h"
#include "export/sqlite/db.h"

struct ct_sqlite_analysis {
	struct ct_trace trace;		/* shared */
	struct ct_phases phases;
	struct ct_engine *engine;
	struct ct_table verdicts, findings;
	bool explained;
	pthread_t thread;
	bool running;
	struct ct_error err;
	int rc;
};

/* Starts the passes.  End them in any case, before @t is closed. */
void ct_sqlite_analysis_begin(struct ct_sqlite_analysis *a, const struct ct_trace *t);

/* Waits for them, and writes what they found.  0 or a negative errno. */
int ct_sqlite_analysis_write(struct ct_sqlite_analysis *a, struct ct_db *db);
void ct_sqlite_analysis_end(struct ct_sqlite_analysis *a);

#endif
