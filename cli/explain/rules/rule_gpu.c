// SPDX-License-Identifier: LGPL-2.1-or-later
/* Rules that only records of the GPU can feed: why it is idle, and what it works on. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "spans/work.h"
#include "analysis/gpu/idle_causes.h"
#include "base/keyed.h"
#include "explain/rules/rule_common.h"
#include "table/short_name.h"
#include "trace/gpu/gpu_causes.h"
#include "view/term.h"

#define CAUSES_NAMED	3	/* of an idle time */
#define KERNELS_NAMED	3
#define GRAPHS		UINT32_MAX	/* instead of the name of a kernel */
#define KERNELS_MAX	65536u	/* of all processes; further ones are one of their process */
#define KERNELS_OTHER	(GRAPHS - 1)

/* -------------------------------------------------------------- idle times --- */

/* A scope is made of stages. */
static bool gpu_in_scope(unsigned int stage)
{
	return ct_stage_is_main(stage);
}

static uint64_t gpu_idle_of(const struct ct_gpu_idle_device *d)
{
	return CT_STAGES_MAIN(d->idle);
}

/* The GPU of the process that was idle for longest, or NULL. */
static const struct ct_gpu_idle_device *gpu_most_idle(const struct ct_explain *x, unsigned int *devices)
{
	const struct ct_gpu_idle *idle = ct_explain_state(x, &ct_gpu_idle_analyser);
	const struct ct_gpu_idle_device *best = NULL;

	*devices = 0;
	for (unsigned int i = 0; i < idle->devices_count; i++) {
		const struct ct_gpu_idle_device *d = idle->devices[i];

		if (d->process != (int)x->index || d->pid != x->process->pid)
			continue;
		++*devices;
		if (!best || gpu_idle_of(d) > gpu_idle_of(best))
			best = d;
	}
	return best;
}

/* A graph is the remedy of what repeats exactly alone: the rule cuda-graph says so. */
static const char *gpu_advice(const struct ct_explain *x, enum ct_idle_cause cause)
{
	switch (cause) {
	case CT_IDLE_SYNC:
		return "Synchronise less often, so that work is queued when the GPU gets done (.item(), .cpu() and print "
		       "of a tensor synchronise).";
	case CT_IDLE_QUEUED:
		return "The host is not late: the GPU pauses between kernels that are queued. Give it fewer and longer ones "
		       "(fused operations, a larger batch), or work of several streams that fills the pauses.";
	case CT_IDLE_LAUNCH: case CT_IDLE_START:
		if (ct_rule_launches_graphs(x))
			return "Launch before the GPU gets done: queue the next graph while this one runs, or put more work into "
			       "each (a larger batch, several steps).";
		return "Launch less often: fused kernels (torch.compile), or more work for each launch.";
	case CT_IDLE_MEMORY:
		return "Keep memory: allocate once, or from a pool (cuMemAllocAsync, a caching allocator).";
	case CT_IDLE_MODULE:
		return "Load code before: warm up with all shapes, CUDA_MODULE_LOADING=EAGER.";
	case CT_IDLE_DRIVER:
		return "See which ioctls (cudatrace report ioctl_sum) and which calls make them (explain --call).";
	case CT_IDLE_OFF:
		return "Give the launching thread a CPU of its own: see who ran instead (cudatrace report switches).";
	default:
		return "Let the host run ahead: queue the next step before the results of this one are needed, or "
		       "see which lines of the program take the time (record --stacks, report lines).";
	}
}

/* "application 7.07 ms, memory calls 540 us"; the largest first.  Return: the largest cause. */
static enum ct_idle_cause gpu_name_causes(const struct ct_gpu_idle_device *d, char *buf, size_t size)
{
	uint64_t sums[CT_IDLE_CAUSE_COUNT] = { 0 };
	enum ct_idle_cause first = CT_IDLE_APP;
	char ns[CT_TERM_TEXT];
	size_t used = 0;

	for (unsigned int i = 0; i < CT_IDLE_CAUSE_COUNT; i++)
		sums[i] = CT_STAGES_MAIN(d->causes, [i].total);
	for (unsigned int n = 0; n < CAUSES_NAMED && used < size; n++) {
		unsigned int most = 0;

		for (unsigned int i = 1; i < CT_IDLE_CAUSE_COUNT; i++)
			most = sums[i] > sums[most] ? i : most;
		if (!sums[most] || (n && sums[most] * 100 < gpu_idle_of(d)))
			break;
		if (!n)
			first = most;
		used += snprintf(buf + used, size - used, "%s%s %s", n ? ", " : "", ct_idle_cause_word[most],
				 ct_term_ns(ns, sums[most]));
		sums[most] = 0;
	}
	return first;
}

/*
 * ns of the steady state in which the GPU had no work, as report gaps has it; more than its gaps where one is
 * in two stages.  Without records of all the steady state its gaps alone.
 */
