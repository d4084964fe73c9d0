// SPDX-License-Identifier: LGPL-2.1-or-later
/* See parts.h. */
#include "ranks/parts.h"

#include <stdlib.h>

#include "base/sum.h"

bool ct_part_same_call(const struct ct_part *x, const struct ct_part *y)
{
	if (ct_part_is_pair(x))
		return x->size == y->size;
	return x->class == y->class && x->count == y->count && x->datatype == y->datatype &&
	       x->root == y->root && x->reduction == y->reduction;
}

uint64_t ct_collectives_unsure(const struct ct_collectives *c, uint32_t pid, uint32_t other)
{
	const struct ct_source *a, *b;

	if (!c->sources || ct_collectives_source(c, pid) == ct_collectives_source(c, other))
		return 0;
	a = &c->sources[ct_collectives_source(c, pid)];
	b = &c->sources[ct_collectives_source(c, other)];
	return ct_sum(a->clock.uncertainty, b->clock.uncertainty);
}

void ct_collectives_free(struct ct_collectives *c)
{
	for (uint32_t i = 0; i < c->communicators_count; i++)
		free(c->communicators[i].members);
	free(c->communicators);
	free(c->operations);
	free(c->parts);
	free(c->by_launch);
	free(c->kernels);
	ct_keyed_free(&c->uncalled);
	ct_keyed_free(&c->own);
	ct_keyed_free(&c->left);
	*c = (struct ct_collectives){ 0 };
}
