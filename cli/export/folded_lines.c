// SPDX-License-Identifier: LGPL-2.1-or-later
/* Folded stacks of lines of the program: see folded_lines.h. */
#include "export/folded_lines.h"

#include <errno.h>

#include "analysis/stacks/costs.h"
#include "base/out.h"

void ct_folded_word(struct ct_out *out, const char *word)
{
	for (; *word; word++)
		ct_out_char(out, *word == ';' || (unsigned char)*word < ' ' ? '_' : *word);
}

/* The outermost first: numbers of callers are smaller, so this ends. */
static void lines_frames(struct ct_out *out, const struct ct_registry *reg, uint32_t node, unsigned int depth)
{
	struct ct_stack_frame f;
	char words[CT_STRING_MAX];

	if (depth == CT_STACK_DEPTH || !ct_stack_frame(reg, node, &f))
		return;
	lines_frames(out, reg, f.parent, depth + 1);
	ct_folded_word(out, ct_stack_words(&f, words, sizeof(words)));
	ct_out_char(out, depth ? ';' : ' ');
}

/* Is the cost that of several processes?  Then each is a frame of its own. */
static bool lines_several(const struct ct_stack_costs *s, unsigned int weight)
{
	uint64_t part = UINT64_MAX;

	for (size_t i = 0; i < s->sums.count; i++) {
		if (!ct_stack_cost_sum(&s->sums.list[i].cost, weight))
			continue;
		if (part != UINT64_MAX && part != s->sums.list[i].part)
			return true;
		part = s->sums.list[i].part;
	}
	return false;
}

int ct_folded_lines(const struct ct_export *x, struct ct_error *err)
{
	static const struct ct_analyser *const costs = &ct_stack_processes_analyser;
	struct ct_engine_options options = { .filter = { .layer = -1, .category = -1 } };
	struct ct_engine *e = ct_engine_run(x->trace, &costs, 1, &options, err);
	const struct ct_analysis *a;
	const struct ct_stack_costs *s;
	bool some = false, several;
	struct ct_out out;
	char name[96];
	int rc;

	if (!e)
		return -err->code;
	rc = ct_out_open(&out, x->fd);
	if (rc) {
		ct_engine_free(e);
		return rc;
	}
	a = ct_engine_result(e, costs);
	s = a->state;
	several = lines_several(s, x->weight);
	for (size_t i = 0; i < s->sums.count; i++) {
		uint64_t value = ct_stack_cost_sum(&s->sums.list[i].cost, x->weight);

		if (!value)
			continue;
		some = true;
		if (several) {
			ct_folded_word(&out, ct_processes_name(a->processes, s->sums.list[i].part, name, sizeof(name)));
			ct_out_char(&out, ';');
		}
		if (s->sums.list[i].node)
			lines_frames(&out, &x->trace->reg, s->sums.list[i].node, 0);
		else
			ct_out_text(&out, "(no stack) ");
		ct_out_u64(&out, value);
		ct_out_char(&out, '\n');
	}
	rc = ct_out_close(&out);
	ct_engine_free(e);
	if (!rc && !some)
		return ct_fail(err, ENODATA, "the trace has nothing of this weight: stacks come from record --stacks, samples from its --sample, times of the GPU from its --gpu");
	return rc;
}
