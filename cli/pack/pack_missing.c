// SPDX-License-Identifier: LGPL-2.1-or-later
/* In place of pack.c and unpack.c where the command was built without zstd. */
#ifndef CT_HAVE_ZSTD
#include "pack/pack.h"

#include <errno.h>

#define WHY	"this cudatrace was built without zstd, which packs need: install libzstd-dev, then make clean and make"

int ct_pack(const char *dir, const char *file, bool force, struct ct_packed *packed, struct ct_error *err)
{
	(void)dir;
	(void)file;
	(void)force;
	(void)packed;
	return ct_fail(err, ENOTSUP, WHY);
}

int ct_pack_unpack(const char *file, char dir[PATH_MAX], struct ct_error *err)
{
	(void)file;
	(void)dir;
	return ct_fail(err, ENOTSUP, WHY);
}
#endif
