// SPDX-License-Identifier: LGPL-2.1-or-later
/* Rules on startup, and on code that is loaded where the program should be warm. */
#include "explain/rules/rule_common.h"
#include "view/term.h"

struct loads {
	uint64_t count, ns, loaded, iterations;
	const struct ct_fact *most;
};

static void modules_collect(const struct ct_scope_facts *facts, struct loads *l)
{
	*l = (struct loads){ .ns = facts->modules.total };
	for (unsigned int i = 0; i < facts->count; i++) {
		const struct ct_fact *f = &facts->list[i];

		if (!ct_class_is(f->class, CT_IS_CODE))
			continue;
		l->count += f->count;
		l->loaded += ct_class_is(f->class, CT_IS_LOAD) ? f->count : 0;
		if (f->iterations > l->iterations)
			l->iterations = f->iterations;
		if (!l->most || f->total > l->most->total)
			l->most = f;
	}
}

void ct_rule_lazy_loading(struct ct_explain *x, const struct ct_rule *rule)
{
	struct ct_finding *f;
	struct loads l;
	char time[64], a[CT_TERM_TEXT], b[CT_TERM_TEXT], hit[96] = "";

	modules_collect(ct_rule_facts(x, CT_SCOPE_STEADY), &l);
	if (!l.most || ct_rule_share(x, CT_SCOPE_STEADY, l.ns) < rule->threshold || l.ns < 1000000)
		return;
	if (x->process->iterations_count)
		snprintf(hit, sizeof(hit), "; %s of %s iterations %s hit", ct_term_count(a, l.iterations),
			 ct_term_count(b, x->iterations), l.iterations == 1 ? "is" : "are");
	f = ct_explain_add(x, rule, CT_SCOPE_STEADY, CT_SURE, l.ns,
			   "Code is loaded in the %s: %s call%s (%s of them load%s a module) take%s %s, most of "
			   "it %s%s.", ct_explain_main(x), ct_term_count(a, l.count), ct_explain_s(l.count), ct_term_count(b, l.loaded),
			   l.loaded == 1 ? "s" : "", l.count == 1 ? "s" : "",
			   ct_explain_time(x, CT_SCOPE_STEADY, l.ns, time), l.most->class->name, hit);
	ct_explain_advise(x, f, "Use every kernel once before the loop (a warm-up with all shapes), or load eagerly "
			  "(CUDA_MODULE_LOADING=EAGER).");
	ct_explain_show(f, &l.most->longest);
	ct_explain_show(f, &l.most->first);
}

void ct_rule_startup_modules(struct ct_explain *x, const struct ct_rule *rule)
{
	struct ct_finding *f;
	struct loads l;
	char time[64];

	modules_collect(ct_rule_facts(x, CT_SCOPE_STARTUP), &l);
	if (!l.most || ct_rule_share(x, CT_SCOPE_STARTUP, l.ns) < rule->threshold)
		return;
	f = ct_explain_add(x, rule, CT_SCOPE_STARTUP, CT_SURE, l.ns,
			   "Loading of code takes %s of the startup: %llu module%s, most of the time in %s.",
			   ct_explain_time(x, CT_SCOPE_STARTUP, l.ns, time), (unsigned long long)l.loaded,
			   l.loaded == 1 ? "" : "s", l.most->class->name);
	ct_explain_advise(x, f, "Load lazily (CUDA_MODULE_LOADING=LAZY is the default), keep the compiler's cache "
			  "(CUDA_CACHE_PATH) on a local disk, and ship code for this GPU so that nothing is compiled.");
	ct_explain_show(f, &l.most->longest);
}
