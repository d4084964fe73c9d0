// SPDX-License-Identifier: LGPL-2.1-or-later
/* See gpu_metrics.h. Looks are as far from each other as the recorder could, so each stands for the same time. */
#include "analysis/gpu/gpu_metrics.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/about/machine.h"

#define LIMIT_WORDS(id, words, bits)	[CT_CLOCK_LIMIT_##id] = words,
const char *const ct_clock_limit_words[CT_CLOCK_LIMIT_COUNT] = { CT_CLOCK_LIMITS(LIMIT_WORDS) };

#define LIMIT_BITS(id, words, bits)	[CT_CLOCK_LIMIT_##id] = bits,
static const uint32_t limit_bits[CT_CLOCK_LIMIT_COUNT] = { CT_CLOCK_LIMITS(LIMIT_BITS) };

#define LIMIT_IDLE	0x1u
#define UNKNOWN16	UINT16_MAX
#define UNKNOWN32	UINT32_MAX

static bool metrics_wants(const struct ct_class *class)
{
	return class->id == CT_CLASS_gpu_metrics && class->size >= sizeof(struct ct_gpu_metrics);
}

static void metric_add(struct ct_metric *m, uint64_t value, uint64_t unknown)
{
	if (value == unknown)
		return;
	m->count++;
	m->sum += value;
	m->max = value > m->max ? value : m->max;
}

static int figures_add(struct ct_gpu_figures *f, const struct ct_gpu_metrics *m)
{
	bool working = m->limited != UNKNOWN32 ? !(m->limited & LIMIT_IDLE) : m->busy != UNKNOWN16 && m->busy;

	f->looks++;
	metric_add(&f->power, m->power, UNKNOWN32);
	metric_add(&f->temperature, m->temperature, UNKNOWN16);
	metric_add(&f->memory, m->memory, UINT64_MAX);
	metric_add(&f->busy, m->busy, UNKNOWN16);
	metric_add(&f->sm, m->sm, UNKNOWN16);
	metric_add(&f->occupancy, m->occupancy, UNKNOWN16);
	metric_add(&f->tensor, m->tensor, UNKNOWN16);
	metric_add(&f->dram, m->dram, UNKNOWN16);
	metric_add(&f->pcie_tx, m->pcie_tx, UNKNOWN32);
	metric_add(&f->pcie_rx, m->pcie_rx, UNKNOWN32);
	metric_add(&f->nvlink_tx, m->nvlink_tx, UNKNOWN32);
	metric_add(&f->nvlink_rx, m->nvlink_rx, UNKNOWN32);
	if (!working)
		return 0;
	f->working++;
	for (unsigned int i = 0; i < CT_CLOCK_LIMIT_COUNT && m->limited != UNKNOWN32; i++)
		f->limited[i] += (m->limited & limit_bits[i]) != 0;
	return m->clock == UNKNOWN16 ? 0 : ct_histogram_add(&f->clock, m->clock);
}

static int metrics_event(struct ct_analysis *a, const struct ct_trace_event *e)
{
	struct ct_gpu_metrics_state *s = a->state;
	struct ct_gpu_metrics_device *d;
	struct ct_gpu_metrics m;
	uint64_t begin, end;
	int rc = 0;

	if (!e->record->fields)
		return 0;
	memcpy(&m, e->record->fields, sizeof(m));
	d = ct_keyed_put(s, ct_record_known(e->record, CT_KNOWN_GPU));
	if (!d)
		return -ENOMEM;
	if (!d->processes) {
		d->device = -1;
		d->uuid = d->name = "";
		d->processes = calloc(s->processes_count + 1, sizeof(*d->processes));
		if (!d->processes)
			return -ENOMEM;
	}
	if (e->begin >= a->filter->from && (!a->filter->to || e->begin < a->filter->to))
		rc = figures_add(&d->all, &m);
	for (unsigned int i = 0; i < s->processes_count && !rc; i++)
		if (ct_phases_main(&a->phases->processes[i], &begin, &end) && e->begin >= begin && e->begin < end)
			rc = figures_add(&d->processes[i], &m);
	return rc;
}

