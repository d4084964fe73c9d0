// SPDX-License-Identifier: LGPL-2.1-or-later
/* See gpus.h. */
#include "export/html/gpus.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/gpu/gpu_metrics.h"
#include "export/html/curve.h"
#include "export/html/json.h"
#include "export/slices/slice_metrics.h"

#define GPUS_SHOWN	16u	/* GPUs */

struct gpus_gpu {
	uint64_t gpu;
	struct ct_html_curve *curves;	/* by metric */
};

struct gpus_state {
	CT_KEYED(struct gpus_gpu);
	struct ct_slice_metrics changes;
};

static int gpus_value(void *arg, enum ct_slice_metric which, uint32_t gpu, uint64_t ts, uint64_t value)
{
	struct gpus_state *s = arg;
	struct gpus_gpu *g = ct_keyed_get(s, gpu);

	if (!g && s->count == GPUS_SHOWN)
		return 0;
	g = g ? g : ct_keyed_put(s, gpu);
	if (g && !g->curves)
		g->curves = calloc(CT_SLICE_METRIC_COUNT, sizeof(*g->curves));
	if (!g || !g->curves)
		return -ENOMEM;
	return ct_html_curve_add(&g->curves[which], ts, value);
}

static bool gpus_wants(const struct ct_class *class)
{
	return class->id == CT_CLASS_gpu_metrics;
}

static int gpus_begin(struct ct_analysis *a)
{
	struct gpus_state *s = a->state;

	s->changes = (struct ct_slice_metrics){ .give = gpus_value, .arg = s };
	return 0;
}

static int gpus_event(struct ct_analysis *a, const struct ct_trace_event *e)
{
	struct gpus_state *s = a->state;

	return ct_slice_metrics_record(&s->changes, e->record, e->begin);
}

static void gpus_free(struct ct_analysis *a)
{
	struct gpus_state *s = a->state;

	for (size_t i = 0; i < s->count; i++) {
		for (unsigned int k = 0; s->list[i].curves && k < CT_SLICE_METRIC_COUNT; k++)
			ct_html_curve_free(&s->list[i].curves[k]);
		free(s->list[i].curves);
	}
	ct_keyed_free(s);
	ct_slice_metrics_free(&s->changes);
}

static const struct ct_analyser *const needs[] = { &ct_gpu_metrics_analyser, NULL };

const struct ct_analyser ct_html_gpus_analyser = {
	.on = CT_ON_INSTANT,
	.wants = gpus_wants,
	.samples = true,
	.unfiltered = true,
	.needs = needs,
	.state_size = sizeof(struct gpus_state),
	.begin = gpus_begin,
	.event = gpus_event,
	.free = gpus_free,
};

/* --------------------------------------------------------------- writing --- */

static int gpus_curves(const struct ct_trace *t, const struct gpus_gpu *g, unsigned int *number, struct ct_html_blobs *blobs,
		       struct ct_out *out)
{
	const char *sep = "\n{\"name\":";
	int rc = 0;

	for (unsigned int k = 0; k < CT_SLICE_METRIC_COUNT && !rc; k++) {
		/* Bits are no curve. */
		if (!g->curves[k].count || k == CT_SLICE_METRIC_LIMITED)
			continue;
		ct_html_text(out, sep, ct_slice_metric_name[k]);
		ct_html_text(out, ",\"unit\":", ct_slice_metric_unit[k]);
		ct_html_u64(out, ",\"blobs\":{\"ts\":\"gpu", *number);
		ct_html_u64(out, ".ts\",\"value\":\"gpu", *number);
		ct_out_text(out, ".value\"}}");
		rc = ct_html_curve_write(&g->curves[k], t, blobs, "gpu", (*number)++, "value");
		sep = ",\n{\"name\":";
	}
	return rc;
}

int ct_html_gpus_write(const struct ct_engine *e, struct ct_html_blobs *blobs, struct ct_out *out)
{
	const struct ct_analysis *a = ct_engine_result(e, &ct_html_gpus_analyser);
	const struct ct_gpu_metrics_state *known = ct_analysis_state(a, &ct_gpu_metrics_analyser);
	const struct gpus_state *s = a->state;
	unsigned int number = 0, shown = 0;
	int rc = 0;

	ct_out_text(out, "\"gpus\":[");
	for (size_t i = 0; i < s->count && !rc; i++) {
		const struct ct_gpu_metrics_device *d = ct_keyed_get(known, s->list[i].gpu);

		if (!d || !d->used)
			continue;
		ct_html_u64(out, shown++ ? ",\n{\"gpu\":" : "\n{\"gpu\":", d->gpu);
		ct_html_text(out, ",\"name\":", d->name);
		ct_html_u64(out, ",\"clock_max\":", d->clock_max);
		ct_html_u64(out, ",\"power_limit\":", d->power_limit);
		ct_out_text(out, ",\"metrics\":[");
		rc = gpus_curves(a->trace, &s->list[i], &number, blobs, out);
		ct_out_text(out, "]}");
	}
	ct_out_text(out, "],\n");
	return rc;
}
