// SPDX-License-Identifier: LGPL-2.1-or-later
/* A rule on clocks of a GPU that something holds down while it works. */
#include "analysis/gpu/gpu_metrics.h"
#include "explain/rules/rule_common.h"
#include "view/term.h"

#define LOOKS_LEAST	5	/* of a GPU that works: fewer say nothing of a time */
#define CLOCK_NEAR	0.97	/* of the highest one: as good as it */

static const char *clocks_advice(enum ct_clock_limit limit)
{
	switch (limit) {
	case CT_CLOCK_LIMIT_POWER:
		return "Nothing in the program is wrong: a GPU that works hard may reach its power limit. See whether the limit is "
		       "lower than the GPU's own (nvidia-smi -q -d POWER), and whether another process works on it.";
	case CT_CLOCK_LIMIT_HEAT:
		return "Look at the cooling of this GPU: kernels take longer for as long as it is too hot (nvidia-smi -q -d TEMPERATURE).";
	case CT_CLOCK_LIMIT_HARDWARE:
		return "The board asks for lower clocks: power supply, cooling or a fault (nvidia-smi -q -d PERFORMANCE, dmesg).";
	case CT_CLOCK_LIMIT_SYNC:
		return "The GPUs of a group run at the clocks of the slowest one: look for that one (cudatrace report gpu_metrics).";
	default:
		return "Somebody has set lower clocks (nvidia-smi -q -d CLOCK shows them; nvidia-smi -rgc and -rac take them back).";
	}
}

/* The GPU of the process whose clocks are held down for the largest part of its looks. */
static const struct ct_gpu_metrics_device *clocks_worst(const struct ct_explain *x, enum ct_clock_limit *limit, double *share)
{
	const struct ct_gpu_metrics_state *s = ct_explain_state(x, &ct_gpu_metrics_analyser);
	const struct ct_gpu_metrics_device *worst = NULL;

	for (unsigned int i = 0; i < x->busy->count; i++) {
		const struct ct_gpu_metrics_device *d = ct_gpu_metrics_of(s, x->busy->devices[i].gpu);
		const struct ct_gpu_figures *f = d ? &d->processes[x->index] : NULL;
		enum ct_clock_limit which;
		double of;

		if (!f || f->working < LOOKS_LEAST || !d->clock_max || !f->clock.count)
			continue;
		of = 100.0 * ct_gpu_metrics_limit(f, &which) / f->looks;
		if (worst && of <= *share)
			continue;
		worst = d;
		*limit = which;
		*share = of;
	}
	return worst;
}

void ct_rule_gpu_clocks(struct ct_explain *x, const struct ct_rule *rule)
{
	const struct ct_gpu_metrics_device *d;
	struct ct_finding *f;
	struct ct_gpu_figures *seen;
	enum ct_clock_limit limit;
	char power[64] = "", heat[32] = "";
	double share = 0, clock, lost;

	if (!x->busy)
		return;
	d = clocks_worst(x, &limit, &share);
	if (!d || share < rule->threshold)
		return;
	seen = &d->processes[x->index];
	clock = ct_histogram_median(&seen->clock);
	lost = 1 - clock / d->clock_max;
	if (lost < 1 - CLOCK_NEAR)
		return;
	if (seen->power.count && d->power_limit)
		snprintf(power, sizeof(power), ", %.0f W of %.0f W on average", ct_metric_mean(&seen->power) / 1000,
			 d->power_limit / 1000.0);
	if (seen->temperature.count)
		snprintf(heat, sizeof(heat), ", %llu C at most", (unsigned long long)seen->temperature.max);
	f = ct_explain_add(x, rule, CT_SCOPE_STEADY, CT_POSSIBLE, (uint64_t)(lost * ct_explain_gpu_ns(x)),
			   "The clocks of GPU %llu were limited by %s for %.0f %% of the %s: %.0f MHz of %u (median)%s%s. "
			   "Kernels that compute take up to %.0f %% longer for it.", (unsigned long long)d->gpu,
			   ct_clock_limit_words[limit], share, ct_explain_main(x), clock, d->clock_max, power, heat,
			   100.0 * d->clock_max / clock - 100);
	f->at_most = true;
	ct_explain_advise(x, f, "%s", clocks_advice(limit));
}
