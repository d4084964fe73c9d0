// SPDX-License-Identifier: LGPL-2.1-or-later
/* See memory.h.  Must never keep something for each allocation: points are thinned out. */
#include "export/html/memory.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/memory/memory.h"
#include "base/grow.h"
#include "export/html/json.h"
#include "export/html/source.h"

#define MEMORY_PROCESSES	64u	/* whose memory is shown */
#define MEMORY_POINTS		16384u	/* of a process */

struct memory_point {
	uint64_t ts, bytes;
};

/* What a process holds from each point on. */
struct memory_curve {
	struct memory_point *points;
	unsigned int count, capacity;
};

struct memory_state {
	struct memory_curve curves[MEMORY_PROCESSES];	/* as the memory analyser has its processes */
};

/* Half as many: of four points stay the one with the peak, and the last. */
static void memory_thin(struct memory_curve *c)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i + 3 < c->count; i += 4) {
		const struct memory_point *p = &c->points[i];
		unsigned int peak = 0;
		struct memory_point last = p[3];

		for (unsigned int k = 1; k < 3; k++)
			peak = p[k].bytes > p[peak].bytes ? k : peak;
		c->points[kept++] = p[peak];
		c->points[kept++] = last;
	}
	for (unsigned int i = c->count & ~3u; i < c->count; i++)
		c->points[kept++] = c->points[i];
	c->count = kept;
}

static int memory_add(struct memory_curve *c, uint64_t ts, uint64_t bytes)
{
	if (c->count && c->points[c->count - 1].bytes == bytes)
		return 0;
	if (c->count == MEMORY_POINTS)
		memory_thin(c);
	if (!ct_room(c->points, c->count, c->capacity))
		return -ENOMEM;
	c->points[c->count++] = (struct memory_point){ ts, bytes };
	return 0;
}

static bool memory_wants(const struct ct_class *class)
{
	return class->layer == CT_LAYER_USER && class->category == CT_CAT_MEMORY;
}

/* The memory analyser has had the event before. */
static int memory_event(struct ct_analysis *a, const struct ct_trace_event *e)
{
	const struct ct_memory *m = ct_analysis_state(a, &ct_memory_analyser);
	const struct ct_memory_pid *of = ct_keyed_get(&m->pids, e->record->pid);
	const struct ct_memory_process *p = ct_memory_now(m, e->record->pid);

	if (!p || of->process > MEMORY_PROCESSES || !p->sums[CT_MEMORY_GPU].allocations)
		return 0;
	return memory_add(&((struct memory_state *)a->state)->curves[of->process - 1], e->end,
			  p->sums[CT_MEMORY_GPU].held);
}

static void memory_free(struct ct_analysis *a)
{
	for (unsigned int i = 0; i < MEMORY_PROCESSES; i++)
		free(((struct memory_state *)a->state)->curves[i].points);
}

static const struct ct_analyser *const needs[] = { &ct_memory_analyser, NULL };

const struct ct_analyser ct_html_memory_analyser = {
	.on = CT_ON_END,
	.wants = memory_wants,
	.needs = needs,
	.state_size = sizeof(struct memory_state),
	.event = memory_event,
	.free = memory_free,
};

/* --------------------------------------------------------------- writing --- */

static uint64_t memory_number(uint64_t value)
{
	return value < CT_HTML_MOST ? value : CT_HTML_MOST;
}

static int memory_columns(const struct ct_trace *t, const struct memory_curve *c, unsigned int number,
			  struct ct_html_blobs *blobs)
{
	uint64_t *values = calloc(c->count + 1, sizeof(*values));

	if (!values)
		return -ENOMEM;
	for (unsigned int i = 0; i < c->count; i++)
		values[i] = ct_html_moment(t, c->points[i].ts);
	ct_html_column(blobs, CT_HTML_DELTA, values, c->count, "memory%u.ts", number);
	for (unsigned int i = 0; i < c->count; i++)
		values[i] = memory_number(c->points[i].bytes);
	ct_html_column(blobs, CT_HTML_DELTA, values, c->count, "memory%u.bytes", number);
	free(values);
	return 0;
}

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
		ct_html_u64(out, ",\"peak\":", memory_number(p->sums[CT_MEMORY_GPU].peak));
		ct_html_u64(out, ",\"blobs\":{\"ts\":\"memory", shown);
		ct_html_u64(out, ".ts\",\"bytes\":\"memory", shown);
		ct_out_text(out, ".bytes\"}}");
		rc = memory_columns(a->trace, &s->curves[i], shown++, blobs);
	}
	ct_out_text(out, "],\n");
	return rc;
}
