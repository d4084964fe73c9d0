// SPDX-License-Identifier: LGPL-2.1-or-later
/* A rule on errors that the program ignored: it called the same function again and again. */
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
