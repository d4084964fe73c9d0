// SPDX-License-Identifier: LGPL-2.1-or-later
/* See verdict.h.  Must never say more than the accounts show. */
#include "analysis/verdict.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/gpu/coverage.h"
#include "analysis/gpu/idle_causes.h"
#include "analysis/program/outliers.h"
#include "analysis/stacks/holders.h"
#include "analysis/stacks/hot.h"
#include "trace/stacks/stacks.h"
#include "view/term.h"

#define MUCH	30.0	/* % of the wall time: enough to be the limit */
#define MOST	50.0
#define SOME	20.0	/* the host hardly waits for the GPU */
#define LITTLE	10.0
#define COVERED	95.0	/* % of the steady state: iterations that cover less say so */
#define LAUNCHED	80.0	/* % of the launches: a steady state that has fewer says so */
#define LAUNCHES	32u	/* fewer are no measure */
#define SHOWN	1.0	/* what takes less is left out of the sentence */

const char *ct_limit_word(enum ct_limit limit)
{
	/* "... is limited by" them. */
	static const char *const words[] = {
		[CT_LIMIT_UNKNOWN] = "not known", [CT_LIMIT_HOST] = "the host", [CT_LIMIT_GPU] = "the GPU",
		[CT_LIMIT_SYNC] = "synchronisation (host and GPU take turns)", [CT_LIMIT_TRANSFERS] = "transfers",
		[CT_LIMIT_DRIVER] = "the kernel driver", [CT_LIMIT_MODULES] = "loading of code", [CT_LIMIT_MEMORY] = "allocation of memory",
		[CT_LIMIT_OFF_CPU] = "the CPU: the launching thread is off it",
		[CT_LIMIT_RANKS] = "other ranks, which it waits for in collectives",
		[CT_LIMIT_PAUSES] = "pauses between iterations (no requests, or an evaluation, a checkpoint)",
		[CT_LIMIT_MIXED] = "several things together",
	};

	return words[limit];
}

/* Of several launching threads the time is by turns, and that of one of them is no part of it. */
static void verdict_polls(struct ct_verdict *v, const struct ct_polls *polls, unsigned int process)
{
	const struct ct_polls_thread *t = v->account->launching && ct_account_turns(v->account) <= 1 ?
					  ct_polls_of(polls, process, v->account->launching->tid) : NULL;

	v->polled = t ? t->app : 0;
	v->polling = t ? t->calls : 0;
	v->waits = t ? t->waits : 0;
	if (v->process->asks && v->waits < v->process->iterations_count)
		v->waits = v->process->iterations_count;
}

void ct_verdict_of(struct ct_verdict *v, const struct ct_analysis *a, unsigned int process)
{
	const struct ct_accounting *accounting = ct_analysis_state(a, &ct_accounting_analyser);
	const struct ct_idle *idle = ct_analysis_state(a, &ct_idle_analyser);
	const struct ct_gpu_busy *busy = ct_analysis_state(a, &ct_gpu_busy_analyser);
	const struct ct_process_phases *p = &a->phases->processes[process];
	uint64_t begin = 0, end = 0;

	ct_phases_main(p, &begin, &end);
	*v = (struct ct_verdict){
		.process = p, .account = &accounting->processes[process], .idle = &idle->processes[process],
		.simulated = a->trace->simulated, .partly = ct_registry_info(&a->trace->reg, CT_ONLY_INFO), .rank = ct_keyed_get(&a->collectives->own, p->pid) != NULL,
	};
	if (ct_gpu_covers(ct_analysis_state(a, &ct_gpu_coverage_analyser), p->pid, begin, end))
		v->busy = &busy->processes[process];
	v->elsewhere = ct_hot_elsewhere(ct_analysis_state(a, &ct_stack_scopes_analyser), CT_STACK_PART(process, true), &v->waits_for);
	if (v->waits_for == CT_SAMPLE_GIL)
		ct_holders_text(ct_analysis_state(a, &ct_stack_scopes_analyser), &a->trace->reg, CT_STACK_PART(process, true), p->pid,
				v->holders, sizeof(v->holders));
	v->measured = v->busy && v->idle->measured;
	verdict_polls(v, &accounting->polls, process);
	v->queued = ct_gpu_idle_queued(ct_analysis_state(a, &ct_gpu_idle_analyser), p);
}

