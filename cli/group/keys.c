// SPDX-License-Identifier: LGPL-2.1-or-later
/* See keys.h.  A value is a number; texts and names are looked up when rows are made. */
#include "group/keys.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spans/work.h"
#include "trace/stacks/stacks.h"

static uint64_t keys_index(struct ct_keys *k, int index)
{
	if (index >= 0)
		return index;
	k->error = index;
	return CT_KEY_NONE;
}

static uint64_t keys_text(struct ct_keys *k, const char *text)
{
	return keys_index(k, ct_texts_put(&k->texts, text, strlen(text)));
}

/* A field of the record, if it is there. */
static uint64_t keys_field(const struct ct_group_subject *s, enum ct_known field)
{
	const struct ct_record *r = s->span->record;

	return r->fields && ct_record_has(r, field) ? ct_record_known(r, field) : CT_KEY_NONE;
}

#define KEYS_VALUE(name)								\
	static uint64_t keys_##name(struct ct_keys *k __attribute__((unused)),		\
				    const struct ct_group_subject *s)
#define KEYS_NAME(name)									\
	static const char *keys_##name##_name(const struct ct_keys *k __attribute__((unused)), uint64_t value)

/* ------------------------------------------------------- of what and whom --- */

KEYS_VALUE(function)	{ return s->class->id; }
KEYS_NAME(function)	{ return k->functions[value]; }
KEYS_VALUE(type)	{ return s->class->category; }
KEYS_NAME(type)		{ return ct_category_word[value]; }
KEYS_VALUE(layer)	{ return s->class->layer; }
KEYS_NAME(layer)	{ return ct_layer_word[value]; }
KEYS_VALUE(thread)	{ return s->tid; }
KEYS_VALUE(process)	{ return s->pid; }

/* By its launcher for the whole run, else from its first communicator on. */
KEYS_VALUE(rank)
{
	int32_t rank = ct_processes_rank(k->processes, s->pid);

	return rank < 0 ? CT_KEY_NONE : (uint32_t)rank;
}

KEYS_VALUE(cpu)
{
	int32_t cpu = s->span->record->cpu;

	return cpu == CT_NO_CPU ? CT_KEY_NONE : (uint32_t)cpu;
}

KEYS_VALUE(kernel)
{
	uint64_t id = keys_field(s, CT_KNOWN_KERNEL);

	return id == CT_KEY_NONE ? id : keys_index(k, ct_texts_string(&k->texts, k->names, id));
}

KEYS_VALUE(stage)
{
	const struct ct_process_phases *p = ct_phases_process(k->phases, s->pid, s->begin);
	enum ct_stage stage = p ? ct_phases_stage(p, s->begin) : CT_STAGE_COUNT;

	return stage < CT_STAGE_COUNT ? stage : CT_KEY_NONE;
}

KEYS_NAME(stage)	{ return ct_stage_word[value]; }

KEYS_VALUE(iteration)
{
	const struct ct_process_phases *p = ct_phases_process(k->phases, s->pid, s->begin);
	int64_t iteration = p ? ct_phases_iteration(p, s->begin) : -1;

	return iteration < 0 ? CT_KEY_NONE : (uint64_t)iteration + 1;
}

/* The text of a range; for others that of the innermost range of their thread. */
KEYS_VALUE(range)
{
	const struct ct_track *track = s->span->track;
	struct ct_record push = *s->span->record;
	uint64_t number = s->span->number;
	const char *text;
	uint16_t len;

	if (s->span->kind != CT_SPAN_RANGE) {
		const struct ct_open_range *range;

		if (!track->ranges_depth)
			return CT_KEY_NONE;
		range = &track->ranges[track->ranges_depth - 1];
		push = (struct ct_record){ .class = range->class, .fields = range->fields, .text_len = range->text_len };
		number = range->number;
	}
	if (k->range != number) {
		text = ct_record_text(&push, &len);
		k->range_text = keys_index(k, ct_texts_put(&k->texts, text ? text : "", len));
		k->range = number;
	}
	return k->range_text;
}

/* Why it failed, by the number where that has no name. */
KEYS_VALUE(error)
{
	const struct ct_record *r = s->span->record;
	struct ct_failure failure;
	char text[32];

	if (!(s->span->flags & CT_SPAN_FAILED))
		return CT_KEY_NONE;
	failure = ct_record_failure(r);
	snprintf(text, sizeof(text), failure.status ? "0x%" PRIx64 : "%" PRId64, failure.code);
	return keys_text(k, ct_name_failure(r) ? : text);
}

/* ------------------------------------------------------------ of the GPU --- */

