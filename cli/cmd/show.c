// SPDX-License-Identifier: LGPL-2.1-or-later
/* See show.h.  A report of the same trace takes the place of the last one in the cache. */
#include "cmd/show.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "export/output.h"
#include "view/browser.h"
#include "view/progress.h"

int ct_show_file(const char *path)
{
	char *real = realpath(path, NULL);

	if (!real)
		return ct_complain("%s: %s", path, strerror(errno));
	if (!ct_browser_open(real))
		printf("There is no browser here ($BROWSER, or a desktop's): open %s in one.\n", real);
	free(real);
	return 0;
}

/* $XDG_CACHE_HOME/cudatrace or ~/.cache/cudatrace, which is made; 0 or a negative errno. */
static int show_cache(char path[PATH_MAX])
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	int len;

	if (cache && *cache == '/')
		len = snprintf(path, PATH_MAX, "%s", cache);
	else if (home && *home == '/')
		len = snprintf(path, PATH_MAX, "%s/.cache", home);
	else
		return -ENOENT;
	if (len >= PATH_MAX - 16)
		return -ENAMETOOLONG;
	if (mkdir(path, 0700) && errno != EEXIST)
		return -errno;
	strcat(path, "/cudatrace");
	/* A trace has names and arguments that are nobody else's business. */
	return mkdir(path, 0700) && errno != EEXIST ? -errno : 0;
}

int ct_show_trace(struct ct_trace *t)
{
	const struct ct_exporter *html = ct_exporter_find("html");
	char dir[PATH_MAX], path[PATH_MAX + 64];
	struct ct_error err = { 0 };
	unsigned int at;
	int rc;

	if (!html)
		return ct_complain("this cudatrace has no format html, which a browser would show");
	rc = show_cache(dir);
	if (rc)
		return ct_complain("no place for a report in ~/.cache (%s): export it with -o FILE, and --open",
				   strerror(-rc));
	at = snprintf(path, sizeof(path), "%s/", dir);
	for (unsigned int i = 0; i < 16; i++)
		at += snprintf(path + at, sizeof(path) - at, "%02x", t->reg.uuid[i]);
	snprintf(path + at, sizeof(path) - at, ".html");
	ct_progress_begin(t);
	rc = ct_export_write(html, t, path, true, 0, &err);
	ct_progress_end(t);
	return rc ? ct_complain("%s", err.text) : ct_show_file(path);
}