/* ns of the steady state, or of the execution. */
static uint64_t verdict_wall(const struct ct_verdict *v)
{
	uint64_t ns = 0;

	for (unsigned int i = 0; i < v->process->stages_count; i++) {
		const struct ct_stage_span *s = &v->process->stages[i];

		if (ct_stage_is_main(s->stage))
			ns += s->end - s->begin;
	}
	return ns;
}

/* What the process does in it by its launching threads, in %. */
static double verdict_account(const struct ct_verdict *v, unsigned int account)
{
	uint64_t wall = verdict_wall(v);

	if (!v->account->launching || !wall)
		return 0;
	return 100.0 * CT_STAGES_MAIN(v->account->stages, .ns[account]) / wall;
}

static double verdict_idle(const struct ct_verdict *v, const uint64_t *stages)
{
	uint64_t wall = verdict_wall(v);

	return wall ? 100.0 * CT_STAGES_MAIN(stages) / wall : 0;
}

/* The share of the time between its calls in which the GPU had work for sure: of its application's, and off the CPU. */
struct verdict_polled {
	double app, off;
};

static struct verdict_polled verdict_polled(const struct ct_verdict *v)
{
	double app = verdict_account(v, CT_ACCOUNT_APP), off = verdict_account(v, CT_ACCOUNT_OFF_CPU);
	double polled = verdict_wall(v) ? 100.0 * v->polled / verdict_wall(v) : 0;
	struct verdict_polled p = { .app = polled < app ? polled : app };

	p.off = polled - p.app < off ? polled - p.app : off;
	return p;
}

static double verdict_polling(const struct ct_verdict *v)
{
	return verdict_wall(v) ? 100.0 * v->polling / verdict_wall(v) : 0;
}

struct shares {
	double wait, transfer, modules, memory, driver, off, app, idle, most_idle;
	double busy, copying;	/* of the GPU, where its records say it */
	double ranks;		/* it only waited for other ranks */
	double queued;		/* it was idle although it had work: not for want of the host */
	double pauses;		/* in the application, between iterations */
	double between;		/* of .idle: between iterations */
	double elsewhere;	/* in the application, without work of its own */
	uint64_t syncs;
	bool only_copies;	/* no launch, and more copies than sets */
};

/* Of the time in which the GPU worked: copies, in %.  Where both overlap, of the sum of both. */
static double verdict_copying(const struct ct_gpu_busy_process *p)
{
	const struct ct_gpu_busy_stage *stages = p->any.stages;
	uint64_t copies = CT_STAGES_MAIN(stages, .work[CT_WORK_COPIES]);
	uint64_t all = 0;

	for (unsigned int i = 0; i < CT_WORK_COUNT; i++)
		all += CT_STAGES_MAIN(stages, .work[i]);
	return all ? 100.0 * copies / all : 0;
}

/* @app: the share that it has of all the steady state */
static double verdict_pauses(const struct ct_verdict *v, double app)
{
	uint64_t other = v->account->stages[CT_STAGE_EXECUTION].ns[CT_ACCOUNT_APP];
	struct ct_account_covered c;

	ct_account_covered(v->account, v->process, &c);
	return c.covered ? app - 100.0 * (c.app + other) / verdict_wall(v) : 0;
}

/* Of the time in which the GPU had nothing to do, in %: between the iterations, where no synchronisation of theirs is why. */
static double verdict_between(const struct ct_verdict *v)
{
	uint64_t in = 0, idle = v->idle->stages[CT_STAGE_STEADY];

	for (uint32_t i = ct_phases_warmup(v->process); i < v->process->iterations_count; i++)
		in += v->idle->iterations[i];
	return in && in < idle && verdict_wall(v) ? 100.0 * (idle - in) / verdict_wall(v) : 0;
}

