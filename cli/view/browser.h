/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The user's browser. */
#ifndef CT_CLI_BROWSER_H
#define CT_CLI_BROWSER_H

#include <stdbool.h>

/*
 * Shows the file @path, an absolute path: by $BROWSER, else on a desktop by xdg-open.  Does not
 * wait until it is closed.  false: there is none, or it can't be started.
 */
bool ct_browser_open(const char *path);

#endif
