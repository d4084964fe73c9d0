// SPDX-License-Identifier: LGPL-2.1-or-later
/* See html_job.h.  What is written is bounded, however many ranks and steps there are. */
#include "export/html/html_job.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/ranks/job_verdict.h"
#include "export/html/json.h"

#define JOB_RANKS	1024u
#define JOB_CELLS	512u		/* of a rank: of more steps each cell has the worst of several ... */
#define JOB_CELLS_ALL	(1u << 17)	/* ... and of many ranks fewer */
#define JOB_TEXTS	4u
#define JOB_OPERATIONS	4096u		/* those in which a rank waited longest */
#define JOB_PARTS	20000u		/* of the step that is shown */
#define JOB_AROUND	1000000u	/* ns around a collective that is in no step */

struct job_cell {
	uint64_t begin, duration;	/* ns, of the longest of its steps */
	uint64_t late;			/* ns, of the latest of them */
};

/* ns that each rank came late, by its steps. */
struct job_late {
	const struct ct_process_phases *phases;
	uint32_t warmup, steps;
	uint64_t *steps_late;
};

struct job_page {
	const struct ct_explain *x;
	const struct ct_job *job;
	const struct ct_collectives *c;
	unsigned int ranks;		/* that are shown */
	struct job_late *late;
};

static int64_t job_ns(const struct job_page *j, uint64_t ts)
{
	return (int64_t)(ts - j->x->trace->reg.start);
}

/* The index of a rank that is shown; -1. */
static int job_index(const struct job_page *j, const struct ct_part *part)
{
	int index = ct_job_index(j->job, part);

	return index < (int)j->ranks ? index : -1;
}

/* How late the ranks came to the collectives of each step, all of them together. */
static int job_lateness(struct job_page *j)
{
	const struct ct_collectives *c = j->c;

	j->late = calloc(j->ranks + 1ul, sizeof(*j->late));
	for (unsigned int i = 0; j->late && i < j->ranks; i++) {
		struct job_late *l = &j->late[i];

		l->phases = &j->x->phases->processes[j->job->ranks[i].process];
		l->warmup = ct_phases_warmup(l->phases);
		l->steps = l->phases->iterations_count - l->warmup;
		l->steps_late = calloc(l->steps + 1ul, sizeof(*l->steps_late));
		if (!l->steps_late)
			return -ENOMEM;
	}
	for (size_t i = 0; j->late && i < c->operations_count; i++) {
		const struct ct_operation *o = &c->operations[i];

		if (!o->complete || o->expected < 2 || o->unsure == UINT64_MAX)
			continue;
		for (uint32_t k = 0; k < o->count; k++) {
			const struct ct_part *part = &c->parts[o->first + k];
			uint64_t behind = ct_part_arrived(part) - o->arrived;
			int rank = job_index(j, part);
			int64_t step = rank < 0 ? -1 : ct_phases_iteration(j->late[rank].phases, part->begin) - j->late[rank].warmup;

			if (step >= 0 && step < j->late[rank].steps && behind >= o->unsure)
				j->late[rank].steps_late[step] += behind * o->weight;
		}
	}
	return j->late ? 0 : -ENOMEM;
}

static void job_cells(const struct job_page *j, unsigned int rank, struct ct_out *out)
{
	const struct job_late *l = &j->late[rank];
	uint32_t most = JOB_CELLS_ALL / j->ranks < JOB_CELLS ? JOB_CELLS_ALL / j->ranks : JOB_CELLS, each = l->steps / most + 1;

	ct_html_u64(out, ",\"each\":", each);
	ct_out_text(out, ",\"cells\":[");
	for (uint32_t i = 0; i < l->steps; i += each) {
		struct job_cell cell = { 0 };

		for (uint32_t k = i; k < l->steps && k < i + each; k++) {
			const struct ct_iteration *it = &l->phases->iterations[l->warmup + k];

			if (it->end - it->begin >= cell.duration) {
				cell.duration = it->end - it->begin;
				cell.begin = it->begin;
			}
			cell.late = l->steps_late[k] > cell.late ? l->steps_late[k] : cell.late;
		}
		ct_html_s64(out, i ? ",[" : "[", job_ns(j, cell.begin));
		ct_html_u64(out, ",", cell.duration);
		ct_html_u64(out, ",", cell.late);
		ct_out_char(out, ']');
	}
	ct_out_char(out, ']');
}

