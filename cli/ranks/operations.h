/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Operations of ranks: what the parts of all ranks make together, who came last, how long each waited for it, and which rank
 * each process is.  Reads no record: parts are found by collectives.h, joined by made_before.h, or read from a summary.
 */
#ifndef CT_CLI_OPERATIONS_H
#define CT_CLI_OPERATIONS_H

#include "ranks/parts.h"

/**
 * ct_operations_make() - operations of parts that are there
 * @c: its parts and communicators are complete; their order may change
 *
 * May be called again, when times of parts have changed.  Return: 0 or -ENOMEM.
 */
int ct_operations_make(struct ct_collectives *c);

/* ns: when the waiting ends of the kernel that this call launched; 0: it is of no part, or @c is NULL. */
uint64_t ct_operations_until(const struct ct_collectives *c, uint64_t launch);

/* The process that is a rank of a communicator; 0: it was not recorded. */
uint32_t ct_collectives_member(const struct ct_collectives *c, uint32_t communicator, uint32_t rank);

/* Did this rank of its communicator call it? */
bool ct_operation_called(const struct ct_collectives *c, const struct ct_operation *o, uint32_t rank);

/* Bytes of the whole operation, as nccl-tests count them. */
uint64_t ct_operation_size(const struct ct_collectives *c, const struct ct_operation *o);

/*
 * Bytes that each link must carry for a byte of the operation, as nccl-tests define bus bandwidth:
 * 2 (n - 1) / n for an all-reduce of n ranks.
 */
double ct_operation_bus(const struct ct_collectives *c, const struct ct_operation *o);

#endif