static uint64_t gpu_all_idle(const struct ct_explain *x, const struct ct_gpu_idle_device *d)
{
	uint64_t wall = x->wall[CT_SCOPE_STEADY], busy;

	for (unsigned int i = 0; x->busy && i < x->busy->count; i++) {
		const struct ct_gpu_busy_device *device = &x->busy->devices[i];

		if (device->gpu != d->gpu)
			continue;
		/* While it only waits for other ranks there is no gap. */
		busy = CT_STAGES_MAIN(device->stages, .busy) + CT_STAGES_MAIN(device->stages, .waiting);
		return wall > busy ? wall - busy : 0;
	}
	return gpu_idle_of(d);
}

static const struct ct_gpu_gap *gpu_longest(const struct ct_gpu_idle_device *d)
{
	const struct ct_gpu_gap *best = NULL;

	for (unsigned int i = 0; i < CT_STAGE_COUNT; i++)
		if (gpu_in_scope(i) && d->longest[i].duration && (!best || d->longest[i].duration > best->duration))
			best = &d->longest[i];
	return best;
}

static const char *gpu_work(const struct ct_explain *x, const struct ct_gpu_work_name *work, char buf[80])
{
	char graph[40], name[256];
	const char *text = ct_gap_work(work, x->analysis->names, graph, sizeof(graph));

	return ct_term_clean(buf, 80, ct_short_kernel(name, sizeof(name), text), 60);
}

/* " Of the time in gaps 41 % is in 1,204 gaps from gemm to softmax (12.3 ms, median 8.1 us)." */
static void gpu_name_pair(const struct ct_explain *x, const struct ct_gpu_idle_device *d, char *buf, size_t size)
{
	const struct ct_gap_pair *first = NULL;
	char previous[80], next[80], ns[CT_TERM_TEXT], median[CT_TERM_TEXT], n[CT_TERM_TEXT], each[64] = "";

	*buf = 0;
	for (size_t i = 0; i < d->steady.count; i++) {
		const struct ct_gap_pair *pair = &d->steady.list[i];

		if (!first || ct_gap_pair_order(&pair, &first) < 0)
			first = pair;
	}
	if (!first || !first->next.class)
		return;
	if (first->count > 1)
		snprintf(each, sizeof(each), ", median %s",
			 ct_term_ns(median, ct_gap_pair_median((struct ct_gap_pair *)first)));
	snprintf(buf, size, " Of the time in gaps %.0f %% is in %s gap%s from %s to %s (%s%s).",
		 gpu_idle_of(d) ? 100.0 * first->total / gpu_idle_of(d) : 0, ct_term_count(n, first->count),
		 first->count == 1 ? "" : "s", gpu_work(x, &first->previous, previous),
		 gpu_work(x, &first->next, next), ct_term_ns(ns, first->total), each);
}

void ct_rule_gpu_idle(struct ct_explain *x, const struct ct_rule *rule)
{
	unsigned int devices;
	const struct ct_gpu_idle_device *d = gpu_most_idle(x, &devices);
	const struct ct_gpu_gap *gap = d ? gpu_longest(d) : NULL;
	char time[64], causes[300] = "", pair[320], gaps[CT_TERM_TEXT], longest[CT_TERM_TEXT], which[40] = "The GPU";
	enum ct_idle_cause cause;
	struct ct_finding *f;
	uint64_t idle;

	if (!gap || ct_rule_share(x, CT_SCOPE_STEADY, gpu_idle_of(d)) < rule->threshold)
		return;
	idle = gpu_all_idle(x, d);
	cause = gpu_name_causes(d, causes, sizeof(causes));
	gpu_name_pair(x, d, pair, sizeof(pair));
	if (devices > 1)
		snprintf(which, sizeof(which), "GPU %u (of %u)", d->gpu, devices);
	f = ct_explain_add(x, rule, CT_SCOPE_STEADY, CT_SURE, idle,
			   "%s is idle for %s between its work, in %s gaps (measured). What the launching thread%s "
			   "did meanwhile: %s. The longest gap has %s.%s", which,
			   ct_explain_time(x, CT_SCOPE_STEADY, idle, time),
			   ct_term_count(gaps, CT_STAGES_MAIN(d->gaps)),
			   ct_explain_s(ct_account_turns(x->account)), causes,
			   ct_term_ns(longest, gap->duration), pair);
	ct_explain_advise(x, f, "%s", gpu_advice(x, cause));
	f->remedy = cause == CT_IDLE_SYNC ? CT_REMEDY_SYNC : cause == CT_IDLE_APP ? CT_REMEDY_APPLICATION : CT_REMEDY_OWN;
	if (gap->call)
		ct_explain_show(f, &(struct ct_evidence){
			.op_id = gap->op_id, .ts = gap->call_begin, .tid = gap->tid, .class = gap->call,
		});
}

/* ----------------------------------------------------------------- kernels --- */

struct gpu_kernel {
	uint64_t key;			/* process, by its index, and name */
	uint32_t process, name;		/* index; id of the string, or GRAPHS */
	uint64_t count, ns;
	struct ct_evidence longest;	/* the call of its longest run */
};

struct gpu_kernels {
	CT_KEYED(struct gpu_kernel);
};

static bool gpu_kernels_wants(const struct ct_class *class)
{
	return class->layer == CT_LAYER_GPU && (ct_gpu_is_kernel(class) || ct_class_is(class, CT_IS_GPU_GRAPH));
}