/* ------------------------------------------------------------ collectives --- */

/* Has it a moment at which the last rank came, which others waited for? */
static bool job_shows(const struct ct_operation *o)
{
	return o->complete && o->measured && o->expected > 1 && o->unsure != UINT64_MAX;
}

static uint64_t job_waited(const struct ct_collectives *c, const struct ct_operation *o)
{
	return ct_part_arrived(&c->parts[o->last]) - o->arrived;
}

static int job_by_waiting(const void *a, const void *b, void *arg)
{
	const struct ct_collectives *c = arg;
	const struct ct_operation *x = &c->operations[*(const uint32_t *)a], *y = &c->operations[*(const uint32_t *)b];
	uint64_t ns[2] = { job_waited(c, x), job_waited(c, y) };

	return ns[0] > ns[1] ? -1 : ns[0] < ns[1];
}

static int job_by_time(const void *a, const void *b, void *arg)
{
	const struct ct_collectives *c = arg;
	uint64_t x = c->operations[*(const uint32_t *)a].arrived, y = c->operations[*(const uint32_t *)b].arrived;

	return x < y ? -1 : x > y;
}

static void html_job_operation(const struct job_page *j, uint32_t index, const char *before, struct ct_out *out)
{
	const struct ct_operation *o = &j->c->operations[index];
	const struct ct_part *last = &j->c->parts[o->last];
	int rank = job_index(j, last);

	ct_out_text(out, before);
	ct_html_text(out, "[", ct_part_name(last));
	ct_html_u64(out, ",", o->number);
	ct_html_u64(out, ",", ct_operation_size(j->c, o));
	ct_html_s64(out, ",", rank < 0 ? -1 : (int64_t)j->job->ranks[rank].rank);
	ct_html_s64(out, ",", job_ns(j, o->arrived));
	ct_html_u64(out, ",", job_waited(j->c, o));
	ct_html_u64(out, ",", o->gone - o->arrived);
	ct_out_char(out, ']');
}

/* The step of the longest wait, as each rank saw it. */
static void job_step_shown(const struct job_page *j, uint32_t longest, struct ct_out *out)
{
	const struct ct_operation *worst = &j->c->operations[longest];
	int rank = job_index(j, &j->c->parts[worst->last]);
	const struct ct_process_phases *p = rank < 0 ? NULL : j->late[rank].phases;
	int64_t step = p ? ct_phases_iteration(p, ct_part_arrived(&j->c->parts[worst->last])) : -1;
	uint64_t from = worst->arrived - JOB_AROUND, to = worst->gone + JOB_AROUND;
	unsigned int parts = 0;

	if (step >= 0) {
		from = p->iterations[step].begin < worst->arrived ? p->iterations[step].begin : worst->arrived;
		to = p->iterations[step].end > worst->gone ? p->iterations[step].end : worst->gone;
	}
	ct_html_s64(out, ",\"step\":{\"from\":", job_ns(j, from));
	ct_html_s64(out, ",\"to\":", job_ns(j, to));
	ct_html_s64(out, ",\"number\":", rank < 0 || step < j->late[rank].warmup ? -1 : step - j->late[rank].warmup + 1);
	ct_out_text(out, ",\"parts\":[");
	for (size_t i = 0; i < j->c->operations_count; i++) {
		const struct ct_operation *o = &j->c->operations[i];

		for (uint32_t k = 0; job_shows(o) && o->arrived < to && o->gone > from && k < o->count && parts < JOB_PARTS; k++) {
			const struct ct_part *part = &j->c->parts[o->first + k];

			rank = job_index(j, part);
			if (rank < 0)
				continue;
			ct_html_u64(out, parts++ ? ",[" : "[", rank);
			ct_html_text(out, ",", ct_part_name(part));
			ct_html_u64(out, ",", o->number);
			ct_html_s64(out, ",", job_ns(j, part->gpu_begin));
			ct_html_u64(out, ",", part->until > part->gpu_begin ? part->until - part->gpu_begin : 0);
			ct_html_u64(out, ",", part->gpu_end - part->gpu_begin);
			ct_out_char(out, ']');
		}
	}
	ct_out_text(out, "]}");
}

