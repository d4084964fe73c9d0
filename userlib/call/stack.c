// SPDX-License-Identifier: LGPL-2.1-or-later
/* See stack.h. */
#include "call/stack.h"

#include "base/elf.h"
#include "record/record.h"

/* What gives the GPU work or memory, or waits for it; where a capture begins and ends; and what is added to a graph. */
bool ct_stack_wanted(const struct ct_symbol *f)
{
	switch (f->category) {
	case CT_CAT_INIT:
		return !strcmp(f->name, "cuInit");
	case CT_CAT_KERNEL:
		return f->op == CT_OP_LAUNCH;
	case CT_CAT_GRAPH:
		return f->op == CT_OP_LAUNCH || f->op == CT_OP_CREATE ||
		       (!strncmp(f->name, "cuGraphAdd", 10) && strstr(f->name, "Node"));
	case CT_CAT_TRANSFER:
		return true;
	case CT_CAT_MEMORY:
		return f->op == CT_OP_ALLOC || f->op == CT_OP_FREE || f->op == CT_OP_SET || f->op == CT_OP_MAP ||
		       f->op == CT_OP_UNMAP || f->op == CT_OP_COPY || f->op == CT_OP_CREATE;
	case CT_CAT_SYNC:
		return true;
	case CT_CAT_MODULE:
		return f->op == CT_OP_LOAD || f->op == CT_OP_UNLOAD;
	case CT_CAT_CONTEXT:
		return f->op == CT_OP_CREATE || f->op == CT_OP_DESTROY;
	case CT_CAT_STREAM:
		return f->op == CT_OP_CREATE || !strncmp(f->name, "cuStreamBeginCapture", 20) ||
		       !strcmp(f->name, "cuStreamEndCapture");
	}
	return false;
}

static u32 (*take)(void);
static u32 looked;

void ct_stack_use(u32 (*function)(void))
{
	ct_store(&take, function);
	ct_store(&looked, 1u);
}

u32 ct_stack_take(void)
{
	/* By its name, as it is preloaded; where libcuda loads this library there is none. */
	if (unlikely(!ct_load(&looked))) {
		ct_store(&take, (u32 (*)(void))ct_find_next("cudatrace_stack"));
		ct_store(&looked, 1u);
	}
	return ct_load(&take) ? ct_load(&take)() : 0;
}

void ct_stack_record(struct ct_thread *t, u32 stack, u64 own, u64 op, u32 level)
{
	const struct ct_stack payload = { .stack = stack, .call = op };
	struct ct_record e = {
		.class = CT_CLASS_stack, .depth = (u8)(level < 255 ? level : 255),
		.flags = CT_F_INSTANT | CT_F_NO_RESULT, .size = sizeof(payload), .payload = &payload, .op = own,
	};

	ct_record(t, &e);
}
