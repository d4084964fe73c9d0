/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Walking over what a thread did, also over what was not kept. */
#ifndef CT_CLI_REREAD_H
#define CT_CLI_REREAD_H

#include "phases/phase_records.h"

/* Return: 0 to go on; anything else ends the walk and is its result. */
typedef int (*ct_phase_record_fn)(void *arg, const struct ct_phase_record *h);

/**
 * ct_phase_records_walk() - what a thread did from @from until before @to (ns after the begin)
 *
 * What was not kept is read again.  Contexts, modules, allocations and first calls may be
 * missing there.
 *
 * Return: 0, -ENOMEM or what @fn returned.
 */
int ct_phase_records_walk(const struct ct_phase_records *h, const struct ct_phase_thread *thread,
		       uint64_t from, uint64_t to, ct_phase_record_fn fn, void *arg);

/* Calls @fn for each launch of process @pid, read again, in the order of the streams. */
int ct_phase_records_launches(const struct ct_phase_records *h, uint32_t pid, ct_phase_record_fn fn,
			   void *arg);

#endif
