// SPDX-License-Identifier: LGPL-2.1-or-later
/* See stacks.h.  Memory is bounded, whatever a trace holds. */
#include "trace/stacks/stacks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* Calls at a moment; of lost ones nothing comes.  Beyond, all are forgotten. */
#define STACKS_CALLS	(1u << 16)

int ct_stacks_note(struct ct_stacks *s, const struct ct_record *r, uint64_t who)
{
	uint64_t op = ct_record_known(r, CT_KNOWN_CALL);
	struct ct_stack_of *of;

	if (s->calls.count >= STACKS_CALLS)
		ct_stacks_free(s);
	of = ct_keyed_put_pair(&s->calls, op, who);
	if (!of)
		return -ENOMEM;
	of->node = ct_record_known(r, CT_KNOWN_STACK);
	return 0;
}

uint32_t ct_stacks_find(struct ct_stacks *s, const struct ct_point *p, uint64_t who)
{
	struct ct_stack_of *of;
	uint32_t node;

	if (!s->calls.count || p->record.class->layer != CT_LAYER_USER)
		return 0;
	of = ct_keyed_get_pair(&s->calls, p->record.op, who);
	if (!of)
		return 0;
	node = of->node;
	if (p->phase == 'E')
		ct_keyed_remove_pair(&s->calls, of);
	return node;
}

void ct_stacks_free(struct ct_stacks *s)
{
	ct_keyed_free(&s->calls);
}

/* "NUMBER" and the blank or end behind it. */
static bool stacks_number(const char **text, uint32_t *number)
{
	char *end;
	unsigned long value = **text >= '0' && **text <= '9' ? strtoul(*text, &end, 10) : UINT64_MAX;

	if (value > UINT32_MAX || (*end && *end != ' '))
		return false;
	*number = value;
	*text = *end ? end + 1 : end;
	return true;
}

bool ct_stack_frame(const struct ct_registry *reg, uint32_t node, struct ct_stack_frame *f)
{
	const char *text = node ? ct_registry_string(reg, node) : NULL, *name, *file;
	const struct ct_registry_address *address;
	uint32_t base = ct_registry_base(reg, node);

	if (!text || !stacks_number(&text, &f->parent) || !stacks_number(&text, &f->function) ||
	    !stacks_number(&text, &f->line) || f->parent >= node - base)
		return false;
	f->parent += f->parent ? base : 0;
	f->function += base;
	address = ct_registry_address(reg, f->function);
	if (address) {
		f->function = address->function;
		f->line = address->line;
	}
	f->function = ct_registry_first(reg, f->function);
	text = ct_registry_string(reg, f->function);
	name = text ? strchr(text, '\t') : NULL;
	file = name ? strchr(name + 1, '\t') : NULL;
	if (!file)
		return false;
	f->language = text;
	f->language_len = name - text;
	f->name = name + 1;
	f->name_len = file - f->name;
	f->file = file + 1;
	f->file_len = strcspn(f->file, "\t");
	f->object = f->file + f->file_len + (f->file[f->file_len] == '\t');
	f->object_len = strcspn(f->object, "\t");
	return true;
}

const char *ct_stack_words(const struct ct_stack_frame *f, char *buf, size_t size)
{
	if (!f->file_len && f->object_len)
		snprintf(buf, size, "%.*s (%.*s)", f->name_len, f->name, f->object_len, f->object);
	else if (!f->file_len)
		snprintf(buf, size, "%.*s", f->name_len, f->name);
	else if (!f->line)
		snprintf(buf, size, "%.*s (%.*s)", f->name_len, f->name, f->file_len, f->file);
	else
		snprintf(buf, size, "%.*s (%.*s:%u)", f->name_len, f->name, f->file_len, f->file, f->line);
	return buf;
}

const char *const ct_sample_word[CT_SAMPLE_STATES] = {
	[CT_SAMPLE_UNKNOWN] = "unknown", [CT_SAMPLE_RUNNING] = "running", [CT_SAMPLE_SLEEP] = "sleep",
	[CT_SAMPLE_LOCK] = "lock", [CT_SAMPLE_FILE] = "file", [CT_SAMPLE_SOCKET] = "socket", [CT_SAMPLE_PIPE] = "pipe",
	[CT_SAMPLE_CHILD] = "child", [CT_SAMPLE_POLL] = "poll", [CT_SAMPLE_DEVICE] = "device", [CT_SAMPLE_OTHER] = "other",
	[CT_SAMPLE_GIL] = "gil",
};

const char *const ct_sample_words[CT_SAMPLE_STATES] = {
	[CT_SAMPLE_UNKNOWN] = "in a state that could not be read", [CT_SAMPLE_RUNNING] = "running",
	[CT_SAMPLE_SLEEP] = "sleeping", [CT_SAMPLE_LOCK] = "waiting for a lock or another thread",
	[CT_SAMPLE_FILE] = "waiting for a file", [CT_SAMPLE_SOCKET] = "waiting for a socket",
	[CT_SAMPLE_PIPE] = "waiting for a pipe", [CT_SAMPLE_CHILD] = "waiting for a process",
	[CT_SAMPLE_POLL] = "polling files", [CT_SAMPLE_DEVICE] = "waiting for a device",
	[CT_SAMPLE_OTHER] = "waiting in another system call", [CT_SAMPLE_GIL] = "waiting for Python's lock (GIL)",
};