static int gpu_kernels_event(struct ct_analysis *a, const struct ct_trace_event *e)
{
	const struct ct_process_phases *p = ct_phases_process(a->phases, e->record->pid, e->begin);
	/* A graph has one record, not one for each of its kernels. */
	bool graph = ct_class_is(e->class, CT_IS_GPU_GRAPH);
	uint32_t name = graph ? 0 : ct_record_kernel(e->record, a->names->reg);
	const struct ct_cause *cause = e->point->cause;
	struct gpu_kernels *s = a->state;
	struct gpu_kernel *k;
	uint64_t key;

	if (!p || !gpu_in_scope(ct_phases_stage(p, e->begin)))
		return 0;
	name = graph ? GRAPHS : name;
	key = (uint64_t)(p - a->phases->processes) << 32;
	if (s->count >= KERNELS_MAX && !ct_keyed_get(s, key | name))
		name = KERNELS_OTHER;
	k = ct_keyed_put(s, key | name);
	if (!k)
		return -ENOMEM;
	k->process = p - a->phases->processes;
	k->name = name;
	k->count++;
	k->ns += e->duration;
	if (cause && e->duration >= k->longest.ns)
		k->longest = (struct ct_evidence){ cause->op_id, cause->begin, e->duration, cause->tid, cause->class };
	return 0;
}

static void gpu_kernels_free(struct ct_analysis *a)
{
	struct gpu_kernels *s = a->state;

	ct_keyed_free(s);
}

const struct ct_analyser ct_gpu_kernels_analyser = {
	.on = CT_ON_END,
	.wants = gpu_kernels_wants,
	.phases = true,
	.state_size = sizeof(struct gpu_kernels),
	.event = gpu_kernels_event,
	.free = gpu_kernels_free,
};

/* The kernel of the process with most time, of those that have less than @below. */
static const struct gpu_kernel *gpu_next_kernel(const struct ct_explain *x, const struct gpu_kernels *s,
						const struct gpu_kernel *below)
{
	const struct gpu_kernel *best = NULL;

	for (unsigned int i = 0; i < s->count; i++) {
		const struct gpu_kernel *k = &s->list[i];

		if (k->process != x->index || k->name == KERNELS_OTHER || k == below ||
		    (below && (k->ns > below->ns || (k->ns == below->ns && k < below))))
			continue;
		if (!best || k->ns > best->ns)
			best = k;
	}
	return best;
}

void ct_rule_gpu_kernels(struct ct_explain *x, const struct ct_rule *rule)
{
	const struct gpu_kernels *s = ct_explain_state(x, &ct_gpu_kernels_analyser);
	const struct gpu_kernel *k = NULL, *first = NULL;
	const struct gpu_kernel *other = ct_keyed_get(s, (uint64_t)x->index << 32 | KERNELS_OTHER);
	char time[64], kernels[600] = "", short_name[256], clean[80], n[CT_TERM_TEXT];
	struct ct_finding *f;
	size_t used = 0;
	uint64_t busy, all = 0, ns = 0;

	if (other)
		ct_explain_unseen(x, "the GPU ran more than %s kernels of different names; %s runs of further ones, which took %s, "
				  "are not told apart.", ct_term_count(clean, KERNELS_MAX), ct_term_count(n, other->count), ct_term_ns(time, other->ns));
	if (!x->busy)
		return;
	busy = ct_explain_gpu_ns(x);
	for (unsigned int i = 0; i < s->count; i++)
		all += s->list[i].process == x->index ? s->list[i].ns : 0;
	/* Where kernels run at the same time, theirs together is more. */
	all = all > busy ? all : busy;
	if (ct_rule_share(x, CT_SCOPE_STEADY, busy) < rule->threshold)
		return;
	for (unsigned int i = 0; i < KERNELS_NAMED && used < sizeof(kernels); i++) {
		const char *name;

		k = gpu_next_kernel(x, s, k);
		if (!k)
			break;
		first = first ? first : k;
		ns += k->ns;
		name = k->name == GRAPHS ? "launches of graphs" : ct_names_string(x->analysis->names, k->name);
		used += snprintf(kernels + used, sizeof(kernels) - used, "%s%.1f %% in %s (%s times)", i ? ", " : "",
				 all ? 100.0 * k->ns / all : 0,
				 ct_term_clean(clean, sizeof(clean), name ?
					       ct_short_kernel(short_name, sizeof(short_name), name) : "?", 60),
				 ct_term_count(n, k->count));
	}
	if (!first)
		return;
	f = ct_explain_add(x, rule, CT_SCOPE_STEADY, CT_SURE, ns < busy ? ns : busy,
			   "The GPU works for %s (measured), so its kernels limit. Of %s: %s.",
			   ct_explain_time(x, CT_SCOPE_STEADY, busy, time),
			   all > busy + busy / 100 ? "their time, several at once" : "that time", kernels);
	ct_explain_advise(x, f, "Make these kernels faster: lower precision, better libraries or shapes, fused operations "
			  "(torch.compile); a profiler of kernels (Nsight Compute) says what limits one.");
	ct_explain_show(f, &first->longest);
}
