/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Memory of the own process that may not be there.  Until an interpreter was checked its words
 * are read by process_vm_readv(), which says so instead of faulting.
 */
#ifndef CT_STACKS_MEMORY_H
#define CT_STACKS_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Where user space may have something: an object that begins there. */
static inline bool memory_may_be(uint64_t at)
{
	return at - 4096 < (1ull << 47) - (1u << 20);
}

/* Copies what is there, by a system call; false: it can't be read. */
bool memory_copy(uint64_t at, void *to, size_t size);

/* Where it is not safe, the caller has seen that there may be something. */
static inline __attribute__((always_inline)) bool memory_read(bool safe, uint64_t at, void *to, size_t size)
{
	if (safe)
		return memory_copy(at, to, size);
	memcpy(to, (const void *)at, size);
	return true;
}

static inline __attribute__((always_inline)) bool memory_word(bool safe, uint64_t at, uint64_t *to)
{
	return memory_read(safe, at, to, 8);
}

#endif
