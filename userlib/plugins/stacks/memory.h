/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Memory of the own process that may not be there.  Until an interpreter was checked its words
 * are read by process_vm_readv(), which says so instead of faulting.
 */
#ifndef CT_STACKS_MEMORY_H
#define CT_STACKS_MEMORY_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/sys.h"

/* Where user space may have something. */
static inline bool memory_may_be(uint64_t at)
{
	return at >= 4096 && at < 1ull << 47;
}

/* Copies what is there; false: it can't be read. */
static inline bool memory_read(bool safe, uint64_t at, void *to, size_t size)
{
	struct iovec here = { to, size }, there = { (void *)at, size };

	if (!memory_may_be(at))
		return false;
	if (!safe) {
		memcpy(to, (const void *)at, size);
		return true;
	}
	return ct_sys6(SYS_process_vm_readv, ct_sys0(SYS_getpid), &here, 1, &there, 1, 0) == (long)size;
}

static inline bool memory_word(bool safe, uint64_t at, uint64_t *to)
{
	return memory_read(safe, at, to, 8);
}

#endif
