// SPDX-License-Identifier: LGPL-2.1-or-later
/* See keys.h.  A value is a number; texts and names are looked up when rows are made. */
#include "group/keys.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spans/work.h"

static int keys_text(struct ct_keys *k, const char *text, size_t len, uint64_t *value)
{
	int index = ct_texts_put(&k->texts, text, len);

	*value = index;
	return index < 0 ? index : 0;
}

static struct ct_cell keys_text_cell(const struct ct_keys *k, struct ct_table *t, uint64_t value)
{
	(void)t;
	return ct_const(k->texts.list[value].text);
}

static struct ct_cell keys_number_cell(const struct ct_keys *k, struct ct_table *t, uint64_t value)
{
	(void)k;
	(void)t;
	return ct_u64(value);
}

/* ------------------------------------------------------- of what and whom --- */

static int keys_function(struct ct_keys *k, const struct ct_group_subject *s, uint64_t *value)
{
	(void)k;
	*value = s->class->id;
	return 0;
}

static struct ct_cell keys_function_cell(const struct ct_keys *k, struct ct_table *t, uint64_t value)
{
	(void)t;
	return ct_const(k->functions[value]);
}

static int keys_kernel(struct ct_keys *k, const struct ct_group_subject *s, uint64_t *value)
{
	const struct ct_record *r = s->span->record;
	int index;

	if (!r->fields || !ct_record_has(r, CT_QUICK_KERNEL))
		return 0;
	index = ct_texts_string(&k->texts, k->names, ct_record_quick(r, CT_QUICK_KERNEL));
	*value = index;
	return index < 0 ? index : 0;
}

static int keys_thread(struct ct_keys *k, const struct ct_group_subject *s, uint64_t *value)
{
	(void)k;
	*value = s->tid;
	return 0;
}

static int keys_process(struct ct_keys *k, const struct ct_group_subject *s, uint64_t *value)
{
	(void)k;
	*value = s->pid;
	return 0;
}

static int keys_stage(struct ct_keys *k, const struct ct_group_subject *s, uint64_t *value)
{
	const struct ct_process_phases *p = ct_phases_process(k->phases, s->pid, s->begin);
	enum ct_stage stage = p ? ct_phases_stage(p, s->begin) : CT_STAGE_COUNT;

	if (stage < CT_STAGE_COUNT)
		*value = stage;
	return 0;
}

static struct ct_cell keys_stage_cell(const struct ct_keys *k, struct ct_table *t, uint64_t value)
{
	(void)k;
	(void)t;
	return ct_const(ct_stage_word[value]);
}

static int keys_iteration(struct ct_keys *k, const struct ct_group_subject *s, uint64_t *value)
{
	const struct ct_process_phases *p = ct_phases_process(k->phases, s->pid, s->begin);
	int64_t iteration = p ? ct_phases_iteration(p, s->begin) : -1;

	if (iteration >= 0)
		*value = iteration + 1;
	return 0;
}

/* The text of a range; for others that of the innermost range of their thread. */
static int keys_range(struct ct_keys *k, const struct ct_group_subject *s, uint64_t *value)
{
	const struct ct_track *track = s->span->track;
	struct ct_record push = { 0 };
	const char *text;
	uint64_t number;
	uint16_t len;

	if (s->span->kind == CT_SPAN_RANGE) {
		push = *s->span->record;
		number = s->span->number;
	} else if (track->ranges_depth) {
		const struct ct_open_range *range = &track->ranges[track->ranges_depth - 1];

		push = (struct ct_record){ .class = range->class, .fields = range->fields, .text_len = range->text_len };
		number = range->number;
	} else {
		return 0;
	}
	if (k->range != number) {
		text = ct_record_text(&push, &len);
		k->range_text = ct_texts_put(&k->texts, text ? text : "", len);
		k->range = k->range_text < 0 ? 0 : number;
	}
	*value = k->range_text;
	return k->range_text < 0 ? k->range_text : 0;
}

/* ------------------------------------------------------------ of the GPU --- */

