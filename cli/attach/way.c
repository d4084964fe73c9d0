// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * See way.h.  A process says what it likes in its paths: they are for people, and to leave that process alone; nothing of
 * another one may be decided by them.
 */
#include "attach/way.h"

#include <stdio.h>
#include <string.h>

#include "base/proc.h"
#include "capture/device.h"
#include "trace/directory.h"
#include "userlib/include/cudatrace/attach.h"

/* In the trace directory: of a thread, and of all that are recorded, while they are. */
#define OPEN_FILE	"/" CT_INFLIGHT_PREFIX
#define LOST_FILE	"/" CT_LOST_PREFIX

static bool way_is(const char *path, const char *start) { return !strncmp(path, start, strlen(start)); }

static bool way_ends(const char *path, const char *end)
{
	size_t length = strlen(path), last = strlen(end);

	return length >= last && !strcmp(path + length - last, end);
}

void ct_way_of(pid_t pid, struct ct_way *w)
{
	FILE *maps = ct_proc_maps(pid);
	struct ct_proc_mapping m;
	bool opened = false;

	*w = (struct ct_way){ .how = maps ? CT_WAY_NONE : CT_WAY_UNKNOWN };
	while (maps && ct_proc_next_mapping(maps, &m)) {
		const char *file = ct_proc_file(m.path), *open = strstr(m.path, OPEN_FILE), *in = open ? : strstr(m.path, LOST_FILE);
		enum ct_way_how how = way_is(m.path, CT_STANDBY_PREFIX) ? CT_WAY_STANDBY :
				      way_is(m.path, "/memfd:libcudatrace-") ? CT_WAY_ATTACHED :
				      way_is(file, "libcudatrace.so") ? CT_WAY_PRELOADED : CT_WAY_NONE;

		/* One that stands by has the library as a preloaded one. */
		if (w->how == CT_WAY_NONE || how == CT_WAY_STANDBY)
			w->how = how;
		w->cuda |= way_is(file, "libcuda.so");
		w->session |= way_is(m.path, CT_DEVICE_CLOCK_PAGE);
		/* (A file of another recording that has ended may still be mapped.) */
		if (in && (!*w->dir || w->deleted)) {
			w->deleted = way_ends(m.path, " (deleted)");
			snprintf(w->dir, sizeof(w->dir), "%.*s", (int)(in - m.path), m.path);
		}
		opened |= open != NULL;
	}
	/* Beside the module a directory has no more than its losses. */
	if (w->session && !opened)
		*w->dir = '\0';
	if (maps)
		fclose(maps);
}
