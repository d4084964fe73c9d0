// SPDX-License-Identifier: LGPL-2.1-or-later
/* Looking up what was found; find.c finds it. */
#include "phases/phases.h"

#include <stdlib.h>

#define PHASES_ROW(id, word, text)	word,
const char *const ct_stage_word[CT_STAGE_COUNT] = { CT_STAGES(PHASES_ROW) };
#undef PHASES_ROW
#define PHASES_ROW(id, word, text)	text,
const char *const ct_stage_text[CT_STAGE_COUNT] = { CT_STAGES(PHASES_ROW) };
#undef PHASES_ROW

void ct_phases_free(struct ct_phases *phases)
{
	for (unsigned int i = 0; i < phases->processes_count; i++)
		free(phases->processes[i].iterations);
	free(phases->processes);
	*phases = (struct ct_phases){ .main = -1 };
}

const struct ct_process_phases *ct_phases_process(const struct ct_phases *phases, uint32_t pid,
						  uint64_t ts)
{
	const struct ct_process_phases *found = NULL;

	/* In the order of their begin: the last one that began before, else the first. */
	for (unsigned int i = 0; i < phases->processes_count; i++)
		if (phases->processes[i].pid == pid && (!found || phases->processes[i].begin <= ts))
			found = &phases->processes[i];
	return found;
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

int64_t ct_phases_iteration(const struct ct_process_phases *p, uint64_t ts)
{
	uint32_t low = 0, high = p->iterations_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (p->iterations[middle].end <= ts)
			low = middle + 1;
		else
			high = middle;
	}
	return low < p->iterations_count && p->iterations[low].begin <= ts ? (int64_t)low : -1;
}
