// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * How a command opens the trace that it was given.  Must never fail because a
 * trace can't be finished: it reads as it stands.
 */
#include "cmd/cmd.h"

#include <stdio.h>

#include "capture/finish.h"

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
		ct_complain("%s; what is there is shown", err.text);
	if (rc == 1)
		ct_complain("%s: still being recorded; what is there by now is shown", dir);
	if (rc >= 0 && ct_trace_open(t, dir, &err))
		return ct_complain("%s", err.text);
	if (t->lost)
		fprintf(stderr, "cudatrace: %llu records were lost while this was recorded\n",
			(unsigned long long)t->lost);
	return 0;
}
