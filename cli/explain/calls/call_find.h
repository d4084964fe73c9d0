/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds the calls that a request means, before what is inside them is collected. */
#ifndef CT_CLI_CALL_FIND_H
#define CT_CLI_CALL_FIND_H

#include "analysis/engine.h"
#include "explain/calls/call_request.h"

/* A call to look into. */
struct ct_call_target {
	uint64_t op_id, begin, end;	/* ns; end only where it returned */
	uint64_t key;			/* of its track */
	uint32_t pid, tid;
	const struct ct_class *class;
	bool returned;			/* its end is in the trace */
	bool abandoned;			/* it was left; its end is when that was noticed */
	bool begin_lost;
	uint64_t stream;		/* of cuStreamSynchronize: the handle that it waits for ... */
	bool one_stream;		/* ... which is one stream's, and known */
};

struct ct_call_found {
	const struct ct_call_request *request;
	struct ct_call_target targets[CT_CALLS_SLOWEST_MAX];	/* the longest first */
	unsigned int count;
	uint64_t unreturned;		/* calls that may be longer than those: they have no end */
	uint64_t unreturned_op;		/* the first of them */
	bool kernel;			/* of CT_CALL_SLOWEST: no program's call passed, these are the driver's */
	struct ct_call_target driver[CT_CALLS_SLOWEST_MAX];	/* internal */
	unsigned int driver_count;
};

/* ct_engine_options.arg: a struct ct_call_found with its request, which it fills. */
extern const struct ct_analyser ct_call_find_one, ct_call_find_slowest;

#endif
