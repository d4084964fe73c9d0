/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is a packed trace. */
#ifndef CT_CLI_PACK_FILES_H
#define CT_CLI_PACK_FILES_H

#include <stdbool.h>

/* Is it a file, and not a directory?  Then it may be a pack. */
bool ct_pack_is(const char *path);

/* Does the file at @path begin as a pack does (a frame of zstd)?  False for a directory. */
bool ct_pack_begins(const char *path);

#endif