static int keys_stream(struct ct_keys *k, const struct ct_group_subject *s, uint64_t *value)
{
	const struct ct_record *r = s->span->record;

	(void)k;
	if (r->fields && s->span->kind == CT_SPAN_GPU)
		*value = ct_record_gpu_stream(r);
	else if (r->fields && ct_record_has(r, CT_QUICK_STREAM))
		*value = ct_record_quick(r, CT_QUICK_STREAM);
	return 0;
}

static int keys_context(struct ct_keys *k, const struct ct_group_subject *s, uint64_t *value)
{
	const struct ct_record *r = s->span->record;

	(void)k;
	if (r->fields && ct_record_has(r, CT_QUICK_CONTEXT))
		*value = ct_record_quick(r, CT_QUICK_CONTEXT);
	return 0;
}

/* The GPU; of an ioctl the device file. */
static int keys_device(struct ct_keys *k, const struct ct_group_subject *s, uint64_t *value)
{
	const struct ct_record *r = s->span->record;
	char buf[24];
	const char *name;

	if (r->fields && ct_record_has(r, CT_QUICK_GPU)) {
		snprintf(buf, sizeof(buf), "GPU %" PRIu64, ct_record_quick(r, CT_QUICK_GPU));
		return keys_text(k, buf, sizeof(buf), value);
	}
	if (!r->fields || !ct_class_is(s->class, CT_IS_IOCTL))
		return 0;
	name = ct_name_device(ct_record_quick(r, CT_QUICK_DEVICE), buf);
	return keys_text(k, name, strlen(name), value);
}

static int keys_operation(struct ct_keys *k, const struct ct_group_subject *s, uint64_t *value)
{
	const struct ct_record *r = s->span->record;

	(void)k;
	if (r->fields && ct_gpu_is_transfer(r->class))
		*value = ct_gpu_operation(r);
	return 0;
}

static struct ct_cell keys_operation_cell(const struct ct_keys *k, struct ct_table *t, uint64_t value)
{
	(void)k;
	(void)t;
	return ct_const(ct_gpu_operation_name(value));
}

/* ---------------------------------------------------------- of the driver --- */

static int keys_ioctl(struct ct_keys *k, const struct ct_group_subject *s, uint64_t *value)
{
	const struct ct_record *r = s->span->record;
	uint32_t cmd = ct_record_quick(r, CT_QUICK_CMD), device = ct_record_quick(r, CT_QUICK_DEVICE);
	/* All of a driver's devices have the same commands. */
	uint64_t command = (uint64_t)(device < CT_DEV_UVM ? 0 : device) << 32 | cmd;
	struct ct_keys_ioctl *known;
	const char *name;
	char text[24];
	int rc;

	if (!r->fields || !ct_record_is_ioctl(r))
		return 0;
	known = ct_keyed_get(&k->ioctls, command);
	if (known) {
		*value = known->text;
		return 0;
	}
	name = ct_name_ioctl(cmd, device);
	snprintf(text, sizeof(text), "0x%x", cmd);
	rc = keys_text(k, name ? name : text, name ? strlen(name) : sizeof(text), value);
	if (rc || ct_texts_full(&k->texts))
		return rc;
	known = ct_keyed_put(&k->ioctls, command);
	if (!known)
		return -ENOMEM;
	known->text = *value;
	return 0;
}

/* What an ioctl asks for: an RM control command, or the class of an object. */
static uint64_t keys_code(const struct ct_record *r, uint32_t kinds)
{
	uint32_t have = r->fields && ct_record_is_ioctl(r) ? ct_record_quick(r, CT_QUICK_HAVE) & kinds : 0;

	return have ? (uint64_t)have << 32 | (uint32_t)ct_record_quick(r, CT_QUICK_CODE) : CT_KEY_NONE;
}

static int keys_command(struct ct_keys *k, const struct ct_group_subject *s, uint64_t *value)
{
	(void)k;
	*value = keys_code(s->span->record, CT_IOCTL_CONTROL | CT_IOCTL_CLASS);
	return 0;
}

static int keys_class(struct ct_keys *k, const struct ct_group_subject *s, uint64_t *value)
{
	(void)k;
	*value = keys_code(s->span->record, CT_IOCTL_CLASS);
	return 0;
}