KEYS_VALUE(stream)
{
	const struct ct_record *r = s->span->record;

	return r->fields && s->span->kind == CT_SPAN_GPU ? ct_record_gpu_stream(r) : keys_field(s, CT_KNOWN_STREAM);
}

KEYS_VALUE(context)	{ return keys_field(s, CT_KNOWN_CONTEXT); }

/* The GPU; of an ioctl the device file. */
KEYS_VALUE(device)
{
	uint64_t gpu = keys_field(s, CT_KNOWN_GPU);
	char buf[32];

	if (gpu != CT_KEY_NONE) {
		snprintf(buf, sizeof(buf), "GPU %" PRIu64, gpu);
		return keys_text(k, buf);
	}
	if (!s->span->record->fields || !ct_record_is_ioctl(s->span->record))
		return CT_KEY_NONE;
	return keys_text(k, ct_name_device(keys_field(s, CT_KNOWN_DEVICE), buf));
}

KEYS_VALUE(operation)
{
	const struct ct_record *r = s->span->record;

	return r->fields && ct_gpu_is_transfer(r->class) ? ct_gpu_operation(r) : CT_KEY_NONE;
}

KEYS_NAME(operation)	{ return ct_gpu_operation_name(value); }

/* What the GPU did: the kernel, or as nsys calls copies and sets. */
KEYS_VALUE(work)
{
	const struct ct_record *r = s->span->record;
	const char *name = r->fields ? ct_gpu_work_name(r) : NULL;

	return name ? keys_text(k, name) : keys_kernel(k, s);
}

enum { KEYS_CUDA_KERNEL, KEYS_MEMORY_OPER, KEYS_CUDA_GRAPH };

KEYS_VALUE(category)
{
	const struct ct_class *class = s->span->class;

	return ct_gpu_is_transfer(class) ? KEYS_MEMORY_OPER : ct_gpu_is_graph(class) ? KEYS_CUDA_GRAPH :
	       ct_gpu_is_kernel(class) ? KEYS_CUDA_KERNEL : CT_KEY_NONE;
}

KEYS_NAME(category)
{
	static const char *const words[] = { "CUDA_KERNEL", "MEMORY_OPER", "CUDA_GRAPH" };

	return words[value];
}

/* ---------------------------------------------------------- of the driver --- */

KEYS_VALUE(ioctl)
{
	const struct ct_record *r = s->span->record;
	uint32_t cmd = ct_record_known(r, CT_KNOWN_CMD), device = ct_record_known(r, CT_KNOWN_DEVICE);
	/* All of a driver's devices have the same commands. */
	uint64_t command = (uint64_t)(device < CT_DEV_UVM ? 0 : device) << 32 | cmd, text;
	struct ct_keys_ioctl *known;
	char number[24];

	if (!r->fields || !ct_record_is_ioctl(r))
		return CT_KEY_NONE;
	known = ct_keyed_get(&k->ioctls, command);
	if (known)
		return known->text;
	snprintf(number, sizeof(number), "0x%x", cmd);
	text = keys_text(k, ct_name_ioctl(cmd, device) ? : number);
	if (k->error || ct_texts_full(&k->texts))
		return text;
	known = ct_keyed_put(&k->ioctls, command);
	if (!known)
		return keys_index(k, -ENOMEM);
	known->text = text;
	return text;
}

/* What an ioctl asks for: an RM control command, or the class of an object. */
static uint64_t keys_code(const struct ct_record *r, uint32_t kinds)
{
	uint32_t have = r->fields && ct_record_is_ioctl(r) ? ct_record_known(r, CT_KNOWN_HAVE) & kinds : 0;

	return have ? (uint64_t)have << 32 | (uint32_t)ct_record_known(r, CT_KNOWN_CODE) : CT_KEY_NONE;
}

KEYS_VALUE(command)	{ return keys_code(s->span->record, CT_IOCTL_CONTROL | CT_IOCTL_CLASS); }
KEYS_VALUE(class)	{ return keys_code(s->span->record, CT_IOCTL_CLASS); }
KEYS_NAME(code)		{ return ct_name_code(value, value >> 32); }

/* --------------------------------------------------------------- stacks --- */