static struct shares verdict_shares(const struct ct_verdict *v)
{
	struct shares s = {
		.wait = verdict_account(v, CT_ACCOUNT_WAIT),
		.transfer = verdict_account(v, CT_ACCOUNT_CALLS + CT_CAT_TRANSFER),
		.modules = verdict_account(v, CT_ACCOUNT_CALLS + CT_CAT_MODULE),
		.memory = verdict_account(v, CT_ACCOUNT_CALLS + CT_CAT_MEMORY),
		.driver = verdict_account(v, CT_ACCOUNT_DRIVER),
		.off = verdict_account(v, CT_ACCOUNT_OFF_CPU),
		.app = verdict_account(v, CT_ACCOUNT_APP),
		.idle = verdict_idle(v, v->idle->stages),
	};
	struct verdict_polled polled = verdict_polled(v);
	uint64_t launches = 0, copies = 0, sets = 0;

	/* Who asks again and again waits, too. */
	s.app -= polled.app;
	s.off -= polled.off;
	s.wait += polled.app + polled.off + verdict_polling(v);
	s.most_idle = s.idle + verdict_idle(v, v->idle->submitting_ns);
	s.between = verdict_between(v);
	if (v->busy && verdict_wall(v)) {
		s.busy = 100.0 * CT_STAGES_MAIN(v->busy->any.stages, .busy) / verdict_wall(v);
		s.ranks = 100.0 * CT_STAGES_MAIN(v->busy->any.stages, .waiting) / verdict_wall(v);
		s.copying = verdict_copying(v->busy);
		s.queued = 100.0 * v->queued / verdict_wall(v);
	}
	for (unsigned int i = 0; i < CT_STAGE_COUNT; i++) {
		const struct ct_stage_account *stage = &v->account->stages[i];

		if (!ct_stage_is_main(i))
			continue;
		/* A copy that is waited for says as much. */
		s.syncs += stage->syncs + stage->waited;
		launches += stage->launches;
		copies += stage->copies - stage->sets;
		sets += stage->sets;
	}
	s.syncs += v->waits;
	s.only_copies = !launches && copies > sets;
	s.elsewhere = s.app * v->elsewhere;
	s.pauses = verdict_pauses(v, s.app);	/* of them: those before it asked in vain are none */
	return s;
}

static enum ct_limit verdict_limit(const struct ct_verdict *v, const struct shares *s)
{
	uint64_t iterations = v->process->iterations_count - ct_phases_warmup(v->process);

	if (!v->account->launching)
		return CT_LIMIT_UNKNOWN;
	/* While the GPU has work, it does not matter what else the host does. */
	if (v->busy && s->busy + s->queued >= 100 - LITTLE)
		return s->copying >= MOST && s->busy >= MOST ? CT_LIMIT_TRANSFERS : CT_LIMIT_GPU;
	if (s->ranks >= SOME && s->ranks > 100 - s->busy - s->ranks)
		return CT_LIMIT_RANKS;
	if (!v->busy && s->wait >= MOST && s->most_idle - s->between < LITTLE)
		return s->only_copies ? CT_LIMIT_TRANSFERS : CT_LIMIT_GPU;
	if (s->off >= MUCH)
		return CT_LIMIT_OFF_CPU;
	if (s->pauses >= MOST)
		return v->rank ? CT_LIMIT_HOST : CT_LIMIT_PAUSES;
	if (s->ranks >= SOME && s->ranks > s->app)
		return CT_LIMIT_RANKS;
	if (s->wait >= MOST)
		return CT_LIMIT_SYNC;
	if (s->transfer >= MUCH && s->transfer > s->app)
		return CT_LIMIT_TRANSFERS;
	if (s->modules >= MUCH && s->modules > s->app)
		return CT_LIMIT_MODULES;
	if (s->driver >= MUCH && s->driver > s->app)
		return CT_LIMIT_DRIVER;
	if (s->memory >= MUCH && s->memory > s->app)
		return CT_LIMIT_MEMORY;
	/* Without a synchronisation nothing says whether the GPU keeps up. */
	if (!v->busy && (iterations ? s->syncs * 2 < iterations : !s->syncs))
		return CT_LIMIT_UNKNOWN;
	if (s->wait < SOME)
		return CT_LIMIT_HOST;
	/* It waits, but its own work is what the GPU mostly waits for. */
	if (s->app >= MOST && (v->busy ? s->app >= 2 * s->wait : s->idle >= MOST))
		return CT_LIMIT_HOST;
	if (v->busy)
		return CT_LIMIT_SYNC;
	return (s->idle + s->most_idle) / 2 >= LITTLE ? CT_LIMIT_SYNC : CT_LIMIT_MIXED;
}

