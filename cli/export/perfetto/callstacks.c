// SPDX-License-Identifier: LGPL-2.1-or-later
/* See callstacks.h. */
#include "export/perfetto/callstacks.h"

/* Fields of Perfetto's Frame and Callstack, and Frame.Kind. */
enum {
	FRAME_NUMBER = 1, FRAME_FUNCTION = 2, FRAME_SOURCE = 5, FRAME_LINE = 6, FRAME_KIND = 7,
	CALLSTACK_NUMBER = 1, CALLSTACK_FRAME = 2,
	KIND_NATIVE = 1, KIND_INTERPRETED = 3,
};

static uint64_t callstacks_text(struct ct_intern *intern, enum ct_intern_kind kind, const char *text, int len)
{
	uint64_t number = ct_intern(intern, kind, text, (size_t)len);

	return number ? number : ct_intern_new(intern, kind, text, (size_t)len);
}

static uint64_t callstacks_frame(struct ct_callstacks *c, struct ct_intern *intern, const struct ct_stack_frame *f)
{
	uint64_t at = (uint64_t)f->function << 32 | f->line;
	struct ct_callstack_frame *known = ct_keyed_get(&c->frames, at);
	uint64_t function, source = 0;
	bool python = f->language_len == 6 && !memcmp(f->language, "python", 6);

	if (known)
		return known->number;
	known = ct_keyed_put(&c->frames, at);
	if (!known) {
		intern->added.failed = true;
		return 0;
	}
	function = callstacks_text(intern, CT_INTERN_FUNCTION, f->name, f->name_len);
	if (f->file_len)
		source = callstacks_text(intern, CT_INTERN_SOURCE, f->file, f->file_len);
	else if (f->object_len)
		source = callstacks_text(intern, CT_INTERN_SOURCE, f->object, f->object_len);
	known->number = ++intern->last[CT_INTERN_FRAME];
	ct_proto_number(&intern->entry, FRAME_NUMBER, known->number);
	ct_proto_number(&intern->entry, FRAME_FUNCTION, function);
	if (source)
		ct_proto_number(&intern->entry, FRAME_SOURCE, source);
	if (f->line)
		ct_proto_number(&intern->entry, FRAME_LINE, f->line);
	ct_proto_number(&intern->entry, FRAME_KIND, python ? KIND_INTERPRETED : KIND_NATIVE);
	ct_proto_message(&intern->added, CT_INTERN_FRAME, &intern->entry);
	return known->number;
}

uint64_t ct_callstacks_number(struct ct_callstacks *c, struct ct_intern *intern, const struct ct_registry *reg, uint32_t node)
{
	uint64_t frames[CT_STACK_DEPTH], number;
	struct ct_callstack *known;
	struct ct_stack_frame f;
	unsigned int depth = 0;
	int rc = 0;

	/* Processes, and who samples them, number the same stacks each for itself. */
	node = node ? ct_stack_same(&c->tree, reg, node, &rc) : 0;
	known = node ? ct_keyed_get(&c->known, node) : NULL;
	if (known)
		return known->number;
	for (uint32_t at = node; at && depth < CT_STACK_DEPTH && ct_stack_frame(reg, at, &f); at = f.parent)
		frames[depth++] = callstacks_frame(c, intern, &f);
	known = depth ? ct_keyed_put(&c->known, node) : NULL;
	if (rc || (depth && !known))
		intern->added.failed = true;
	if (!known)
		return 0;
	number = known->number = ++intern->last[CT_INTERN_CALLSTACK];
	ct_proto_number(&intern->entry, CALLSTACK_NUMBER, number);
	/* The outermost one first. */
	while (depth)
		ct_proto_number(&intern->entry, CALLSTACK_FRAME, frames[--depth]);
	ct_proto_message(&intern->added, CT_INTERN_CALLSTACK, &intern->entry);
	return number;
}

void ct_callstacks_free(struct ct_callstacks *c)
{
	ct_keyed_free(&c->known);
	ct_keyed_free(&c->frames);
	ct_stack_tree_free(&c->tree);
}
