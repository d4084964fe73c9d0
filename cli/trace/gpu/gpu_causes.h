/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What caused what the GPU did: the launch, copy or set, with its times and thread.  Works on the
 * points of a merge, in their order.
 */
#ifndef CT_CLI_GPU_CAUSES_H
#define CT_CLI_GPU_CAUSES_H

#include "trace/order.h"

struct ct_cause {
	uint64_t op_id;			/* as the call's points have it */
	uint64_t begin, end;		/* ns, of the call; end 0: it has not returned yet */
	uint32_t pid, tid;
	const struct ct_class *class;
	uint64_t stream;		/* the program's handle ... */
	bool has_stream;		/* ... if the call has one */
	uint32_t stack;			/* from where it was made, as the call's points have it */
	uint64_t records;		/* of the GPU that ended until now and were caused by it */
};

struct ct_causes;

/* NULL: no memory. */
struct ct_causes *ct_causes_new(const struct ct_registry *reg);

/*
 * Notes a call that gives the GPU work; sets the cause of a record of the GPU, if it is known, valid
 * until the next point.  0 or -ENOMEM.
 */
int ct_causes_point(struct ct_causes *c, struct ct_point *p);
void ct_causes_free(struct ct_causes *c);

#endif
