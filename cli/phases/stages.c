// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The stages of a process: each begins where the one before ends, so that together they are
 * the whole time of the process.  One that does not exist is left out.
 */
#include "phases/stages.h"

#include <errno.h>
#include <stdlib.h>

#include "phases/reread.h"
#include "phases/iterations.h"
#include "phases/makings.h"

#define STAGES_PAUSE	100000000ull	/* ns without a copy: what is copied behind it is no part of the weights ... */
#define STAGES_RATE	(1u << 20)	/* ... nor is what is copied all along: bytes a second of the stage */
#define STAGES_NCCL	(1u << 20)	/* bytes: what libnccl copies at once while it makes a communicator is less (at most 24 KB were seen) */
#define STAGES_BULK	0.9	/* of the bytes to the GPU: the weights */
/* So many launches without a copy between them are work, not a part of loading weights ... */
#define STAGES_WORK	32u
#define STAGES_BEGUN	0.02	/* ... once so much of the bytes is there */
#define STAGES_MANY	32u	/* iterations: a pattern, though most launches came before it */
/* % of the launches: more before the iterations, or after them, are work of their own ... */
#define STAGES_BEFORE	20u
#define STAGES_AFTER	5u
#define STAGES_RARE	10u	/* of the iterations one in so many: what takes longer is not usual */
#define STAGES_SAMPLES	65536u
#define STAGES_GPU	50u	/* % of the GPU's work, by its records */
#define STAGES_TRIES	64u	/* ... but a warm-up, if code is loaded once in so many of those before: kernels are tried */

struct stages_facts {
	uint64_t first_call, first_use, first_data, first_copy, modules_end, first_launch;	/* data: memory for it, too */
	uint64_t context_end, late_context_end;	/* before the first use; after code is loaded */
	uint64_t weights, weights_end;	/* bytes until the steady state; when they were there */
	uint32_t weights_copies;
	bool modules;
};

static void stages_min(uint64_t *min, uint64_t value)
{
	*min = value < *min ? value : *min;
}

static void stages_max(uint64_t *max, uint64_t value)
{
	*max = value > *max ? value : *max;
}

static bool stages_uses(const struct ct_phase_record *h)
{
	return h->kind == CT_PHASE_MODULE || h->kind == CT_PHASE_ALLOC || ct_phase_record_work(h);
}

/*
 * Copies to the GPU are a part of a program that works with them there.  One without a pattern that launches
 * little, or nothing, does nothing but copy: that is what it executes.
 */
static bool stages_only_copies(const struct ct_phase_work *w, const struct stages_facts *f, bool found)
{
	uint64_t launches = (uint64_t)w->launches_count + w->launches_more;

	if (found || launches >= STAGES_WORK)
		return false;
	return !launches || f->weights_copies >= STAGES_WORK;
}

static void stages_each(const struct ct_phase_work *w, struct stages_facts *f,
			void (*fn)(const struct ct_phase_work *w, struct stages_facts *f, const struct ct_phase_record *h))
{
	for (unsigned int s = 0; s < w->slices_count; s++)
		for (uint32_t i = 0; i < w->slices[s].count; i++)
			fn(w, f, &w->slices[s].list[i]);
}

/*
 * What libnccl copies, allocates and loads while it makes a communicator is none of the program's.  Another thread may copy weights at
 * the same time.
 */
static bool stages_copies(const struct ct_phase_work *w, const struct ct_phase_record *h)
{
	return ct_phase_record_to_gpu(h) && (h->sig >= STAGES_NCCL || !ct_phases_makes(w->process, h->at));
}

static void stages_firsts(const struct ct_phase_work *w, struct stages_facts *f, const struct ct_phase_record *h)
{
	(void)w;
	if (h->kind < CT_PHASE_PUSH)
		stages_min(&f->first_call, h->at);
	if (stages_uses(h))
		stages_min(&f->first_use, h->at);
	if (ct_phase_record_launch(h))
		stages_min(&f->first_launch, h->at);
}

