/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How large the module's rings are: each possible CPU has one.
 */
#ifndef CT_CLI_RING_H
#define CT_CLI_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "module/uapi/cudatrace.h"

/*
 * Bytes that this process may still use: what the machine has available, or what its
 * cgroup's limits leave of that.  0: not known.  @root: "" (a folder with proc and sys in it, for
 * tests).
 */
uint64_t ct_ring_memory(const char *root);

/* Possible CPUs: those that may come later have a ring, too. */
unsigned int ct_ring_cpus(const char *root);

/* Bytes of each ring, a power of two: what is chosen, and the largest that is sensible. */
uint64_t ct_ring_default(uint64_t memory, unsigned int cpus);
uint64_t ct_ring_largest(uint64_t memory, unsigned int cpus);

/**
 * ct_ring_start() - CT_IOC_START, with rings that fit this machine
 * @s: subbuf_size and subbuf_count may be 0: they are chosen
 * @smaller: where there is no memory for the rings, take those that are chosen, or half of them,
 *	and so on
 *
 * @s says in the end what the session has, and *@wanted how many bytes a ring should have had.
 *
 * Return: 0 or a negative errno.
 */
int ct_ring_start(int fd, struct ct_session *s, bool smaller, uint64_t *wanted);

static inline uint64_t ct_ring_bytes(const struct ct_session *s)
{
	return (uint64_t)s->subbuf_size * s->subbuf_count;
}

#endif
