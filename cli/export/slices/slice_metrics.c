// SPDX-License-Identifier: LGPL-2.1-or-later
/* See slice_metrics.h. */
#include "export/slices/slice_metrics.h"

#include <errno.h>
#include <string.h>

#define METRIC_NAME(id, name, unit, field, factor)	[CT_SLICE_METRIC_##id] = name,
const char *const ct_slice_metric_name[CT_SLICE_METRIC_COUNT] = { CT_SLICE_METRICS(METRIC_NAME) };

#define METRIC_UNIT(id, name, unit, field, factor)	[CT_SLICE_METRIC_##id] = unit,
const char *const ct_slice_metric_unit[CT_SLICE_METRIC_COUNT] = { CT_SLICE_METRICS(METRIC_UNIT) };

static int metrics_give(struct ct_slice_metrics *m, enum ct_slice_metric which, uint32_t gpu, uint64_t ts, uint64_t value)
{
	uint64_t key = (uint64_t)gpu << 8 | which;
	struct ct_slice_metric_last *last = ct_keyed_get(&m->last, key);

	if (last && last->value == value)
		return 0;
	last = last ? last : ct_keyed_put(&m->last, key);
	if (!last)
		return -ENOMEM;
	last->value = value;
	return m->give(m->arg, which, gpu, ts, value);
}

int ct_slice_metrics_record(struct ct_slice_metrics *m, const struct ct_record *r, uint64_t ts)
{
	uint32_t gpu = ct_record_known(r, CT_KNOWN_GPU);
	struct ct_gpu_metrics now;
	int rc = 0;

	if (!m->give || !r->fields || r->class->size < sizeof(now))
		return 0;
	memcpy(&now, r->fields, sizeof(now));
	/* All bits set: not known. */
#define METRIC_GIVE(id, name, unit, field, factor)			\
	if (!rc && now.field != (__typeof__(now.field))~0ull)		\
		rc = metrics_give(m, CT_SLICE_METRIC_##id, gpu, ts, (uint64_t)now.field * factor);
	CT_SLICE_METRICS(METRIC_GIVE)
#undef METRIC_GIVE
	return rc;
}

void ct_slice_metrics_free(struct ct_slice_metrics *m)
{
	ct_keyed_free(&m->last);
}