static void stages_context(const struct ct_phase_work *w, struct stages_facts *f, const struct ct_phase_record *h)
{
	(void)w;
	if (h->kind != CT_PHASE_CONTEXT)
		return;
	if (h->at < f->first_use)
		stages_max(&f->context_end, ct_phase_record_end(h));
	else if (h->at < f->first_data && h->at < f->first_launch)
		stages_max(&f->late_context_end, ct_phase_record_end(h));
}

static void stages_data(const struct ct_phase_work *w, struct stages_facts *f, const struct ct_phase_record *h)
{
	if ((h->kind == CT_PHASE_ALLOC && !ct_phases_makes(w->process, h->at)) || stages_copies(w, h))
		stages_min(&f->first_data, h->at);
	if (stages_copies(w, h))
		stages_min(&f->first_copy, h->at);
}

/* Code is loaded in one piece before data: what is loaded for a launch later does not count. */
static void stages_modules(const struct ct_phase_work *w, struct stages_facts *f, const struct ct_phase_record *h)
{
	if (h->kind != CT_PHASE_MODULE || h->at >= f->first_data || h->at >= f->first_launch || ct_phases_makes(w->process, h->at))
		return;
	f->modules = true;
	stages_max(&f->modules_end, ct_phase_record_end(h));
}

struct stages_copy {
	uint64_t begin, end, bytes;
};