/* ---------------------------------------------------------------- sentences --- */

struct part {
	const char *words;
	double share;
};

static int verdict_by_share(const void *a, const void *b)
{
	double x = ((const struct part *)a)->share, y = ((const struct part *)b)->share;

	return x > y ? -1 : x < y;
}

/* What the process does with its time, the most first: "41.0 % launching, 2.0 % ...". */
static void verdict_parts(const struct ct_verdict *v, char *buf, size_t size)
{
	static const struct {
		const char *words;
		unsigned int accounts[2];
	} kinds[] = {
#define CALLS(category)	CT_ACCOUNT_CALLS + CT_CAT_##category
		{ "in the application", { CT_ACCOUNT_APP, CT_ACCOUNT_APP } },
		{ "waiting in synchronisations", { CT_ACCOUNT_WAIT, CT_ACCOUNT_WAIT } },
		{ "off the CPU", { CT_ACCOUNT_OFF_CPU, CT_ACCOUNT_OFF_CPU } },
		{ "in the kernel driver", { CT_ACCOUNT_DRIVER, CT_ACCOUNT_DRIVER } },
		{ "launching", { CALLS(KERNEL), CALLS(GRAPH) } },
		{ "copying", { CALLS(TRANSFER), CALLS(TRANSFER) } },
		{ "loading code", { CALLS(MODULE), CALLS(MODULE) } },
		{ "allocating and freeing memory", { CALLS(MEMORY), CALLS(MEMORY) } },
		{ "in calls of libnccl", { CALLS(COLLECTIVE), CALLS(COLLECTIVE) } },
#undef CALLS
	};
	struct verdict_polled polled = verdict_polled(v);
	struct part parts[sizeof(kinds) / sizeof(*kinds) + 2];
	unsigned int count = sizeof(kinds) / sizeof(*kinds), shown = 0;
	double others = 0;
	size_t used = 0;

	for (unsigned int i = CT_ACCOUNT_CALLS; i < CT_ACCOUNT_COUNT; i++)
		others += verdict_account(v, i);
	for (unsigned int i = 0; i < count; i++) {
		parts[i] = (struct part){ kinds[i].words, -(!i ? polled.app : i == 2 ? polled.off : 0) };
		for (unsigned int k = 0; k < 2 && (!k || kinds[i].accounts[k] != kinds[i].accounts[0]); k++) {
			double share = verdict_account(v, kinds[i].accounts[k]);

			parts[i].share += share;
			others -= kinds[i].accounts[k] >= CT_ACCOUNT_CALLS ? share : 0;
		}
	}
	parts[count++] = (struct part){ "in other calls", others - verdict_polling(v) };
	parts[count++] = (struct part){ "asking whether the GPU is done, which it is not", polled.app + polled.off + verdict_polling(v) };
	qsort(parts, count, sizeof(*parts), verdict_by_share);
	while (shown < count && parts[shown].share >= SHOWN)
		shown++;
	*buf = 0;
	for (unsigned int i = 0; i < shown && used < size; i++)
		used += snprintf(buf + used, size - used, "%s%.1f %% %s", !i ? "" : i + 1 < shown ? ", " : " and ",
				 parts[i].share, parts[i].words);
}

/* Their median, 0: there are none, or no memory; and what comes now and then: "" or a sentence. */
static uint64_t verdict_median(const struct ct_process_phases *p, char rare[256])
{
	struct ct_iteration_stats s;
	int rc = ct_iteration_stats(&s, p, false);
	uint64_t median = rc ? 0 : s.median;
	char text[240];

	*rare = 0;
	if (!rc && *ct_iteration_rare(p, &s, text))
		snprintf(rare, 256, " %s.", text);
	free(s.sorted);
	return median;
}

