// SPDX-License-Identifier: LGPL-2.1-or-later
/* In the place of all other files of this folder where SQLite's header was missing. */
#ifndef CT_HAVE_SQLITE
#include <errno.h>

#include "export/sqlite/sqlite.h"

int ct_sqlite_export(const struct ct_export *x, struct ct_error *err)
{
	(void)x;
	return ct_fail(err, ENOTSUP, "this cudatrace was built without SQLite: apt-get install "
		       "libsqlite3-dev, then make again");
}
#endif
