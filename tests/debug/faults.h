/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the sources of faults share: see faults.c. */
#ifndef CT_FAULTS_H
#define CT_FAULTS_H

#include "../guest/session.h"

/*
 * Lets each allocation and each copy of op fail once, one after the other.  op returns 0 or an
 * errno; undo undoes a success.
 */
void faults_each(const char *name, int (*op)(void), void (*undo)(void));

/* Unmaps all mappings with this name, also those whose address is unknown. */
void faults_unmap(const char *name);

/* Without a session that runs.  The files: one that starts sessions, one for writing. */
void faults_threadbufs(int owner, int producer);
void faults_counter(int owner);

#endif
