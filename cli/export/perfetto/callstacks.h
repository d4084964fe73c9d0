/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Stacks of a Perfetto trace: each stack, frame, function and file is written once, before its first use. */
#ifndef CT_CLI_PERFETTO_CALLSTACKS_H
#define CT_CLI_PERFETTO_CALLSTACKS_H

#include "export/perfetto/intern.h"
#include "trace/stacks/tree.h"

struct ct_callstack {
	uint64_t node, number;
};

struct ct_callstack_frame {
	uint64_t at;			/* function << 32 | line */
	uint64_t number;
};

/* Zeros are none. */
struct ct_callstacks {
	CT_KEYED(struct ct_callstack) known;
	CT_KEYED(struct ct_callstack_frame) frames;
	struct ct_stack_tree tree;
};

/* The number of the stack of @node; 0: it has none. */
uint64_t ct_callstacks_number(struct ct_callstacks *c, struct ct_intern *intern, const struct ct_registry *reg, uint32_t node);
void ct_callstacks_free(struct ct_callstacks *c);

#endif
