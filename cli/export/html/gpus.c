// SPDX-License-Identifier: LGPL-2.1-or-later
/* See gpus.h.  Must never keep something for each record: points are thinned out. */
#include "export/html/gpus.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/gpu/metrics.h"
#include "base/grow.h"
#include "export/html/json.h"
#include "export/html/source.h"
#include "export/slices/metrics.h"

#define GPUS_SHOWN	16u	/* GPUs */
#define GPUS_POINTS	8192u	/* of one figure of a GPU */

struct gpus_point {
	uint64_t ts, value;
};

struct gpus_curve {
	struct gpus_point *points;
	unsigned int count, capacity;
};

struct gpus_gpu {
	uint64_t gpu;
	struct gpus_curve *curves;	/* by metric */
};

struct gpus_state {
	CT_KEYED(struct gpus_gpu);
	struct ct_slice_metrics changes;
};

/* Half as many: of two stays the one with the higher value. */
static void gpus_thin(struct gpus_curve *c)
{
	for (unsigned int i = 0; i + 1 < c->count; i += 2)
		c->points[i / 2] = c->points[i + (c->points[i + 1].value > c->points[i].value)];
	c->count /= 2;
}

static int gpus_value(void *arg, enum ct_slice_metric which, uint32_t gpu, uint64_t ts, uint64_t value)
{
	struct gpus_state *s = arg;
	struct gpus_gpu *g = ct_keyed_get(s, gpu);
	struct gpus_curve *c;

	if (!g && s->count == GPUS_SHOWN)
		return 0;
	g = g ? g : ct_keyed_put(s, gpu);
	if (g && !g->curves)
		g->curves = calloc(CT_SLICE_METRIC_COUNT, sizeof(*g->curves));
	if (!g || !g->curves)
		return -ENOMEM;
	c = &g->curves[which];
	if (c->count == GPUS_POINTS)
		gpus_thin(c);
	if (!ct_room(c->points, c->count, c->capacity))
		return -ENOMEM;
	c->points[c->count++] = (struct gpus_point){ ts, value };
	return 0;
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
			free(s->list[i].curves[k].points);
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

static int gpus_columns(const struct ct_trace *t, const struct gpus_curve *c, unsigned int number, struct ct_html_blobs *blobs)
{
	uint64_t *values = calloc(c->count + 1, sizeof(*values));

	if (!values)
		return -ENOMEM;
	for (unsigned int i = 0; i < c->count; i++)
		values[i] = ct_html_moment(t, c->points[i].ts);
	ct_html_column(blobs, CT_HTML_DELTA, values, c->count, "gpu%u.ts", number);
	for (unsigned int i = 0; i < c->count; i++)
		values[i] = c->points[i].value < CT_HTML_MOST ? c->points[i].value : CT_HTML_MOST;
	ct_html_column(blobs, CT_HTML_DELTA, values, c->count, "gpu%u.value", number);
	free(values);
	return 0;
}

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
		rc = gpus_columns(t, &g->curves[k], (*number)++, blobs);
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
