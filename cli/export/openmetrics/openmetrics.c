// SPDX-License-Identifier: LGPL-2.1-or-later
/* See openmetrics.h. */
#include "export/openmetrics/openmetrics.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "export/openmetrics/metric_families.h"
#include "trace/merge.h"

int ct_openmetrics_export(const struct ct_export *x, struct ct_error *err)
{
	struct ct_merge *m = ct_merge_new(x->trace);
	struct ct_metrics c = { 0 };
	struct ct_point point;
	int rc = m ? 0 : -ENOMEM, fd;
	FILE *out;

	(void)err;
	while (!rc && (rc = ct_merge_next(m, &point)) > 0)
		rc = point.phase == 'B' ? 0 : ct_metrics_record(&c, &point.record);
	if (!rc)
		rc = ct_metrics_lost(&c, x->trace->lost);
	fd = rc ? -1 : dup(x->fd);
	out = fd < 0 ? NULL : fdopen(fd, "w");
	if (!rc && !out)
		rc = -errno;
	if (out) {
		ct_metrics_print(&c, out, false);
		if (fclose(out))
			rc = -errno;
	} else if (fd >= 0) {
		close(fd);
	}
	ct_metrics_free(&c);
	if (m)
		ct_merge_free(m);
	return rc;
}
