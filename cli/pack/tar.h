/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The heads of a tar archive (ustar), as far as a packed trace has them: plain files in one folder. */
#ifndef CT_CLI_TAR_H
#define CT_CLI_TAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CT_TAR_BLOCK	512u

/* Makes the head of file @folder/@name of @size bytes.  False: the names are too long. */
bool ct_tar_head(uint8_t head[CT_TAR_BLOCK], const char *folder, const char *name, uint64_t size, uint64_t seconds);

/*
 * Reads a head: the file's @name without its folder, and its size.
 *
 * Return: 1; 0: the archive ends here; -1: it is no head, or one of something else than a plain file in one folder.
 */
int ct_tar_read(const uint8_t head[CT_TAR_BLOCK], char name[101], uint64_t *size);

/* How many bytes follow a file of this size up to the next head. */
static inline uint64_t ct_tar_padding(uint64_t size)
{
	return -size & (CT_TAR_BLOCK - 1);
}

#endif
