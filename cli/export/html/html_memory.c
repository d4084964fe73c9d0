// SPDX-License-Identifier: LGPL-2.1-or-later
/* See html_memory.h. */
#include "export/html/html_memory.h"

#include "analysis/memory/memory.h"
#include "export/html/curve.h"
#include "export/html/json.h"

#define MEMORY_PROCESSES	64u	/* whose memory is shown */

struct memory_state {
	struct ct_html_curve curves[MEMORY_PROCESSES];	/* as the memory analyser has its processes */
};

static bool html_memory_wants(const struct ct_class *class)
{
	return ct_class_is(class, CT_IS_MEMORY);
}

/* The memory analyser has had the event before. */
static int html_memory_event(struct ct_analysis *a, const struct ct_trace_event *e)
{
	const struct ct_memory *m = ct_analysis_state(a, &ct_memory_analyser);
	const struct ct_memory_pid *of = ct_keyed_get(&m->pids, e->record->pid);
	const struct ct_memory_process *p = ct_memory_now(m, e->record->pid);

	if (!p || of->process > MEMORY_PROCESSES || !p->sums[CT_MEMORY_GPU].allocations)
		return 0;
	return ct_html_curve_add(&((struct memory_state *)a->state)->curves[of->process - 1], e->end,
				 p->sums[CT_MEMORY_GPU].held);
}

static void html_memory_free(struct ct_analysis *a)
{
	for (unsigned int i = 0; i < MEMORY_PROCESSES; i++)
		ct_html_curve_free(&((struct memory_state *)a->state)->curves[i]);
}

static const struct ct_analyser *const needs[] = { &ct_memory_analyser, NULL };

const struct ct_analyser ct_html_memory_analyser = {
	.on = CT_ON_END,
	.wants = html_memory_wants,
	.needs = needs,
	.state_size = sizeof(struct memory_state),
	.event = html_memory_event,
	.free = html_memory_free,
};

/* --------------------------------------------------------------- writing --- */

int ct_html_memory_write(const struct ct_engine *e, struct ct_html_blobs *blobs, struct ct_out *out)
{
	const struct ct_analysis *a = ct_engine_result(e, &ct_html_memory_analyser);
	const struct ct_memory *m = ct_analysis_state(a, &ct_memory_analyser);
	const struct memory_state *s = a->state;
	unsigned int shown = 0;
	int rc = 0;

	ct_out_text(out, "\"memory\":[");
	for (unsigned int i = 0; i < m->processes_count && i < MEMORY_PROCESSES && !rc; i++) {
		const struct ct_memory_process *p = m->processes[i];

		if (!s->curves[i].count)
			continue;
		ct_html_u64(out, shown ? ",\n{\"pid\":" : "\n{\"pid\":", p->pid);
		ct_html_text(out, ",\"process\":", ct_processes_word(a->processes, p->pid));
		ct_html_u64(out, ",\"peak\":", p->sums[CT_MEMORY_GPU].peak < CT_HTML_MOST ? p->sums[CT_MEMORY_GPU].peak :
			    CT_HTML_MOST);
		ct_html_u64(out, ",\"blobs\":{\"ts\":\"memory", shown);
		ct_html_u64(out, ".ts\",\"bytes\":\"memory", shown);
		ct_out_text(out, ".bytes\"}}");
		rc = ct_html_curve_write(&s->curves[i], a->trace, blobs, "memory", shown++, "bytes");
	}
	ct_out_text(out, "],\n");
	return rc;
}
