/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A hash of bytes (FNV-1a), for tables of texts.  Texts may be chosen so that theirs are equal. */
#ifndef CT_CLI_HASH_H
#define CT_CLI_HASH_H

#include <stddef.h>
#include <stdint.h>

#define CT_HASH_BEGIN	0xcbf29ce484222325ull	/* of no bytes */

/* @hash: of what stands before, or CT_HASH_BEGIN. */
static inline uint64_t ct_hash_add(uint64_t hash, const void *bytes, size_t size)
{
	const unsigned char *at = bytes;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ at[i]) * 0x100000001b3ull;
	return hash;
}

#endif