/*
 * ", which has 9 % of the launches": others were made before, as to compile or in another loop, or after.  Of iterations it is their
 * stage.  Where graphs are launched, each for the kernels that it captured, it is of kernels.
 */
static void verdict_launches(const struct ct_verdict *v, char buf[64])
{
	uint64_t all = 0, here = 0, graphs = 0, more = ct_phases_graph_kernels(v->process) - 1;

	for (unsigned int i = 0; i < CT_STAGE_COUNT; i++) {
		const struct ct_stage_account *s = &v->account->stages[i];

		all += s->launches + more * s->graphs;
		graphs += s->graphs;
		if (ct_stage_is_main(i) && (i == CT_STAGE_STEADY || !ct_phases_steady(v->process)))
			here += s->launches + more * s->graphs;
	}
	all -= v->process->captured < all ? v->process->captured : all;
	*buf = 0;
	if (all >= LAUNCHES && 100.0 * here < LAUNCHED * all)
		snprintf(buf, 64, ", which has %.0f %% of the %s", 100.0 * here / all, graphs ? "kernels launched" : "launches");
}

/* ", after 27.60 ms of other work (...)": what follows is of both. */
static void verdict_other(const struct ct_verdict *v, char buf[96])
{
	uint64_t other = ct_phases_other(v->process), begin, end;
	char ns[CT_TERM_TEXT];

	*buf = 0;
	if (other && ct_phases_main(v->process, &begin, &end))
		snprintf(buf, 96, ", %s %s of other work (another loop, or no pattern)",
			 begin < ct_phases_steady(v->process)->begin ? "after" : "before", ct_term_ns(ns, other));
}

#define NAMED	3u	/* threads of the sentence on turns */

/* "; the next work comes from thread 12 for 60.1 % of it and from thread 10 for 39.9 %" */
static void verdict_turns(const struct ct_verdict *v, unsigned int threads, char *buf, size_t size)
{
	uint64_t wall = verdict_wall(v);
	size_t used = 0;

	*buf = 0;
	for (unsigned int i = 0; i < threads && i < NAMED && used < size; i++) {
		uint64_t ns;
		const struct ct_launching_thread *t = ct_account_turn(v->account, i, &ns);

		if (t)
			used += snprintf(buf + used, size - used, "%sthread %u for %.1f %%%s",
					 !i ? "; the next work comes from " : i + 1 < threads ? ", from " : " and from ",
					 t->tid, wall ? 100.0 * ns / wall : 0, !i ? " of it" : "");
	}
	if (threads > NAMED && used < size)
		snprintf(buf + used, size - used, " and from %u more threads", threads - NAMED);
}

enum ct_limit ct_verdict_steady(const struct ct_verdict *v, char *buf, size_t size)
{
	struct shares s = verdict_shares(v);
	enum ct_limit limit = verdict_limit(v, &s);
	uint32_t iterations = v->process->iterations_count - ct_phases_warmup(v->process);
	unsigned int threads = ct_account_turns(v->account);
	struct ct_coverage covered;
	uint64_t median;
	char rare[256], what[200], why[600], parts[400], idle[160] = "", turns[200] = "", who[48], ns[CT_TERM_TEXT], n[CT_TERM_TEXT],
	     all[CT_TERM_TEXT], ranks[80] = "", launches[64], other[96];

