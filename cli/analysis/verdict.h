/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What limits a program, in two lines.  It says no more than the accounts show. */
#ifndef CT_CLI_VERDICT_H
#define CT_CLI_VERDICT_H

#include <stdio.h>

#include "analysis/accounting.h"
#include "analysis/device_idle.h"

/**
 * ct_verdict_print() - two lines about the steady state of a process
 * @process: index into @phases
 *
 * Without iterations it is about the stage in which the work was done.  Prints nothing if the
 * process launched nothing.
 *
 * Return: 0 or -ENOMEM.
 */
int ct_verdict_print(const struct ct_phases *phases, const struct ct_accounting *acc,
		     const struct ct_idle *idle, unsigned int process, FILE *out);

/* The thread of a process whose account tells most, or NULL. */
const struct ct_thread_account *ct_verdict_thread(const struct ct_phases *phases,
						  const struct ct_accounting *acc, unsigned int process);

#endif
