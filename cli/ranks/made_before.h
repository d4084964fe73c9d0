/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Communicators that were made before the recording began, as of a job that was attached to.
 *
 * Each rank says how many ranks its communicator has and which it is, and counts its calls from the first one that was
 * recorded: neither which ranks belong together nor which calls do.  Both are found by time: the kernels of a collective
 * run at one moment on all ranks, and end together.
 */
#ifndef CT_CLI_MADE_BEFORE_H
#define CT_CLI_MADE_BEFORE_H

#include "ranks/parts.h"

/**
 * ct_made_before_join() - communicators with .made_before become those of all their ranks
 * @c: its parts are complete and have their kernels; each such communicator has one member
 *
 * Numbers of joined parts are the same on all ranks, and .apart is set of those that came before all ranks were recorded, or that
 * nobody else's calls fit.  Without the GPU's times calls are compared, and only where there are just as many ranks as one
 * communicator has.  What could belong to several stays alone, as do ranks of hosts whose clocks are only guessed.
 *
 * Return: 0 or -ENOMEM.
 */
int ct_made_before_join(struct ct_collectives *c);

#endif