static int stages_copy_order(const void *a, const void *b)
{
	const struct stages_copy *x = a, *y = b;

	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/*
 * The copies to the GPU before @limit: the weights are there when the bulk was copied, and
 * what is copied right behind it, before the GPU works with it: not after a pause as long as all of that took.
 */
static int stages_weights(const struct ct_phase_work *w, struct stages_facts *f, uint64_t limit)
{
	uint64_t all = 0, bytes = 0, stop = UINT64_MAX, pause;
	struct stages_copy *copies;
	uint32_t n = 0, count = 0, first, before = 0;

	for (unsigned int s = 0; s < w->slices_count; s++)
		for (uint32_t i = 0; i < w->slices[s].count; i++)
			n += stages_copies(w, &w->slices[s].list[i]) && w->slices[s].list[i].at < limit;
	copies = calloc(n + 1ul, sizeof(*copies));
	if (!copies)
		return -ENOMEM;
	for (unsigned int s = 0; s < w->slices_count; s++)
		for (uint32_t i = 0; i < w->slices[s].count; i++) {
			const struct ct_phase_record *h = &w->slices[s].list[i];

			if (!stages_copies(w, h) || h->at >= limit)
				continue;
			copies[count++] = (struct stages_copy){
				.begin = h->at, .end = ct_phase_record_end(h), .bytes = h->sig,
			};
			all += h->sig;
		}
	qsort(copies, count, sizeof(*copies), stages_copy_order);
	for (uint32_t i = 0; i < count && copies[i].begin < stop; i++) {
		bool bulk = bytes >= STAGES_BULK * all;

		first = ct_work_launches(w, 0, copies[i].begin);
		if (first - before >= STAGES_WORK && bytes >= STAGES_BEGUN * all && bytes)
			break;
		pause = bulk ? f->weights_end - copies[0].begin : UINT64_MAX / 2;
		if (copies[i].begin > f->weights_end + (pause > STAGES_PAUSE ? pause : STAGES_PAUSE))
			break;
		before = first;
		bytes += copies[i].bytes;
		if (!bulk && bytes >= STAGES_BULK * all) {
			first = ct_work_launches(w, 0, copies[i].begin);
			if (first < w->launches_count)
				stop = w->launches[first];
		}
		stages_max(&f->weights_end, copies[i].end);
		f->weights_copies++;
	}
	f->weights = all;
	free(copies);
	return 0;
}

/* Adds a stage that ends at @end, if any time is left for it. */
static void stages_add(struct ct_phase_work *w, enum ct_stage stage, uint64_t end)
{
	struct ct_process_phases *p = w->process;
	uint64_t begin = p->stages_count ? p->stages[p->stages_count - 1].end : p->begin;

	if (end > p->end)
		end = p->end;
	if (end <= begin)
		return;
	p->stages[p->stages_count++] = (struct ct_stage_span){
		.stage = stage, .begin = begin, .end = end,
	};
}

/*
 * Until when a communicator counts that another thread makes while the process launches already.  It works then, and that is no setup
 * any more; unless it launches nothing in the second half of that time: it waits for the communicator.
 */
static uint64_t stages_until_work(const struct ct_phase_work *w, const struct stages_facts *f, const struct ct_making *m)
{
	uint32_t before = ct_work_launches(w, 0, m->end);

	if (!before || f->first_launch >= m->end || 2 * (m->end - w->launches[before - 1]) >= m->end - f->first_launch)
		return m->end;
	return f->first_launch;
}

/*
 * The communicators that are made before the program copies data, or works: a stage, if that is at least a quarter of it; the ranks
 * meet before.  Its begin and end; false: there is none.
 */
static bool stages_communicators(const struct ct_phase_work *w, const struct stages_facts *f, uint64_t *begin, uint64_t *end)
{
	const struct ct_process_phases *p = w->process;
	uint64_t from = p->stages_count ? p->stages[p->stages_count - 1].end : p->begin, busy = 0;

	*begin = 0;
	*end = from;
	for (uint32_t i = 0; i < p->makings_count; i++) {
		const struct ct_making *m = &p->makings[i];
		uint64_t at = m->begin > *end ? m->begin : *end, until = stages_until_work(w, f, m);

		if (m->begin >= f->first_copy || m->begin >= f->first_launch)
			break;
		until = until < f->first_copy ? until : f->first_copy;
		if (until <= at)
			continue;
		*begin = *begin ? *begin : m->begin;
		busy += until - at;
		*end = until;
	}
	return busy && 4 * busy >= *end - from;
}

static void stages_add_code(struct ct_phase_work *w, const struct stages_facts *f)
{
	uint64_t begin, end;
	bool makes = stages_communicators(w, f, &begin, &end);

	if (makes && f->modules && f->modules_end <= begin)
		stages_add(w, CT_STAGE_MODULES, begin);
	if (makes)
		stages_add(w, CT_STAGE_COMMUNICATORS, end);
	if (f->modules && (!makes || f->modules_end > begin))
		stages_add(w, CT_STAGE_MODULES, f->first_data < f->first_launch ? f->first_data : f->modules_end);
}

static void stages_add_weights(struct ct_phase_work *w, const struct stages_facts *f, bool found)
{
	const struct ct_process_phases *p = w->process;
	uint64_t begin = p->stages_count ? p->stages[p->stages_count - 1].end : p->begin;

	/* With more launches than copies the GPU works already: kernels are tried and the like. */
	if (!f->weights || f->weights_end <= begin || ct_work_launches(w, 0, f->weights_end) > f->weights_copies)
		return;
	if (f->weights >= (f->weights_end - begin) / 1e9 * STAGES_RATE)
		stages_add(w, CT_STAGE_WEIGHTS, f->weights_end);
	else if (!found)	/* otherwise the warm-up lasts until the iterations */
		stages_add(w, CT_STAGE_WARMUP, f->weights_end);
}

/* How long an iteration takes with the pause behind it, in which nothing else is launched. */
static uint64_t stages_period(const struct ct_phase_work *w, uint32_t i)
{
	const struct ct_iteration *it = &w->process->iterations[i];
	bool paused = i + 1 < w->process->iterations_count && !ct_work_launches(w, it->end, it[1].begin);

	return (paused ? it[1].begin : it->end) - it->begin;
}

static int stages_by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* In the second half of the iterations one in STAGES_RARE takes so long or longer, ns. */
static int stages_rare(const struct ct_phase_work *w, uint64_t *rare)
{
	uint32_t half = w->process->iterations_count / 2, all = w->process->iterations_count - half, n = all < STAGES_SAMPLES ? all : STAGES_SAMPLES;
	uint64_t *periods = calloc(n + 1ul, sizeof(*periods));

	if (!periods)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		periods[i] = stages_period(w, half + (uint64_t)i * all / n);
	qsort(periods, n, sizeof(*periods), stages_by_value);
	*rare = n ? periods[n - 1 - n / STAGES_RARE] : 0;
	free(periods);
	return 0;
}

/*
 * The begin of the first iteration that is not much longer than usual, with the pause behind it.  Where they differ a lot (requests
 * that come when they come), long ones at the begin are no warm-up.
 */
static int stages_regular(const struct ct_phase_work *w, uint64_t *begin, uint64_t *usual)
{
	const struct ct_process_phases *p = w->process;
	uint64_t median, limit;
	int rc = ct_iterations_median(p, false, &median);

	rc = rc ? rc : stages_rare(w, &limit);
	*begin = p->iterations[0].begin;
	*usual = rc ? 0 : median;
	if (rc)
		return rc;
	limit = limit > 2 * median ? limit : 2 * median;
	for (uint32_t i = 0; i < p->iterations_count; i++)
		if (stages_period(w, i) <= limit) {
			*begin = p->iterations[i].begin;
			break;
		}
	return 0;
}

/*
 * Launches outside of the iterations.  Those into a stream that is captured are no work: a launch of a graph stands for as many as its
 * capture had.
 */
struct stages_outside {
	const struct ct_phase_work *work;
	uint64_t first, end;		/* of the iterations */
	uint64_t before, after, all;
	uint64_t graphs;		/* launches of graphs in the iterations */
	uint64_t gpu_before, gpu_after, gpu;	/* ns of the GPU's work; 0: there are no records of it */
	bool tries;			/* those before are a warm-up */
};

static int stages_count_launch(void *arg, const struct ct_phase_record *h)
{
	struct stages_outside *o = arg;
	uint64_t weight = h->kind == CT_PHASE_GRAPH ? ct_phases_graph_kernels(o->work->process) : 1;

	if (h->at < o->work->from || h->at >= o->work->to)
		return 0;	/* of another process that had the pid */
	o->all += weight;
	if (h->at < o->first)
		o->before += weight;
	else if (h->at >= o->end)
		o->after += weight;
	else
		o->graphs += h->kind == CT_PHASE_GRAPH;
	return 0;
}

/* Calls @fn for each launch of a slice that goes into a captured stream, or for each that does not. */
static void stages_each_launch(struct stages_outside *o, const struct ct_thread_events *slice, bool captured,
			       ct_phase_record_fn fn)
{
	uint32_t open = 0;

	for (uint32_t i = 0; i < slice->count; i++) {
		const struct ct_phase_record *h = &slice->list[i];

		open += h->kind == CT_PHASE_CAPTURE;
		open -= h->kind == CT_PHASE_CAPTURED && open;
		if (ct_phase_record_launch(h) && (open > 0) == captured)
			fn(o, h);
	}
}

static int stages_captured(void *arg, const struct ct_phase_record *h)
{
	struct stages_outside *o = arg;

	(void)h;
	o->work->process->captured++;
	return 0;
}

/* What was captured, as far as it is kept. */
static void stages_captures(const struct ct_phase_work *w)
{
	struct stages_outside o = { .work = w };

	for (unsigned int s = 0; s < w->slices_count; s++) {
		stages_each_launch(&o, &w->slices[s], true, stages_captured);
		for (uint32_t i = 0; i < w->slices[s].count; i++)
			w->process->captures += w->slices[s].list[i].kind == CT_PHASE_CAPTURED;
	}
}

/* Captures are at the begin, which is kept. */
static int stages_take_back(void *arg, const struct ct_phase_record *h)
{
	struct stages_outside *o = arg;

	o->all--;
	o->before -= h->at < o->first && o->before;
	o->after -= h->at >= o->end && o->after;
	return 0;
}

/* How often code was loaded from the first launch on until @to. */
static uint64_t stages_loads(const struct ct_phase_work *w, uint64_t to)
{
	uint64_t from = w->launches_count ? w->launches[0] : UINT64_MAX, n = 0;

	for (unsigned int s = 0; s < w->slices_count; s++)
		for (uint32_t i = 0; i < w->slices[s].count; i++) {
			const struct ct_phase_record *h = &w->slices[s].list[i];

			n += h->kind == CT_PHASE_MODULE && h->at >= from && h->at < to;
		}
	return n;
}

static int stages_outside(const struct ct_phase_work *w, struct stages_outside *o)
{
	const struct ct_process_phases *p = w->process;
	int rc = 0;

	*o = (struct stages_outside){
		.work = w, .first = p->iterations[0].begin, .end = p->iterations[p->iterations_count - 1].end,
	};
	if (w->partial)		/* those that were not kept are read again */
		rc = ct_phase_records_launches(w->records, p->pid, stages_count_launch, o);
	for (unsigned int s = 0; s < w->slices_count; s++)
		stages_each_launch(o, &w->slices[s], w->partial, w->partial ? stages_take_back : stages_count_launch);
	if (w->gpu_last) {
		const struct ct_phase_gpu *gpu = ct_keyed_get(&w->records->gpu, p->pid);

		o->gpu_before = ct_phase_gpu_worked(w->records, gpu, w->gpu_first, o->first);
		o->gpu_after = ct_phase_gpu_worked(w->records, gpu, o->end, w->gpu_last);
		o->gpu = ct_phase_gpu_worked(w->records, gpu, w->gpu_first, w->gpu_last);
	}
	/* Of a graph whose capture is not in the trace, what was launched before may be it. */
	o->tries = stages_loads(w, o->first) * STAGES_TRIES > o->before ||
		   (!p->captured && 2 * o->graphs > o->all - o->before - o->after);
	return rc;
}

/*
 * So many launches outside of the iterations, or so much of the GPU's work, are another loop, or work without a pattern.  One
 * more iteration may be cut off, or be like none.
 */
static bool stages_other(const struct stages_outside *o, bool after)
{
	uint64_t inside = o->all - o->before - o->after, launches = after ? o->after : o->before;
	uint64_t gpu = after ? o->gpu_after : o->gpu_before;

	if (launches < STAGES_WORK || launches * o->work->process->iterations_count < 2 * inside || (!after && o->tries))
		return false;
	return 100 * launches >= (after ? STAGES_AFTER : STAGES_BEFORE) * o->all || (gpu && 100 * gpu >= STAGES_GPU * o->gpu);
}

/*
 * The iterations are no steady state if most launches are not in them, and there are few iterations; or if there is much other
 * work on both sides of them, or little else than other work.  Then what the process does has another pattern, or none.  Most
 * launches may come before the first iteration where code is loaded for them: JAX and torch.compile try hundreds of kernels
 * before they begin, and a captured graph is one launch.  Returns the share of launches that lie outside, in %; 0: they are
 * a steady state.
 */
static unsigned int stages_miss_most(const struct ct_phase_work *w, const struct stages_outside *o)
{
	const struct ct_process_phases *p = w->process;
	uint64_t outside = o->before + o->after, work = o->all - (o->tries ? o->before : 0);
	bool miss = 2 * outside > o->all && p->iterations_count < STAGES_MANY;

	miss |= 100 * (o->all - outside) < STAGES_BEFORE * work;
	miss |= stages_other(o, false) && stages_other(o, true);
	return miss && o->all ? 100 * outside / o->all : 0;
}

/*
 * The end of the steady state: a program that launches without waiting waits for all of it behind its last iteration, and
 * the GPU does most of the work meanwhile.  That is no teardown.
 */
static uint64_t stages_steady_end(const struct ct_phase_work *w)
{
	const struct ct_process_phases *p = w->process;
	uint64_t end = p->iterations[p->iterations_count - 1].end, last, from, until = UINT64_MAX;
	uint32_t before = ct_work_launches(w, 0, end);
	const struct ct_phase_record *wait = NULL;

	if (w->partial || !before)
		return end;
	last = w->launches[before - 1];
	if (before < w->launches_count)
		until = w->launches[before];
	for (unsigned int s = 0; s < w->slices_count; s++)
		for (uint32_t i = 0; i < w->slices[s].count; i++) {
			const struct ct_phase_record *h = &w->slices[s].list[i];

			if (ct_phase_record_wait(h) && h->at > last && (!wait || h->at < wait->at))
				wait = h;
		}
	if (!wait || wait->at >= until || ct_phase_record_end(wait) <= end)
		return end;
	/* What comes long after is another matter. */
	from = wait->at > end ? wait->at : end;
	return from - end <= ct_phase_record_end(wait) - from ? ct_phase_record_end(wait) : end;
}

int ct_stages_find(struct ct_phase_work *w)
{
	struct ct_process_phases *p = w->process;
	struct stages_outside outside = { 0 };
	unsigned int lost = 0;
	bool other_before, other_after;
	struct stages_facts f = {
		.first_call = UINT64_MAX, .first_use = UINT64_MAX, .first_data = UINT64_MAX,
		.first_copy = UINT64_MAX, .first_launch = UINT64_MAX,
	};
	uint64_t steady = 0, usual = 0;
	bool found = p->iterations_count > 0;
	int rc;

	stages_captures(w);
	rc = ct_makings_find(w);
	if (rc)
		return rc;
	rc = found ? stages_regular(w, &steady, &usual) : 0;
	if (!rc && found)
		rc = stages_outside(w, &outside);
	if (!rc && found)
		lost = stages_miss_most(w, &outside);
	if (lost) {
		ct_iterations_drop(w, lost);
		found = false;
	}
	if (rc || !p->calls)
		return rc;
	other_before = found && stages_other(&outside, false);
	other_after = found && stages_other(&outside, true);
	stages_each(w, &f, stages_firsts);
	/* A trace that was cut off may have the GPU's work without the calls that gave it. */
	if (w->gpu_last && f.first_use == UINT64_MAX)
		f.context_end = f.first_use = w->gpu_first;
	if (w->gpu_last > w->last_end)
		w->last_end = w->gpu_last;
	stages_each(w, &f, stages_data);
	stages_each(w, &f, stages_context);
	if (!f.context_end)	/* libraries can be loaded without a context */
		f.context_end = f.late_context_end;
	stages_each(w, &f, stages_modules);
	rc = stages_weights(w, &f, found && !other_before ? p->iterations[0].begin :
			    w->launches_count ? w->launches[w->launches_count / 2] : UINT64_MAX);
	if (rc)
		return rc;
	/*
	 * A trace may begin in the middle (of a flight recorder, or of a program that ran
	 * already): where no context is made, but something is done with one.
	 */
	if (f.context_end || f.first_use == UINT64_MAX) {
		stages_add(w, CT_STAGE_STARTUP, f.first_call);
		stages_add(w, CT_STAGE_INIT, f.context_end ? f.context_end : UINT64_MAX);
	} else if (found && steady == p->iterations[0].begin && steady - p->begin <= 2 * usual) {
		steady = 0;	/* and in the steady state */
	}
	stages_add_code(w, &f);
	if (!stages_only_copies(w, &f, found))
		stages_add_weights(w, &f, found);
	if (found) {
		stages_add(w, other_before ? CT_STAGE_EXECUTION : CT_STAGE_WARMUP, steady);
		stages_add(w, CT_STAGE_STEADY, stages_steady_end(w));
	}
	if (!found || other_after)
		stages_add(w, CT_STAGE_EXECUTION, w->last_end);
	stages_add(w, CT_STAGE_TEARDOWN, p->end);
	return 0;
}