static int job_operations(const struct job_page *j, struct ct_out *out)
{
	uint32_t *list = malloc((j->c->operations_count + 1) * sizeof(*list)), count = 0, shown, longest;

	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < j->c->operations_count; i++)
		if (job_shows(&j->c->operations[i]))
			list[count++] = i;
	qsort_r(list, count, sizeof(*list), job_by_waiting, (void *)j->c);
	shown = count < JOB_OPERATIONS ? count : JOB_OPERATIONS;
	longest = count ? list[0] : 0;
	/* That of the rank that makes the others wait, not of a warm-up. */
	for (unsigned int i = 0; i < j->job->count && count; i++)
		if (&j->job->ranks[i] == ct_job_guilty(j->job, CT_JOB_SHARE) && j->job->ranks[i].worst_operation < j->c->operations_count)
			longest = j->job->ranks[i].worst_operation;
	qsort_r(list, shown, sizeof(*list), job_by_time, (void *)j->c);
	ct_html_u64(out, "],\"operations_left_out\":", count - shown);
	ct_out_text(out, ",\"operations\":[");
	for (uint32_t i = 0; i < shown; i++)
		html_job_operation(j, list[i], i ? "," : "", out);
	ct_out_text(out, "]");
	if (count && job_shows(&j->c->operations[longest]))
		job_step_shown(j, longest, out);
	free(list);
	return 0;
}

/* ------------------------------------------------------------------ ranks --- */

static void html_job_rank(const struct job_page *j, unsigned int rank, struct ct_out *out)
{
	const struct ct_job_rank *r = &j->job->ranks[rank];
	double steps = r->steps > 0 ? r->steps : 1;

	ct_html_u64(out, "{\"rank\":", r->rank);
	ct_html_u64(out, ",\"pid\":", r->pid);
	ct_html_text(out, ",\"process\":", ct_processes_word(j->x->analysis->processes, r->pid));
	ct_html_double(out, ",\"step\":", r->step);
	ct_html_double(out, ",\"application\":", r->sums.application / steps);
	if (j->job->measured) {
		ct_html_double(out, ",\"compute\":", r->sums.compute / steps);
		ct_html_double(out, ",\"waiting\":", r->waiting / steps);
		ct_html_double(out, ",\"moving\":", r->moving / steps);
	}
	ct_html_double(out, ",\"makes_wait\":", r->made_wait_most / steps);
	job_cells(j, rank, out);
	ct_out_char(out, '}');
}

int ct_html_job(const struct ct_explain *x, struct ct_out *out)
{
	const struct ct_job *job = ct_explain_state(x, &ct_job_analyser);
	struct job_page j = { .x = x, .job = job, .c = x->analysis->collectives };
	const struct ct_job_rank *guilty;
	char text[1600];
	int rc;

	if (!job->count || (!job->several && !job->stuck_count)) {
		ct_out_text(out, "\"job\":null,\n");
		return 0;
	}
	guilty = ct_job_guilty(job, CT_JOB_SHARE);
	j.ranks = job->count < JOB_RANKS ? job->count : JOB_RANKS;
	ct_out_text(out, "\"job\":{\"texts\":[");
	for (unsigned int i = 0; i < JOB_TEXTS && ct_job_verdict(x->analysis, job, i, text, sizeof(text)); i++)
		ct_html_text(out, i ? "," : "", text);
	ct_html_text(out, "],\"line\":", ct_job_headline(x->analysis, job, text, sizeof(text)));
	if (guilty)
		ct_html_u64(out, ",\"guilty\":", guilty->rank);
	if (x->trace->summaries)
		ct_html_u64(out, ",\"summaries\":", x->trace->summaries->files);
	ct_html_u64(out, ",\"ranks_left_out\":", job->count - j.ranks);
	ct_out_text(out, ",\"ranks\":[");
	rc = job_lateness(&j);
	for (unsigned int i = 0; i < j.ranks && !rc; i++) {
		ct_out_text(out, i ? ",\n" : "\n");
		html_job_rank(&j, i, out);
	}
	if (!rc)
		rc = job_operations(&j, out);
	ct_out_text(out, "},\n");
	for (unsigned int i = 0; j.late && i < j.ranks; i++)
		free(j.late[i].steps_late);
	free(j.late);
	return rc;
}