	if (!verdict_wall(v) || !v->process->works) {
		snprintf(buf, size, v->partly ? "No call that gives the GPU work was recorded: some calls only were (record --functions, --types)." :
						"The process gave the GPU no work.");
		return CT_LIMIT_UNKNOWN;
	}
	ct_phases_coverage(v->process, &covered);
	median = verdict_median(v->process, rare);
	if (iterations && 100.0 * covered.covered < COVERED * covered.steady)
		snprintf(what, sizeof(what), "steady state of %s, of which %s iteration%s of %s (median) cover %.0f %%",
			 ct_term_ns(all, covered.steady), ct_term_count(n, iterations), iterations == 1 ? "" : "s",
			 ct_term_ns(ns, median), 100.0 * covered.covered / covered.steady);
	else if (iterations)
		snprintf(what, sizeof(what), "steady state, %s iteration%s of %s (median)",
			 ct_term_count(n, iterations), iterations == 1 ? "" : "s",
			 ct_term_ns(ns, median));
	else
		snprintf(what, sizeof(what), "execution, %s without a repeating pattern",
			 ct_term_ns(ns, verdict_wall(v)));
	if (limit == CT_LIMIT_UNKNOWN)
		snprintf(why, sizeof(why), "what limits it is not known%s", !v->account->launching ? ": no call that gives the GPU work was recorded" :
			 v->partly ? ", since some calls only were recorded" : ", since it hardly ever synchronises");
	else
		snprintf(why, sizeof(why), "limited by %s", ct_limit_word(limit));
	if ((limit == CT_LIMIT_HOST || limit == CT_LIMIT_PAUSES) && s.elsewhere >= SOME)
		snprintf(why + strlen(why), sizeof(why) - strlen(why), ", %s for %.1f %% of it (by samples)%s%s", ct_sample_words[v->waits_for],
			 s.elsewhere, *v->holders ? ", which is " : "", v->holders);
	verdict_parts(v, parts, sizeof(parts));
	if (*parts && threads > 1)
		verdict_turns(v, threads, turns, sizeof(turns));
	if (threads > 1)
		snprintf(who, sizeof(who), " Its %u launching threads spend ", threads);
	else
		snprintf(who, sizeof(who), " The launching thread spends ");
	if (v->busy && s.queued >= SHOWN)
		snprintf(idle, sizeof(idle), "%she GPU works for %.1f %% of it and is idle for %.1f %% although "
			 "work waits for it (measured)", *parts ? "; t" : " T", s.busy, s.queued);
	else if (v->busy)
		snprintf(idle, sizeof(idle), "%she GPU works for %.1f %% of it (measured)", *parts ? "; t" : " T", s.busy);
	else if (s.idle >= 0.05)
		snprintf(idle, sizeof(idle), "%s%s%.1f %%", *parts ? "; the GPU has nothing to do for " :
			 " The GPU has nothing to do for ", v->measured ? "" : "at least ", s.idle);
	if (v->busy && s.ranks >= SHOWN)
		snprintf(ranks, sizeof(ranks), ", and does nothing but wait for other ranks for %.1f %%", s.ranks);
	verdict_launches(v, launches);
	verdict_other(v, other);
	snprintf(buf, size, "%s%s%s%s: %s.%s%s%s%s%s%s%s", v->simulated ? "simulated GPU, " : "", what, launches, other, why,
		 *parts ? who : "", parts, turns, idle, ranks, *parts || *idle ? "." : "", rare);
	return limit;
}

void ct_verdict_startup(const struct ct_process_phases *p, char *buf, size_t size)
{
	const struct ct_stage_span *longest = NULL;
	uint64_t all = p->end - p->begin, startup = 0, teardown;
	size_t used = 0;
	char a[CT_TERM_TEXT], b[CT_TERM_TEXT];

	*buf = 0;
	for (unsigned int i = 0; i < p->stages_count && p->stages[i].stage < CT_STAGE_STEADY; i++) {
		const struct ct_stage_span *s = &p->stages[i];

		startup += s->end - s->begin;
		if (!longest || s->end - s->begin > longest->end - longest->begin)
			longest = s;
	}
	if (startup)
		used = snprintf(buf, size, "startup: %s, %.0f %% of the process's time; its longest part, %s, is %s.",
				ct_term_ns(a, startup), all ? 100.0 * startup / all : 0,
				ct_term_ns(b, longest->end - longest->begin), ct_stage_text[longest->stage]);
	/* What is said of the rest is not of all the program does. */
	teardown = p->stages_count && p->stages[p->stages_count - 1].stage == CT_STAGE_TEARDOWN ?
		   p->stages[p->stages_count - 1].end - p->stages[p->stages_count - 1].begin : 0;
	if (100.0 * teardown >= SOME * all && teardown && used < size)
		snprintf(buf + used, size - used, "%steardown: %s, %.0f %% of the process's time.", used ? " " : "",
			 ct_term_ns(a, teardown), 100.0 * teardown / all);
}
