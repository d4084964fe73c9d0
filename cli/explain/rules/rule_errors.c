// SPDX-License-Identifier: LGPL-2.1-or-later
/* Rules on errors: those that the program ignored, as it called the same function again and again; and the one that ended its work. */
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

void ct_rule_last_error(struct ct_explain *x, const struct ct_rule *rule)
{
	const struct ct_last_error *end = &x->facts->last_error;
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
