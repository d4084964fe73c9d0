// SPDX-License-Identifier: LGPL-2.1-or-later
/* See summarize.h. */
#include "analysis/ranks/summarize.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/ranks/job.h"
#include "base/grow.h"
#include "base/out.h"
#include "ranks/rank_summary.h"

#define CALL_BYTES	38u	/* of a call's line, about */
#define STRIDE_MOST	(1u << 20)
#define SHAPES_TRIED	256u	/* the newest; where sizes never come again, each call has one */

/* ------------------------------------------------------------- collectives --- */

/* Found in the pass in which the job is: see .to_end of them. */
static bool gather_wants(const struct ct_class *class)
{
	return ct_collectives_want(class);
}

static int gather_span(struct ct_analysis *a, const struct ct_span *s)
{
	return ct_collectives_span(*(struct ct_collectives_find **)a->arg, s);
}

/* Before the job ends, which needs them. */
static int gather_end(struct ct_analysis *a)
{
	struct ct_collectives_find **find = a->arg;
	int rc = ct_collectives_end(*find, 0);

	*find = NULL;
	return rc;
}

static const struct ct_analyser gather_analyser = {
	.spans = CT_SPANS_BY_END,
	.wants = gather_wants,
	.unfiltered = true,
	.span = gather_span,
	.end = gather_end,
};

/* ---------------------------------------------------------- the last calls --- */

/* The last call of each process; what has not returned counts most. */
struct summarize_last {
	uint64_t pid;
	const struct ct_class *class;
	uint64_t begin, end;		/* ns; end 0: it has not returned */
};

struct summarize_lasts {
	CT_KEYED(struct summarize_last) list;
};

static bool last_wants(const struct ct_class *class)
{
	return ct_class_is(class, CT_IS_API) && !ct_class_is(class, CT_IS_QUERY);
}

static int last_span(struct ct_analysis *a, const struct ct_span *s)
{
	struct summarize_lasts *lasts = a->state;
	struct summarize_last *last;
	const struct ct_process_phases *p = s->depth ? NULL : ct_phases_process(a->phases, s->pid, s->begin);
	bool open = s->flags & CT_SPAN_UNFINISHED;

	/* Of those that returned, the last of the thread that makes the iterations. */
	if (!p || (!open && p->tid && s->tid != p->tid))
		return 0;
	last = ct_keyed_put(&lasts->list, s->pid);
	if (!last)
		return -ENOMEM;
	if (last->class && !last->end && (!open || last->begin > s->begin))
		return 0;
	last->class = s->class;
	last->begin = s->begin;
	last->end = open ? 0 : s->end;
	return 0;
}

static void last_free(struct ct_analysis *a)
{
	struct summarize_lasts *lasts = a->state;

	ct_keyed_free(&lasts->list);
}

static const struct ct_analyser last_analyser = {
	.spans = CT_SPANS_BY_END,
	.wants = last_wants,
	.phases = true,
	.unfiltered = true,
	.span = last_span,
	.state_size = sizeof(struct summarize_lasts),
	.free = last_free,
};

/* ------------------------------------------------------------------- writing --- */

struct summarize_row {
	uint64_t key, who;		/* process and communicator; who sends and who receives */
	uint32_t index;			/* + 1; 0: it was not written yet */
	uint32_t newest, next;		/* numbers of calls */
};

/* Calls that are alike have one line that says how. */
struct summarize_shape {
	uint32_t row;
	const struct ct_part *like;
};

struct summarize {
	const struct ct_trace *trace;
	struct ct_collectives *c;
	const struct ct_job *job;
	const struct ct_analysis *analysis;
	struct ct_out out;
	struct ct_summarized *done;
	uint32_t *order;		/* of the parts, by begin */
	uint64_t *kernels;		/* by rank: launch of the last call that was written */
	CT_KEYED(struct summarize_row) rows;
	struct summarize_shape *shapes;
	uint32_t shapes_count, shapes_room;
	uint32_t rows_written;
	uint32_t stride;
};

