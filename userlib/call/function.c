// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * From a function's name: how it takes its arguments, what is recorded of it, and which
 * path its calls go; see function.h.
 */
#include "call/function.h"

#include "backend/backend.h"
#include "base/options.h"
#include "call/chosen.h"
#include "call/classify.h"
#include "call/collective.h"
#include "call/decode.h"
#include "call/extract.h"
#include "call/range.h"
#include "call/stack.h"

early_data const struct ct_call_above *ct_call_above;

static void function_fill(struct ct_slot *s)
{
	struct ct_symbol f;
	bool named = ct_classify(&f, s->symbol);
	bool nccl = ct_collective_is_name(s->symbol);
	struct ct_collective_symbol n = { 0 };
	struct ct_binding b;

	if (nccl) {
		n = ct_collective_symbol(s->symbol);
		f.words = n.words;
	}
	if (f.words != CT_WORDS_UNKNOWN) {
		s->words = f.words;
		s->flags = f.vector ? CT_SLOT_VECTOR : 0;
	} else {
		s->words = 16;
		s->flags = CT_SLOT_VECTOR | CT_SLOT_UNKNOWN;
	}
	s->layout = CT_LAYOUT_none;
	s->after = NULL;
	if (!named)
		return;
	if (f.query && !ct_options.time_queries)
		s->flags |= CT_SLOT_QUERY;
	if (f.category == CT_CAT_INIT || f.op == CT_OP_LOAD ||
	    (f.category == CT_CAT_CONTEXT && f.op == CT_OP_CREATE))
		s->flags |= CT_SLOT_RESCAN;
	if (ct_options.stacks && ct_stack_wanted(&f))
		s->flags |= CT_SLOT_STACK;
	b = nccl ? n.binding : ct_binding_of(f.name, f.version);
	s->layout = b.layout;
	s->size = b.size;
	s->extract = b.extract;
	if (nccl && b.extract)
		s->flags |= CT_SLOT_ONCE;
	if (!strcmp(f.name, "cuGetProcAddress"))
		s->after = ct_call_above->after_get_proc_address;
	switch (ct_range_role(s->symbol)) {
	case CT_RANGE_NONE: break;
	case CT_RANGE_BEGINS: s->flags |= CT_SLOT_BEGINS; break;
	case CT_RANGE_ENDS: s->after = ct_range_leave; break;
	}
}

void ct_function_fill(struct ct_slot *s)
{
	function_fill(s);
	/* The program may hold the thunk from a recording before, that was of other functions. */
	s->left_out = !ct_function_chosen(s->symbol);
	ct_function_route(s);
}

/* A quick one, if thunks.S can do what its calls need. */
static ct_way *function_way(const struct ct_slot *s)
{
	bool query = s->flags & CT_SLOT_QUERY;

	if (!s->class || s->flags & ~CT_SLOT_QUERY || s->after)
		return ct_call_above->full;
	if (!s->words && !s->extract)
		return query ? ct_call_above->query : ct_call_above->call;
	if (s->words <= CT_QUICK_WORDS && s->extract && s->size)
		return query ? ct_call_above->ask : ct_call_above->args;
	return ct_call_above->full;
}

/* Those that do more than being recorded go on with that. */
static void function_route(struct ct_slot *s, u32 outside)
{
	bool closed = s->left_out || outside != CT_RANGE_INSIDE;
	bool needed = !s->left_out && (s->after || s->flags & (CT_SLOT_RESCAN | CT_SLOT_BEGINS));

	ct_store(&s->flags, (u8)(closed && needed ? s->flags | CT_SLOT_CLOSED : s->flags & ~CT_SLOT_CLOSED));
	ct_store(&s->way, closed && !needed ? ct_call_above->pass : function_way(s));
}

void ct_function_route(struct ct_slot *s)
{
	u32 outside;

	/* It may begin or end meanwhile. */
	do {
		outside = ct_load(&ct_outside);
		function_route(s, outside);
	} while (ct_load(&ct_outside) != outside);
}

u16 ct_function_define(struct ct_slot *s)
{
	struct ct_class_text text;
	struct ct_symbol f;
	u32 id;

	/* A full disk or registry is asked again, but not at every call. */
	if (s->failures && s->failures++ & 255)
		return 0;
	if (!ct_classify(&f, s->symbol))
		return 0;
	text.name = f.name;
	text.symbol = s->symbol;
	text.category = f.category;
	text.op = f.op;
	text.layout = s->layout;
	id = ct_backend->define(&text);
	if (!id) {
		s->failures |= 1;
		return 0;
	}
	s->open = (u16)id | (u64)((u32)s->size << 8 |
		  (s->flags & CT_SLOT_QUERY ? CT_INFLIGHT_NO_BEGIN : 0)) << 32;
	ct_store(&s->class, (u16)id);
	ct_function_route(s);
	return (u16)id;
}