/* The line that made the call, or with all that called it, the innermost first. */
static uint64_t keys_node(struct ct_keys *k, uint32_t node, bool whole)
{
	uint64_t key = (uint64_t)node << 1 | whole, value;
	struct ct_keys_node *known = ct_keyed_get(&k->nodes, key);
	char text[CT_STRING_MAX];
	size_t used = 0;
	struct ct_stack_frame f = { .parent = node };

	if (known)
		return known->text;
	for (unsigned int i = 0; i < (whole ? CT_STACK_DEPTH : 1) && used + 8 < sizeof(text) &&
				 ct_stack_frame(k->names->reg, f.parent, &f); i++) {
		used += snprintf(text + used, sizeof(text) - used, "%s", i ? " < " : "");
		used += strlen(ct_stack_words(&f, text + used, sizeof(text) - used));
	}
	value = used ? keys_text(k, text) : CT_KEY_NONE;
	if (k->error || !used || ct_texts_full(&k->texts))
		return value;
	known = ct_keyed_put(&k->nodes, key);
	if (!known)
		return keys_index(k, -ENOMEM);
	known->text = value;
	return value;
}

KEYS_VALUE(line)	{ return keys_node(k, s->span->stack, false); }
KEYS_VALUE(stack)	{ return keys_node(k, s->span->stack, true); }

/* ---------------------------------------------------------------- table --- */

#define KEYS(id, of, text, phases, name, head, type, value, named)	\
	[CT_BY_##id] = { CT_OF_##of, text, phases, { name, head, CT_CELL_##type, 0 }, keys_##value, named }

const struct ct_group_key ct_group_keys[CT_BY_COUNT] = {
	KEYS(FUNCTION, CALLS, false, false, "Name", "name", TEXT, function, keys_function_name),
	KEYS(KERNEL, KERNELS, true, false, "Kernel", "kernel", KERNEL, kernel, NULL),
	KEYS(THREAD, CALLS, false, false, "Tid", "tid", ID, thread, NULL),
	KEYS(PROCESS, CALLS, false, false, "Pid", "pid", ID, process, NULL),
	KEYS(RANK, CALLS, false, false, "Rank", "rank", ID, rank, NULL),
	KEYS(STAGE, CALLS, false, true, "Stage", "stage", TEXT, stage, keys_stage_name),
	KEYS(ITERATION, CALLS, false, true, "Iteration", "iteration", COUNT, iteration, NULL),
	KEYS(STREAM, WORK, false, false, "Stream", "stream", HEX, stream, NULL),
	KEYS(CONTEXT, WORK, false, false, "Context", "context", ID, context, NULL),
	KEYS(DEVICE, WORK, true, false, "Device", "device", TEXT, device, NULL),
	KEYS(RANGE, RANGES, true, false, "Range", "range", TEXT, range, NULL),
	KEYS(OPERATION, COPIES, false, false, "Operation", "operation", TEXT, operation, keys_operation_name),
	KEYS(IOCTL, IOCTLS, true, false, "Ioctl", "ioctl", TEXT, ioctl, NULL),
	KEYS(COMMAND, IOCTLS, false, false, "Command", "command or class", TEXT, command, keys_code_name),
	KEYS(CLASS, IOCTLS, false, false, "Class", "class", TEXT, class, keys_code_name),
	KEYS(ERROR, CALLS, true, false, "Error", "error", TEXT, error, NULL),
	KEYS(TYPE, CALLS, false, false, "Type", "type", TEXT, type, keys_type_name),
	KEYS(LAYER, CALLS, false, false, "Layer", "layer", TEXT, layer, keys_layer_name),
	KEYS(LINE, CALLS, true, false, "Line", "line", TEXT, line, NULL),
	KEYS(STACK, CALLS, true, false, "Stack", "stack", TEXT, stack, NULL),
	KEYS(CPU, CALLS, false, false, "CPU", "cpu", ID, cpu, NULL),
	KEYS(WORK, WORK, true, false, "Work", "work", KERNEL, work, NULL),
	KEYS(CATEGORY, WORK, false, false, "Category", "category", TEXT, category, keys_category_name),
};

struct ct_cell ct_group_key_cell(const struct ct_keys *k, enum ct_group_by by, struct ct_table *t, uint64_t value)
{
	const struct ct_group_key *key = &ct_group_keys[by];
	const char *name;

	if (value == CT_KEY_NONE)
		return (struct ct_cell){ 0 };
	if (key->text)
		return ct_const(k->texts.list[value].text);
	if (!key->name)
		return ct_u64(value);
	name = key->name(k, value);
	return name ? ct_const(name) : ct_format(t, "0x%x", (unsigned int)value);
}

bool ct_group_phases(const struct ct_group_spec *spec)
{
	for (unsigned int i = 0; i < spec->keys; i++)
		if (ct_group_keys[spec->by[i]].phases)
			return true;
	return false;
}

void ct_keys_free(struct ct_keys *k)
{
	ct_texts_free(&k->texts);
	ct_keyed_free(&k->ioctls);
	ct_keyed_free(&k->nodes);
	free(k->functions);
	k->functions = NULL;
}
