/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A trace as one file: a tar archive with the directory's files, compressed by zstd.  Commands that are given
 * such a file unpack it into a temporary directory, which goes when they end.
 */
#ifndef CT_CLI_PACK_H
#define CT_CLI_PACK_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct ct_packed {
	uint64_t from, to;	/* bytes of the trace's files, and of the pack */
};

/**
 * ct_pack() - packs the finished trace in @dir into @file
 * @force: replace the file if it is there
 *
 * The file has its name once it is whole.  Return: 0 or a negative errno with a line in @err.
 */
int ct_pack(const char *dir, const char *file, bool force, struct ct_packed *packed, struct ct_error *err);

/**
 * ct_pack_unpack() - unpacks a pack into a directory that is removed when this command ends
 * @dir: where it is
 *
 * Never more than the file system has free.  Return: 0 or a negative errno with a line in @err; nothing is left then.
 */
int ct_pack_unpack(const char *file, char dir[PATH_MAX], struct ct_error *err);

#endif
