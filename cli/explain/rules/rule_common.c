// SPDX-License-Identifier: LGPL-2.1-or-later
/* What rules share; see rule_common.h. */
#include "explain/rules/rule_common.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/stacks/holders.h"
#include "analysis/stacks/hot.h"
#include "analysis/stacks/startup.h"

void *ct_rule_per_process(const struct ct_analysis *a, size_t size)
{
	return calloc(a->phases->processes_count + 1, size);
}

int ct_rule_process(const struct ct_analysis *a, const struct ct_trace_event *e, enum ct_scope *scope,
		    int64_t *iteration)
{
	const struct ct_process_phases *p = ct_phases_process(a->phases, e->track->pid, e->begin);

	if (!p || !e->track->tid)
		return -1;
	*scope = ct_scope_of(p, e->begin, iteration);
	return *scope == CT_SCOPE_COUNT ? -1 : p - a->phases->processes;
}

const char *ct_rule_waits(const struct ct_explain *x)
{
	static const char *const advice[CT_SAMPLE_STATES] = {
		[CT_SAMPLE_LOCK] = "It waits for another thread of the program: give that one a head start (more data loader workers, "
				   "prefetching, a longer queue), or make it faster. Where that one waits for requests, nothing is lost.",
		[CT_SAMPLE_GIL] = "Python runs one thread at a time: move the work of the line that holds the lock into another process "
				  "(multiprocessing), or into code that gives the lock up while it works (NumPy, compiled extensions). "
				  "sys.setswitchinterval() with less than 5 ms lets a thread that waits have it sooner; a free-threaded "
				  "build of Python has no such lock.",
		[CT_SAMPLE_SLEEP] = "It sleeps: wait for what is to come (an event, a queue) instead of for a time.",
		[CT_SAMPLE_SOCKET] = "It waits for data or requests from outside: fetch them ahead in another thread. Where no requests come, "
				     "nothing is lost.",
		[CT_SAMPLE_PIPE] = "It waits for another process: give that one a head start (more data loader workers, prefetching), or make "
				   "it faster.",
		[CT_SAMPLE_CHILD] = "It waits for a process that it has started: let that one run beside it.",
		[CT_SAMPLE_POLL] = "It waits for data or requests from outside: fetch them ahead in another thread. Where no requests come, "
				   "nothing is lost.",
	};

	if (x->elsewhere * 2 <= ct_explain_account(x, CT_SCOPE_STEADY, CT_ACCOUNT_APP))
		return NULL;
	if (x->waits_for == CT_SAMPLE_GIL && ct_holders_wait(ct_explain_state(x, &ct_stack_scopes_analyser), CT_STACK_PART(x->index, true)))
		return "The thread that holds Python's lock waits itself, and keeps the lock meanwhile: give it up in that call "
		       "(Py_BEGIN_ALLOW_THREADS in compiled code, nogil in Cython, ctypes.CDLL instead of ctypes.PyDLL).";
	return advice[x->waits_for];
}

const char *ct_rule_profile(const struct ct_explain *x)
{
	if (ct_stacks_recorded(x->trace))
		return "'cudatrace report lines' shows which lines of the program it is.";
	return "Record with 'cudatrace record --stacks': then 'cudatrace report lines' shows which lines of a Python program it is.";
}

bool ct_rule_host_known(const struct ct_explain *x)
{
	char states[CT_RULE_STATES];

	for (unsigned int i = 0; x->thread && i < CT_STAGE_COUNT; i++)
		if (x->thread->stages[i].ns[CT_ACCOUNT_OFF_CPU])
			return true;
	return *ct_rule_states(x, CT_SCOPE_STEADY, states);
}

const char *ct_rule_states(const struct ct_explain *x, enum ct_scope scope, char text[CT_RULE_STATES])
{
	const struct ct_stack_costs *costs = ct_explain_state(x, &ct_stack_scopes_analyser);
	uint64_t part = CT_STACK_PART(x->index, scope == CT_SCOPE_STEADY);
	char states[270], held[300] = "";

	ct_hot_states(costs, part, scope == CT_SCOPE_STARTUP, states, sizeof(states));
	/* As long as it is worth a word there. */
	if (strstr(states, ct_sample_words[CT_SAMPLE_GIL]))
		ct_holders_text(costs, &x->trace->reg, part, x->process->pid, held, sizeof(held));
	snprintf(text, CT_RULE_STATES, "%s%s%s%s", *states ? "; by samples " : "", states,
		 *held ? "; Python's lock is " : "", held);
	return text;
}

const char *ct_rule_startup(struct ct_explain *x, char text[512])
{
	char parts[500];
	int rc = ct_startup_text(ct_explain_state(x, &ct_stack_scopes_analyser), &x->trace->reg,
				 CT_STACK_PART(x->index, false), parts, sizeof(parts));

	x->error = x->error ? x->error : rc;
	snprintf(text, 512, "%s%s", *parts ? ": " : "", parts);
	return text;
}
