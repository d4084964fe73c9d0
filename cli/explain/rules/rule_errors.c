// SPDX-License-Identifier: LGPL-2.1-or-later
/* Rules on errors: those that the program ignored, as it called the same function again and again; and the one that ended its work. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "decode/nv_decode.h"
#include "explain/rules/rule_common.h"
#include "view/term.h"

void ct_rule_errors(struct ct_explain *x, const struct ct_rule *rule)
{
	const struct ct_scope_facts *facts = ct_rule_facts(x, CT_SCOPE_STEADY);
	struct ct_finding *f;
	char time[64], count[CT_TERM_TEXT], all[CT_TERM_TEXT];

	for (unsigned int i = 0; i < facts->count; i++) {
		const struct ct_fact *fact = &facts->list[i];
		const char *code = cu_result_name(fact->code);

		if (!ct_class_is(fact->class, CT_IS_CUDA) || fact->failed < rule->threshold)
			continue;
		f = ct_explain_add(x, rule, CT_SCOPE_STEADY, CT_SURE, fact->failed_ns,
				   "%s failed %s times in %s calls (first with %s) and the program went on%s%s.",
				   fact->class->name, ct_term_count(count, fact->failed),
				   ct_term_count(all, fact->count), code ? code : "an unknown error",
				   fact->failed_ns ? "; that took " : "",
				   fact->failed_ns ? ct_explain_time(x, CT_SCOPE_STEADY, fact->failed_ns, time) : "");
		ct_explain_advise(x, f, "Check the result of %s; 'cudatrace report errors' lists all failures.",
				  fact->class->name);
		ct_explain_show(f, &fact->failure);
	}
}

/* What failed after the last work that a process gave the GPU. */
struct errors_end {
	struct ct_evidence failure;	/* the first of them; of no class: none */
	int64_t code;
	uint64_t size;			/* bytes of an allocation; 0: not known, or it is none */
};

struct errors_ends {
	struct errors_end *processes;	/* as phases->processes */
};

#define ERRORS_DEINITIALIZED	4	/* CUDA_ERROR_DEINITIALIZED: libcuda has ended, which programs meet as they end */

static int errors_ends_event(struct ct_analysis *a, const struct ct_trace_event *e)
{
	const struct ct_process_phases *p = ct_phases_process(a->phases, e->track->pid, e->begin);
	struct errors_ends *ends = a->state;
	struct errors_end *end;

	if (!p || !ct_class_is(e->class, CT_IS_WORK | CT_IS_WAIT | CT_IS_ALLOC | CT_IS_LOAD | CT_IS_CONTEXT))
		return 0;
	end = &ends->processes[p - a->phases->processes];
	if (!e->failed) {
		/* It went on.  Who waits for what was launched before, or frees, may end. */
		if (ct_class_is(e->class, CT_IS_WORK | CT_IS_ALLOC))
			*end = (struct errors_end){ 0 };
		return 0;
	}
	if (end->failure.class || e->record->result == ERRORS_DEINITIALIZED)
		return 0;
	ct_evidence_set(&end->failure, e);
	end->code = e->record->result;
	end->size = ct_class_is(e->class, CT_IS_ALLOC) ? ct_record_known(e->record, CT_KNOWN_SIZE) : 0;
	return 0;
}

static int errors_ends_begin(struct ct_analysis *a)
{
	struct errors_ends *ends = a->state;

	ends->processes = calloc(a->phases->processes_count + 1ul, sizeof(*ends->processes));
	return ends->processes ? 0 : -ENOMEM;
}

static void errors_ends_free(struct ct_analysis *a)
{
	struct errors_ends *ends = a->state;

	free(ends->processes);
}

const struct ct_analyser ct_error_ends_analyser = {
	.on = CT_ON_END | CT_ON_INSTANT,
	.phases = true,
	.state_size = sizeof(struct errors_ends),
	.begin = errors_ends_begin,
	.event = errors_ends_event,
	.free = errors_ends_free,
};

void ct_rule_last_error(struct ct_explain *x, const struct ct_rule *rule)
{
	const struct errors_ends *ends = ct_explain_state(x, &ct_error_ends_analyser);
	const struct errors_end *end = &ends->processes[x->index];
	enum ct_scope scope = x->wall[CT_SCOPE_STEADY] ? CT_SCOPE_STEADY : CT_SCOPE_STARTUP;
	char bytes[CT_TERM_TEXT], size[48] = "";
	const char *code = cu_result_name(end->code);
	struct ct_finding *f;

	if (!end->failure.class)
		return;
	if (end->size)
		snprintf(size, sizeof(size), " (%s)", ct_term_bytes(bytes, end->size));
	f = ct_explain_add(x, rule, scope, CT_SURE, 0, "%s%s failed with %s, and the process gave the GPU no work after that.",
			   end->failure.class->name, size, code ? code : "an unknown error");
	ct_explain_advise(x, f, "Look first at whether the program ended too early: what else is said here is of what it did until then. "
			  "'cudatrace report errors' lists all failures%s.",
			  end->size ? ", 'cudatrace report memory' what held the memory" : "");
	ct_explain_show(f, &end->failure);
}