static void summarize_put(struct summarize *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void summarize_put(struct summarize *s, const char *format, ...)
{
	char line[400];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(line, sizeof(line) - 1, format, args);
	va_end(args);
	n = n < 0 ? 0 : n < (int)sizeof(line) - 1 ? n : (int)sizeof(line) - 2;
	for (int i = 0; i < n; i++)
		line[i] = (unsigned char)line[i] < ' ' || line[i] == 127 ? '?' : line[i];
	line[n++] = '\n';
	s->done->bytes += n;
	ct_out_bytes(&s->out, line, n);
}

static int summarize_order(const void *a, const void *b, void *arg)
{
	const struct ct_part *parts = arg, *x = &parts[*(const uint32_t *)a], *y = &parts[*(const uint32_t *)b];

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return x->op_id < y->op_id ? -1 : x->op_id > y->op_id;
}

static unsigned int summarize_process(const struct summarize *s, const struct ct_part *p)
{
	int index = ct_job_index(s->job, p);

	return index < 0 ? s->job->count : (unsigned int)index;
}

/* How much of its kernel's time each call has. */
static void summarize_shares(struct ct_collectives *c)
{
	for (size_t i = 0, same; i < c->by_launch_count; i += same) {
		uint64_t all = 0;

		for (same = 0; i + same < c->by_launch_count && c->parts[c->by_launch[i + same]].launch == c->parts[c->by_launch[i]].launch; same++)
			all += c->parts[c->by_launch[i + same]].size;
		for (size_t k = i; k < i + same; k++)
			c->parts[c->by_launch[k]].share = all ? (double)c->parts[c->by_launch[k]].size / all : 1.0 / same;
	}
}

static struct summarize_row *summarize_row(struct summarize *s, const struct ct_part *p)
{
	uint64_t process = summarize_process(s, p), ends = 0;

	if (ct_class_is(p->class, CT_IS_SEND))
		ends = 1ull << 63 | (uint64_t)(uint32_t)p->root;
	else if (ct_class_is(p->class, CT_IS_RECEIVE))
		ends = 1ull << 62 | (uint64_t)(uint32_t)p->root;
	return ct_keyed_put_pair(&s->rows, process << 32 | p->communicator, ends);
}

static bool summarize_alike(const struct ct_part *a, const struct ct_part *b)
{
	return a->class == b->class && a->count == b->count && a->size == b->size && a->datatype == b->datatype &&
	       a->reduction == b->reduction && a->root == b->root;
}

/* Ranks of what was split off are those of its parent, as in a trace: they are numbered where all are there. */
static void summarize_member(struct summarize *s, const struct ct_part *p)
{
	const struct ct_comm *comm = &s->c->communicators[p->communicator];
	uint32_t rank = p->rank;
	int32_t key = 0;

	for (uint32_t i = 0; comm->numbered && i < comm->members_count; i++)
		if (comm->members[i].rank == p->rank) {
			rank = comm->members[i].parent;
			key = comm->members[i].key;
		}
	summarize_put(s, key ? "row %u %u %u %d" : "row %u %u %u", summarize_process(s, p), p->communicator, rank, key);
}

/* Writes the lines of a row and of a shape that are new; UINT32_MAX: no memory. */
static uint32_t summarize_shape(struct summarize *s, struct summarize_row *row, const struct ct_part *p)
{
	if (!row->index) {
		row->index = ++s->rows_written;
		row->next = 1;
		summarize_member(s, p);
	}
	for (uint32_t i = s->shapes_count, tries = SHAPES_TRIED; i-- > 0 && tries--;)
		if (s->shapes[i].row == row->index && summarize_alike(s->shapes[i].like, p))
			return i;
	if (!ct_room(s->shapes, s->shapes_count, s->shapes_room))
		return UINT32_MAX;
	summarize_put(s, "shape %u %s %" PRIu64 " %" PRIu64 " %u %d %d", row->index - 1, p->class->name, p->count, p->size, p->datatype,
		      p->reduction, p->root);
	s->shapes[s->shapes_count] = (struct summarize_shape){ row->index, p };
	return s->shapes_count++;
}

static int summarize_call(struct summarize *s, const struct ct_part *p, uint64_t *at)
{
	struct summarize_row *row = summarize_row(s, p);
	unsigned int rank = summarize_process(s, p);
	uint32_t shape = row ? summarize_shape(s, row, p) : UINT32_MAX;
	bool same = p->launch && s->kernels[rank] == p->launch;
	char kernel[80] = "", share[24] = "";

	if (shape == UINT32_MAX)
		return -ENOMEM;
	if (p->number != row->next)
		summarize_put(s, "next %u %u", row->index - 1, p->number);
	row->next = p->number + 1;
	if (p->gpu_end && p->gpu_begin >= p->begin) {
		if (p->share > 0 && p->share < 1)
			snprintf(share, sizeof(share), " %.0f", p->share * 1e6);
		snprintf(kernel, sizeof(kernel), " %" PRIu64 " %" PRIu64 "%s", p->gpu_begin - p->begin, p->gpu_end - p->gpu_begin, share);
		s->kernels[rank] = p->launch;
	}
	summarize_put(s, "%s %u %" PRIu64 " %" PRIu64 "%s", same && *kernel ? "same" : "call", shape, p->begin - *at, p->end - p->begin, kernel);
	*at = p->begin;
	s->done->kept++;
	return 0;
}

/* So that no step of a rank takes more than it may. */
static void summarize_stride(struct summarize *s, uint32_t step)
{
	uint32_t most = step / CALL_BYTES ? step / CALL_BYTES : 1;

	s->stride = 1;
	for (unsigned int i = 0; i < s->job->count; i++) {
		const struct ct_job_rank *r = &s->job->ranks[i];
		uint64_t calls = 0;

		if (!r->iterations)
			continue;
		for (size_t k = 0; k < s->c->parts_count; k++)
			calls += ct_part_who(&s->c->parts[k]) == r->who && s->c->parts[k].begin >= r->from && s->c->parts[k].begin <= r->to;
		while (calls / r->iterations / s->stride > most && s->stride < STRIDE_MOST)
			s->stride *= 2;
	}
}

static int summarize_calls(struct summarize *s)
{
	struct ct_collectives *c = s->c;
	uint64_t at = 0;
	int rc = 0;

	for (size_t i = 0; i < c->parts_count; i++) {
		struct summarize_row *row = summarize_row(s, &c->parts[i]);

		if (!row)
			return -ENOMEM;
		row->newest = c->parts[i].number > row->newest ? c->parts[i].number : row->newest;
	}
	for (size_t i = 0; i < c->parts_count && !rc; i++) {
		const struct ct_part *p = &c->parts[s->order[i]];

		if (p->apart || c->operations[p->operation].apart || summarize_process(s, p) == s->job->count || (p->number % s->stride &&
		    (uint64_t)p->number + CT_SUMMARY_LAST <= summarize_row(s, p)->newest))
			continue;
		rc = summarize_call(s, p, &at);
	}
	summarize_put(s, "calls %" PRIu64, s->done->kept);
	return rc;
}

static void summarize_rank(struct summarize *s, const struct ct_job_rank *r, const struct summarize_lasts *lasts)
{
	const struct ct_process_phases *p = &s->analysis->phases->processes[r->process];
	const struct summarize_last *last = ct_keyed_get(&lasts->list, r->pid);
	const char *name = ct_processes_word(s->analysis->processes, r->pid);

	summarize_put(s, "process %u %d %d %" PRIu64 " %" PRIu64 " %.64s", r->pid, (int)r->rank,
		      (uint32_t)r->who != CT_ONE_RANK ? r->gpu : ct_processes_gpu(s->analysis->processes, r->pid),
		      r->from, r->to, name ? name : "?");
#define SUM(word)	summarize_put(s, "sum " #word " %" PRIu64, r->sums.word);
	CT_RANK_SUMS(SUM)
#undef SUM
	if (last && last->class)
		summarize_put(s, "doing %" PRIu64 " %" PRIu64 " %s", last->begin, last->end, last->class->name);
	for (uint32_t i = ct_phases_warmup(p); i < p->iterations_count; i++)
		summarize_put(s, "step %" PRIu64 " %" PRIu64, p->iterations[i].begin, p->iterations[i].end - p->iterations[i].begin);
	s->done->steps = r->iterations > s->done->steps ? r->iterations : s->done->steps;
}

static int summarize_write(struct summarize *s, uint32_t step, const struct summarize_lasts *lasts)
{
	const struct ct_trace *t = s->trace;
	const char *host = ct_registry_info(&t->reg, "hostname");

	summarize_stride(s, step);
	s->done->ranks = s->job->count;
	s->done->calls = s->c->parts_count;
	summarize_put(s, CT_SUMMARY_MAGIC "%u", CT_SUMMARY_VERSION);
	summarize_put(s, "host %.64s", host && *host ? host : "?");
	summarize_put(s, "clock %" PRIu64 " %" PRIu64 " %" PRIu64, t->reg.start, t->reg.realtime, s->analysis->totals->last);
	summarize_put(s, "records %" PRIu64 " %" PRIu64, t->records, t->lost);
	summarize_put(s, "gpu %u %u", s->c->measured, t->simulated);
	summarize_put(s, "stride %u", s->stride);
	for (unsigned int i = 0; i < s->job->count; i++)
		summarize_rank(s, &s->job->ranks[i], lasts);
	for (uint32_t i = 0; i < s->c->communicators_count; i++) {
		const struct ct_comm *comm = &s->c->communicators[i];

		summarize_put(s, "communicator %" PRIx64 " %u %" PRIx64 " %d", comm->id, comm->numbered ? 0 : comm->ranks, comm->split_of, comm->color);
	}
	return summarize_calls(s);
}

static int summarize_run(const struct ct_trace *t, struct ct_collectives *c, struct summarize *s, uint32_t step, struct ct_error *err)
{
	static const struct ct_analyser *const list[] = { &gather_analyser, &ct_job_analyser, &last_analyser };
	struct ct_collectives_find *find = ct_collectives_begin(c, t);
	struct ct_engine_options options = { .filter = { .layer = -1, .category = -1 }, .collectives = c, .arg = &find };
	struct ct_engine *e = find ? ct_engine_run(t, list, 3, &options, err) : NULL;
	int rc;

	if (!e) {
		rc = find ? -err->code : ct_fail(err, ENOMEM, "no memory");
		if (find)
			ct_collectives_end(find, rc);
		return rc;
	}
	if (!c->parts_count) {
		ct_engine_free(e);
		return 0;
	}
	summarize_shares(c);
	s->analysis = ct_engine_result(e, &ct_job_analyser);
	s->job = s->analysis->state;
	s->order = malloc((c->parts_count + 1) * sizeof(*s->order));
	s->kernels = calloc(s->job->count + 1ul, sizeof(*s->kernels));
	rc = s->order && s->kernels ? 0 : -ENOMEM;
	for (size_t i = 0; !rc && i < c->parts_count; i++)
		s->order[i] = i;
	if (!rc) {
		qsort_r(s->order, c->parts_count, sizeof(*s->order), summarize_order, c->parts);
		rc = summarize_write(s, step, ct_engine_result(e, &last_analyser)->state);
	}
	ct_engine_free(e);
	return rc ? ct_fail(err, -rc, "%s", strerror(-rc)) : 0;
}

int ct_summarize(const struct ct_trace *t, uint32_t step, int fd, struct ct_summarized *done, struct ct_error *err)
{
	struct ct_collectives c = { .to_end = true };
	struct summarize s = { .trace = t, .c = &c, .done = done };
	int rc = ct_out_open(&s.out, fd), closing;

	*done = (struct ct_summarized){ 0 };
	if (rc)
		return ct_fail(err, ENOMEM, "no memory");
	if (ct_collectives_there(&t->reg))
		rc = summarize_run(t, &c, &s, step, err);
	if (!rc && !c.parts_count)
		rc = ct_fail(err, ENODATA, "%s: no rank called a collective of libnccl: there is nothing to compare", t->dir);
	closing = ct_out_close(&s.out);
	if (!rc && closing)
		rc = ct_fail(err, -closing, "%s", strerror(-closing));
	free(s.order);
	free(s.kernels);
	free(s.shapes);
	ct_keyed_free(&s.rows);
	ct_collectives_free(&c);
	return rc;
}