static int metrics_begin(struct ct_analysis *a)
{
	struct ct_gpu_metrics_state *s = a->state;

	s->processes_count = a->phases->processes_count;
	return 0;
}

/* "0 UUID PCI MHZ MW NAME" */
static void metrics_name(struct ct_gpu_metrics_state *s, const char *text)
{
	char *end;
	struct ct_gpu_metrics_device *d = ct_keyed_get(s, strtoul(text, &end, 10));
	const char *rest;

	if (!d || *end != ' ')
		return;
	d->uuid = end + 1;
	d->uuid_length = strcspn(d->uuid, " ");
	rest = d->uuid + d->uuid_length;
	rest = *rest ? strchr(rest + 1, ' ') : NULL;
	if (!rest)
		return;
	d->clock_max = strtoul(rest, &end, 10);
	d->power_limit = strtoul(end, &end, 10);
	d->name = *end == ' ' ? end + 1 : "";
}

static int metrics_end(struct ct_analysis *a)
{
	struct ct_machine *machine = calloc(1, sizeof(*machine));
	struct ct_gpu_metrics_state *s = a->state;
	int rc = machine ? ct_machine_read(machine, &a->trace->reg) : -ENOMEM;
	bool any = false;

	for (unsigned int i = 0; i < a->trace->reg.infos_count; i++)
		if (!strcmp(a->trace->reg.infos[i].key, CT_METRICS_INFO))
			metrics_name(s, a->trace->reg.infos[i].text);
	for (size_t i = 0; i < s->count && !rc; i++) {
		struct ct_gpu_metrics_device *d = &s->list[i];

		for (unsigned int k = 0; k < machine->gpus_count; k++)
			if (d->uuid_length && strlen(machine->gpus[k].uuid) == (size_t)d->uuid_length &&
			    !strncmp(machine->gpus[k].uuid, d->uuid, d->uuid_length))
				d->device = machine->gpus[k].device;
		any |= d->device >= 0;
	}
	for (size_t i = 0; i < s->count; i++)
		s->list[i].used = !any || s->list[i].device >= 0;
	if (machine)
		ct_machine_free(machine);
	free(machine);
	return rc;
}

static void metrics_free(struct ct_analysis *a)
{
	struct ct_gpu_metrics_state *s = a->state;

	for (size_t i = 0; i < s->count; i++) {
		struct ct_gpu_metrics_device *d = &s->list[i];

		ct_histogram_free(&d->all.clock);
		for (unsigned int k = 0; d->processes && k < s->processes_count; k++)
			ct_histogram_free(&d->processes[k].clock);
		free(d->processes);
	}
	ct_keyed_free(s);
}

const struct ct_gpu_metrics_device *ct_gpu_metrics_of(const struct ct_gpu_metrics_state *s, int gpu)
{
	const struct ct_gpu_metrics_device *used = NULL;
	unsigned int count = 0;

	for (size_t i = 0; i < s->count; i++) {
		const struct ct_gpu_metrics_device *d = &s->list[i];

		if (d->device >= 0 && d->device == gpu)
			return d;
		count += d->used;
		used = d->used ? d : used;
	}
	/* Where no program asked CUDA which ones they are, the only one is it. */
	return count == 1 && used->device < 0 ? used : NULL;
}

uint64_t ct_gpu_metrics_limit(const struct ct_gpu_figures *f, enum ct_clock_limit *which)
{
	*which = 0;
	for (unsigned int i = 1; i < CT_CLOCK_LIMIT_COUNT; i++)
		if (f->limited[i] > f->limited[*which])
			*which = i;
	return f->limited[*which];
}

const struct ct_analyser ct_gpu_metrics_analyser = {
	.on = CT_ON_INSTANT,
	.wants = metrics_wants,
	.phases = true,
	.samples = true,
	.unfiltered = true,
	.state_size = sizeof(struct ct_gpu_metrics_state),
	.begin = metrics_begin,
	.event = metrics_event,
	.end = metrics_end,
	.free = metrics_free,
};