static struct ct_cell keys_code_cell(const struct ct_keys *k, struct ct_table *t, uint64_t value)
{
	const char *name = ct_name_code(value, value >> 32);

	(void)k;
	return name ? ct_const(name) : ct_format(t, "0x%x", (unsigned int)value);
}

/* ----------------------------------------------------------------- others --- */

static int keys_error(struct ct_keys *k, const struct ct_group_subject *s, uint64_t *value)
{
	const struct ct_record *r = s->span->record;
	struct ct_failure failure;
	const char *name;
	char text[32];

	if (!(s->span->flags & CT_SPAN_FAILED))
		return 0;
	name = ct_name_failure(r);
	failure = ct_record_failure(r);
	if (failure.status)
		snprintf(text, sizeof(text), "0x%" PRIx64, failure.code);
	else
		snprintf(text, sizeof(text), "%" PRId64, failure.code);
	return keys_text(k, name ? name : text, name ? strlen(name) : sizeof(text), value);
}

static int keys_type(struct ct_keys *k, const struct ct_group_subject *s, uint64_t *value)
{
	(void)k;
	*value = s->class->category;
	return 0;
}

static struct ct_cell keys_type_cell(const struct ct_keys *k, struct ct_table *t, uint64_t value)
{
	(void)k;
	(void)t;
	return ct_const(ct_category_word[value]);
}

static int keys_layer(struct ct_keys *k, const struct ct_group_subject *s, uint64_t *value)
{
	(void)k;
	*value = s->class->layer;
	return 0;
}

static struct ct_cell keys_layer_cell(const struct ct_keys *k, struct ct_table *t, uint64_t value)
{
	(void)k;
	(void)t;
	return ct_const(ct_layer_word[value]);
}

static int keys_cpu(struct ct_keys *k, const struct ct_group_subject *s, uint64_t *value)
{
	(void)k;
	if (s->span->record->cpu != CT_NO_CPU)
		*value = (uint32_t)s->span->record->cpu;
	return 0;
}

#define KEYS(id, of, text, phases, name, head, type, value, cell)				\
	[CT_BY_##id] = { CT_OF_##of, text, phases, { name, head, CT_CELL_##type, 0 }, keys_##value, keys_##cell##_cell }

const struct ct_group_key ct_group_keys[CT_BY_COUNT] = {
	KEYS(FUNCTION, CALLS, false, false, "Name", "name", TEXT, function, function),
	KEYS(KERNEL, KERNELS, true, false, "Kernel", "kernel", KERNEL, kernel, text),
	KEYS(THREAD, CALLS, false, false, "Tid", "tid", ID, thread, number),
	KEYS(PROCESS, CALLS, false, false, "Pid", "pid", ID, process, number),
	KEYS(STAGE, CALLS, false, true, "Stage", "stage", TEXT, stage, stage),
	KEYS(ITERATION, CALLS, false, true, "Iteration", "iteration", COUNT, iteration, number),
	KEYS(STREAM, WORK, false, false, "Stream", "stream", HEX, stream, number),
	KEYS(CONTEXT, WORK, false, false, "Context", "context", ID, context, number),
	KEYS(DEVICE, WORK, true, false, "Device", "device", TEXT, device, text),
	KEYS(RANGE, RANGES, true, false, "Range", "range", TEXT, range, text),
	KEYS(OPERATION, COPIES, false, false, "Operation", "operation", TEXT, operation, operation),
	KEYS(IOCTL, IOCTLS, true, false, "Ioctl", "ioctl", TEXT, ioctl, text),
	KEYS(COMMAND, IOCTLS, false, false, "Command", "command or class", TEXT, command, code),
	KEYS(CLASS, IOCTLS, false, false, "Class", "class", TEXT, class, code),
	KEYS(ERROR, CALLS, true, false, "Error", "error", TEXT, error, text),
	KEYS(TYPE, CALLS, false, false, "Type", "type", TEXT, type, type),
	KEYS(LAYER, CALLS, false, false, "Layer", "layer", TEXT, layer, layer),
	KEYS(CPU, CALLS, false, false, "CPU", "cpu", ID, cpu, number),
};

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
	free(k->functions);
	k->functions = NULL;
}
