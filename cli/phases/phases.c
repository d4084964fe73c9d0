// SPDX-License-Identifier: LGPL-2.1-or-later
/* Looking up what was found; find.c finds it. */
#include "phases/phases.h"

#include <errno.h>
#include <stdlib.h>

#define PHASES_ROW(id, word, text)	word,
const char *const ct_stage_word[CT_STAGE_COUNT] = { CT_STAGES(PHASES_ROW) };
#undef PHASES_ROW
#define PHASES_ROW(id, word, text)	text,
const char *const ct_stage_text[CT_STAGE_COUNT] = { CT_STAGES(PHASES_ROW) };
#undef PHASES_ROW

void ct_phases_free(struct ct_phases *phases)
{
	for (unsigned int i = 0; i < phases->processes_count; i++) {
		free(phases->processes[i].iterations);
		free(phases->processes[i].makings);
		free(phases->processes[i].launching);
	}
	free(phases->processes);
	free(phases->by_pid);
	*phases = (struct ct_phases){ .main = -1 };
}

static int phases_by_pid(const void *a, const void *b, void *arg)
{
	const struct ct_phases *phases = arg;
	unsigned int x = *(const unsigned int *)a, y = *(const unsigned int *)b;

	if (phases->processes[x].pid != phases->processes[y].pid)
		return phases->processes[x].pid < phases->processes[y].pid ? -1 : 1;
	return x < y ? -1 : x > y;
}

int ct_phases_index(struct ct_phases *phases)
{
	phases->by_pid = calloc(phases->processes_count + 1ul, sizeof(*phases->by_pid));
	if (!phases->by_pid)
		return -ENOMEM;
	for (unsigned int i = 0; i < phases->processes_count; i++)
		phases->by_pid[i] = i;
	qsort_r(phases->by_pid, phases->processes_count, sizeof(*phases->by_pid), phases_by_pid, phases);
	return 0;
}

const struct ct_process_phases *ct_phases_process(const struct ct_phases *phases, uint32_t pid,
						  uint64_t ts)
{
	unsigned int low = 0, high = phases->by_pid ? phases->processes_count : 0;
	const struct ct_process_phases *p;

	/* The last one of this pid that began before, else the first of it. */
	while (low < high) {
		unsigned int middle = low + (high - low) / 2;

		p = &phases->processes[phases->by_pid[middle]];
		if (p->pid < pid || (p->pid == pid && p->begin <= ts))
			low = middle + 1;
		else
			high = middle;
	}
	for (int before = 1; before >= 0; before--) {
		if (low < (unsigned int)before || low - before >= phases->processes_count || !phases->by_pid)
			continue;
		p = &phases->processes[phases->by_pid[low - before]];
		if (p->pid == pid)
			return p;
	}
	return NULL;
}

enum ct_stage ct_phases_stage(const struct ct_process_phases *p, uint64_t ts)
{
	for (unsigned int i = 0; i < p->stages_count; i++)
		if (ts >= p->stages[i].begin && ts < p->stages[i].end)
			return p->stages[i].stage;
	/* The last moment belongs to the last stage. */
	if (p->stages_count && ts == p->stages[p->stages_count - 1].end)
		return p->stages[p->stages_count - 1].stage;
	return CT_STAGE_COUNT;
}

const struct ct_stage_span *ct_phases_steady(const struct ct_process_phases *p)
{
	for (unsigned int i = 0; i < p->stages_count; i++)
		if (p->stages[i].stage == CT_STAGE_STEADY)
			return &p->stages[i];
	return NULL;
}

bool ct_phases_main(const struct ct_process_phases *p, uint64_t *begin, uint64_t *end)
{
	*begin = *end = 0;
	for (unsigned int i = 0; i < p->stages_count; i++) {
		if (!ct_stage_is_main(p->stages[i].stage))
			continue;
		*begin = *begin ? *begin : p->stages[i].begin;
		*end = p->stages[i].end;
	}
	return *end;
}

uint64_t ct_phases_other(const struct ct_process_phases *p)
{
	uint64_t ns = 0;

	for (unsigned int i = 0; i < p->stages_count && ct_phases_steady(p); i++)
		if (p->stages[i].stage == CT_STAGE_EXECUTION)
			ns += p->stages[i].end - p->stages[i].begin;
	return ns;
}

uint32_t ct_phases_warmup(const struct ct_process_phases *p)
{
	const struct ct_stage_span *steady = ct_phases_steady(p);
	uint32_t n = 0;

	while (n < p->iterations_count && p->iterations[n].begin < (steady ? steady->begin : 0))
		n++;
	return n;
}

void ct_phases_coverage(const struct ct_process_phases *p, struct ct_coverage *c)
{
	const struct ct_stage_span *steady = ct_phases_steady(p);
	uint64_t at = steady ? steady->begin : 0, end = steady ? steady->end : 0;

	*c = (struct ct_coverage){ .steady = end - at };
	for (uint32_t i = ct_phases_warmup(p); i <= p->iterations_count && at < end; i++) {
		uint64_t begin = i < p->iterations_count ? p->iterations[i].begin : end;
		uint64_t until = i < p->iterations_count ? p->iterations[i].end : end;

		begin = begin < at ? at : begin < end ? begin : end;
		until = until < begin ? begin : until < end ? until : end;
		if (begin - at > c->to - c->from) {
			c->from = at;
			c->to = begin;
		}
		c->covered += until - begin;
		at = until;
	}
}

bool ct_phases_makes(const struct ct_process_phases *p, uint64_t at)
{
	uint32_t low = 0, high = p->makings_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (p->makings[middle].end <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low < p->makings_count && p->makings[low].begin <= at;
}
