// SPDX-License-Identifier: LGPL-2.1-or-later
/* See files.h. */
#include "pack/files.h"

#include <string.h>
#include <sys/stat.h>

#include "trace/directory.h"

bool ct_pack_is(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode);
}

bool ct_pack_takes(const char *name)
{
	return !strcmp(name, CT_METADATA_FILE) || !strcmp(name, CT_REGISTRY_FILE) || ct_is_lost_page(name) ||
	       ct_stream_kind(name) >= 0;
}
