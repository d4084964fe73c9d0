// SPDX-License-Identifier: LGPL-2.1-or-later
/* A rule on ranks of a job that make the others wait. */
#include "analysis/ranks/job_verdict.h"
#include "explain/rules/rule_common.h"
#include "view/term.h"

static void ranks_advise(struct ct_explain *x, struct ct_finding *f, enum ct_late why)
{
	switch (why) {
	case CT_LATE_APP:
		ct_explain_advise(x, f, "Look at what this rank's program does between its calls (report lines; record --stacks): loading "
				  "of data, logging, checkpoints, evaluation on one rank alone. Do it in another process or thread, or "
				  "on all ranks alike.");
		break;
	case CT_LATE_MEMORY:
		ct_explain_advise(x, f, "Allocate once and use it again: a caching allocator that has no room (report memory), or "
				  "empty_cache() in the loop, makes this rank wait for its GPU.");
		break;
	case CT_LATE_MODULES:
		ct_explain_advise(x, f, "Load code before the loop (CUDA_MODULE_LOADING=EAGER, a warm-up on each rank).");
		break;
	case CT_LATE_TRANSFERS:
		ct_explain_advise(x, f, "Copy from pinned memory and ahead of need on this rank, as the others do.");
		break;
	case CT_LATE_OFF_CPU:
	case CT_LATE_DRIVER:
		ct_explain_advise(x, f, "Give this rank CPUs of its own, near its GPU (numactl, taskset), and see what else runs there.");
		break;
	case CT_LATE_KERNELS:
		ct_explain_advise(x, f, "The same kernels take longer on this GPU: look at its clocks, temperature and power "
				  "(nvidia-smi -q -d CLOCK,PERFORMANCE), and at other users of it.");
		break;
	case CT_LATE_WORK:
		ct_explain_advise(x, f, "Divide the work evenly: batches by tokens and not by samples, layers of a pipeline by their "
				  "time, experts by load.");
		break;
	default:
		ct_explain_advise(x, f, "Compare this rank's iterations with those of the others (report iterations, stages).");
	}
}

void ct_rule_late_rank(struct ct_explain *x, const struct ct_rule *rule)
{
	const struct ct_job *job = ct_explain_state(x, &ct_job_analyser);
	const struct ct_job_rank *r = ct_job_guilty(job, rule->threshold);
	struct ct_finding *f;
	enum ct_late why;
	char text[800];

	if (!r || r->process != x->index)
		return;
	why = ct_job_guilty_text(x->analysis, job, r, text, sizeof(text));
	/* The share that the text says: of the time of the one that waits, which is not quite as long as this one's. */
	f = ct_explain_add(x, rule, CT_SCOPE_STEADY, job->measured ? CT_SURE : CT_LIKELY,
			   (uint64_t)(ct_job_share(job, r) / 100 * x->wall[CT_SCOPE_STEADY]), "%s", text);
	f->at_most = !job->measured;
	f->least = job->measured ? 0 : (uint64_t)(ct_job_least(job, r) / job->ranks[r->victim].steps * r->steps);
	ranks_advise(x, f, why);
	if (r->worst_part)
		ct_explain_show(f, &(struct ct_evidence){
			.op_id = x->trace->summaries ? 0 : r->worst_part->op_id, .ts = r->worst_part->begin,
			.ns = r->worst_part->end - r->worst_part->begin, .tid = r->worst_part->tid,
			.class = r->worst_part->class,
		});
}
