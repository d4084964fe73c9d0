// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * See open_trace.h.  Must never fail because a trace can't be finished: it is then read
 * as it stands.
 */
#include "cmd/open_trace.h"

#include <stdio.h>

#include "capture/finish.h"

/* Says which packets are missing because they are damaged, a line for each stream. */
static void open_tell_bad(const struct ct_trace *t)
{
	for (unsigned int i = 0; i < t->streams_count; i++) {
		const struct ct_stream_file *s = &t->streams[i];

		if (s->packets_bad)
			ct_complain("%s/%s: offset %llu: %s: left out %llu damaged packet%s of this stream",
				    t->dir, s->name, (unsigned long long)s->bad_offset, s->bad_why,
				    (unsigned long long)s->packets_bad,
				    s->packets_bad == 1 ? "" : "s");
	}
}

int ct_open_trace(struct ct_trace *t, const char *dir)
{
	struct ct_error err;
	int rc;

	*t = (struct ct_trace){ 0 };
	rc = ct_finish(dir, false, &err);
	if (rc < 0 && ct_trace_open(t, dir, NULL)) {
		ct_trace_close(t);
		return ct_complain("%s", err.text);
	}
	if (rc < 0)
		ct_complain("%s; the records that can be read are shown", err.text);
	if (rc == 1)
		ct_complain("%s: still being recorded; the records until now are shown", dir);
	if (rc >= 0 && ct_trace_open(t, dir, &err))
		return ct_complain("%s", err.text);
	open_tell_bad(t);
	if (t->lost)
		fprintf(stderr, "cudatrace: %llu record%s lost while this was recorded\n",
			(unsigned long long)t->lost, t->lost == 1 ? " was" : "s were");
	return 0;
}
