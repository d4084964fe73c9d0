// SPDX-License-Identifier: LGPL-2.1-or-later
/* See files.h. */
#include "pack/files.h"

#include <sys/stat.h>

bool ct_pack_is(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode);
}
