// SPDX-License-Identifier: LGPL-2.1-or-later
/* See perfetto_job.h. */
#include "export/perfetto/perfetto_job.h"

#include <errno.h>

static int job_put(struct ct_keyed *set, uint64_t key, uint64_t number)
{
	struct ct_perfetto_number *one = ct_keyed_make(set, sizeof(*one), key, 0, false);

	if (!one)
		return -ENOMEM;
	/* A kernel may serve several collectives: the first one counts. */
	one->number = one->number ? one->number : number;
	return 0;
}

int ct_perfetto_job(struct ct_perfetto_job *job, const struct ct_trace *t)
{
	struct ct_collectives c = { 0 };
	int rc = ct_collectives_there(&t->reg) ? ct_collectives_find(&c, t) : 0;

	for (size_t i = 0; i < c.operations_count && !rc; i++) {
		const struct ct_operation *o = &c.operations[i];

		for (uint32_t k = 0; k < o->count && o->complete && o->expected > 1 && !rc; k++) {
			const struct ct_part *p = &c.parts[o->first + k];

			rc = p->gpu_end ? job_put(&job->kernels.keyed, p->launch, i + 1) : job_put(&job->calls.keyed, p->op_id, i + 1);
		}
	}
	ct_collectives_free(&c);
	return rc;
}

void ct_perfetto_job_free(struct ct_perfetto_job *job)
{
	ct_keyed_free(&job->calls);
	ct_keyed_free(&job->kernels);
}
