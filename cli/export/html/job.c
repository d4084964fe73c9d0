// SPDX-License-Identifier: LGPL-2.1-or-later
/* See job.h.  What is written is bounded, however many ranks and steps there are. */
#include "export/html/job.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/ranks/job.h"
#include "export/html/json.h"

#define JOB_RANKS	256u
#define JOB_CELLS	512u	/* of a rank: of more steps each cell has the worst of several */
#define JOB_TEXTS	4u

struct job_cell {
	uint64_t begin, duration;	/* ns, of the longest of its steps */
	uint64_t late;			/* ns, of the latest of them */
};

/* The iteration of the rank that is at @ts; -1: none. */
static int64_t job_step(const struct ct_process_phases *p, uint64_t ts)
{
	int64_t i = ct_phases_iteration(p, ts);

	return i < 0 ? -1 : i - (int64_t)ct_phases_warmup(p);
}

/* How late the rank came to the collectives of each step, all of them together. */
static void job_lateness(const struct ct_collectives *c, const struct ct_process_phases *p, uint32_t pid, uint64_t *late,
			 uint32_t steps)
{
	for (size_t i = 0; i < c->operations_count; i++) {
		const struct ct_operation *o = &c->operations[i];

		if (!o->complete || o->expected < 2 || o->unsure == UINT64_MAX)
			continue;
		for (uint32_t k = 0; k < o->count; k++) {
			const struct ct_part *part = &c->parts[o->first + k];
			uint64_t behind = ct_part_arrived(part) - o->arrived;
			int64_t step = part->pid == pid ? job_step(p, part->begin) : -1;

			if (step >= 0 && step < steps && behind >= o->unsure)
				late[step] += behind;
		}
	}
}

static int job_cells(const struct ct_explain *x, const struct ct_job_rank *r, struct ct_out *out)
{
	const struct ct_process_phases *p = &x->phases->processes[r->process];
	uint32_t warmup = ct_phases_warmup(p), steps = p->iterations_count - warmup, each = steps / JOB_CELLS + 1;
	uint64_t *late = calloc(steps + 1ul, sizeof(*late));

	if (!late)
		return -ENOMEM;
	job_lateness(x->analysis->collectives, p, r->pid, late, steps);
	ct_html_u64(out, ",\"each\":", each);
	ct_out_text(out, ",\"cells\":[");
	for (uint32_t i = 0; i < steps; i += each) {
		struct job_cell cell = { 0 };

		for (uint32_t k = i; k < steps && k < i + each; k++) {
			const struct ct_iteration *it = &p->iterations[warmup + k];

			if (it->end - it->begin >= cell.duration) {
				cell.duration = it->end - it->begin;
				cell.begin = it->begin;
			}
			cell.late = late[k] > cell.late ? late[k] : cell.late;
		}
		ct_html_s64(out, i ? ",[" : "[", (int64_t)(cell.begin - x->trace->reg.start));
		ct_html_u64(out, ",", cell.duration);
		ct_html_u64(out, ",", cell.late);
		ct_out_char(out, ']');
	}
	ct_out_char(out, ']');
	free(late);
	return 0;
}

static int job_rank(const struct ct_explain *x, const struct ct_job *job, const struct ct_job_rank *r, struct ct_out *out)
{
	double steps = r->steps > 0 ? r->steps : 1;
	int rc;

	ct_html_u64(out, "{\"rank\":", r->rank);
	ct_html_u64(out, ",\"pid\":", r->pid);
	ct_html_text(out, ",\"process\":", ct_processes_word(x->analysis->processes, r->pid));
	ct_html_double(out, ",\"step\":", r->step);
	ct_html_double(out, ",\"application\":", r->sums.application / steps);
	if (job->measured) {
		ct_html_double(out, ",\"compute\":", r->sums.compute / steps);
		ct_html_double(out, ",\"waiting\":", r->waiting / steps);
		ct_html_double(out, ",\"moving\":", r->moving / steps);
	}
	ct_html_double(out, ",\"makes_wait\":", r->made_wait_most / steps);
	rc = job_cells(x, r, out);
	ct_out_char(out, '}');
	return rc;
}

int ct_html_job(const struct ct_explain *x, struct ct_out *out)
{
	const struct ct_job *job = ct_explain_state(x, &ct_job_analyser);
	const struct ct_job_rank *guilty;
	unsigned int ranks;
	char text[1600];
	int rc = 0;

	if (!job->count || (!job->several && !job->stuck_count)) {
		ct_out_text(out, "\"job\":null,\n");
		return 0;
	}
	guilty = ct_job_guilty(job, CT_JOB_SHARE);
	ranks = job->count < JOB_RANKS ? job->count : JOB_RANKS;
	ct_out_text(out, "\"job\":{\"texts\":[");
	for (unsigned int i = 0; i < JOB_TEXTS && ct_job_verdict(x->analysis, job, i, text, sizeof(text)); i++)
		ct_html_text(out, i ? "," : "", text);
	ct_html_bool(out, "],\"stuck\":", job->stuck_count > 0);
	if (guilty)
		ct_html_u64(out, ",\"guilty\":", guilty->rank);
	ct_html_u64(out, ",\"ranks_left_out\":", job->count - ranks);
	ct_out_text(out, ",\"ranks\":[");
	for (unsigned int i = 0; i < ranks && !rc; i++) {
		ct_out_text(out, i ? ",\n" : "\n");
		rc = job_rank(x, job, &job->ranks[i], out);
	}
	ct_out_text(out, "]},\n");
	return rc;
}
