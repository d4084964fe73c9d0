// SPDX-License-Identifier: LGPL-2.1-or-later
/* See call_detail.h.  Must never write beyond its buffer, however long a text of a trace is. */
#include "explain/calls/call_detail.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "view/term.h"

#define DETAIL_FIELDS	6	/* of a call that are shown */

static __attribute__((format(printf, 3, 4)))
void detail_add(char *buf, size_t *used, const char *format, ...)
{
	size_t left = CT_DETAIL_MAX - *used;
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(buf + *used, left, format, args);
	va_end(args);
	*used += n < 0 ? 0 : (size_t)n < left ? (size_t)n : left - 1;
}

char *ct_call_ioctl_name(char buf[CT_DETAIL_MAX], const struct ct_record *r)
{
	uint32_t cmd = ct_record_known(r, CT_KNOWN_CMD), code = ct_record_known(r, CT_KNOWN_CODE);
	uint32_t have = ct_record_known(r, CT_KNOWN_HAVE);
	const char *name = ct_name_ioctl(cmd, ct_record_known(r, CT_KNOWN_DEVICE));
	size_t used = 0;

	if (name)
		detail_add(buf, &used, "%s", name);
	else
		detail_add(buf, &used, "0x%x", cmd);
	if (!(have & (CT_IOCTL_CONTROL | CT_IOCTL_CLASS)))
		return buf;
	name = ct_name_code(code, have);
	if (name)
		detail_add(buf, &used, " %s", name);
	else
		detail_add(buf, &used, " 0x%x", code);
	return buf;
}

/* A field that says something; false: it was left out. */
static bool detail_field(char *buf, size_t *used, struct ct_names *names, const struct ct_record *r,
			 unsigned int i)
{
	const struct ct_class_field *field = &r->class->fields[i];
	uint64_t value = ct_record_field(r, i);
	const char *sep = *used ? ", " : "", *text;
	char bytes[CT_TERM_TEXT];
	uint16_t len;

	if (!value)
		return false;
	switch (field->type) {
	case CT_TYPE_str:
		text = ct_names_string(names, value);
		if (!text)
			return false;
		detail_add(buf, used, "%s%.160s", sep, text);
		return true;
	case CT_TYPE_text:
		text = ct_record_text(r, &len);
		if (text)
			detail_add(buf, used, "%s\"%.*s\"", sep, len < 160 ? len : 160, text);
		return true;
	case CT_TYPE_dir:
		if (value >= CT_DIR_COUNT)
			return false;
		detail_add(buf, used, "%s%s", sep, ct_direction_word[value]);
		return true;
	case CT_TYPE_memk:
		if (value >= CT_MEMKIND_COUNT)
			return false;
		detail_add(buf, used, "%s%s %s", sep, field->name, ct_memkind_word[value]);
		return true;
	case CT_TYPE_class:
		return false;
	case CT_TYPE_x8: case CT_TYPE_x16: case CT_TYPE_x32: case CT_TYPE_x64:
		detail_add(buf, used, "%s%s 0x%" PRIx64, sep, field->name, value);
		return true;
	case CT_TYPE_s8: case CT_TYPE_s16: case CT_TYPE_s32: case CT_TYPE_s64:
		detail_add(buf, used, "%s%s %" PRId64, sep, field->name, (int64_t)value);
		return true;
	}
	if ((int)i == r->class->known[CT_KNOWN_SIZE])
		detail_add(buf, used, "%s%s", sep, ct_term_bytes(bytes, value));
	else
		detail_add(buf, used, "%s%s %" PRIu64, sep, field->name, value);
	return true;
}

/* The command or class first: lines are cut at their ends. */
static void detail_ioctl(char *buf, size_t *used, const struct ct_record *r)
{
	char name[CT_DETAIL_MAX], device[24], *code;

	code = strchr(ct_call_ioctl_name(name, r), ' ');
	if (code)
		*code++ = 0;
	detail_add(buf, used, "%s (%s%s%s", code ? code : name, code ? name : "", code ? ", " : "",
		   ct_name_device(ct_record_known(r, CT_KNOWN_DEVICE), device));
	if (ct_record_known(r, CT_KNOWN_HAVE) & CT_IOCTL_OBJECT)
		detail_add(buf, used, ", object 0x%x", (uint32_t)ct_record_known(r, CT_KNOWN_OBJECT));
	detail_add(buf, used, ")");
}

/* CUPTI's numbers say nothing to people beside what was done. */
static bool detail_is_number(const struct ct_class *class, unsigned int i)
{
	return class->layer == CT_LAYER_GPU &&
	       ((int)i == class->known[CT_KNOWN_STREAM_ID] || (int)i == class->known[CT_KNOWN_CORRELATION] ||
		(int)i == class->known[CT_KNOWN_CONTEXT]);
}

char *ct_call_detail(char buf[CT_DETAIL_MAX], struct ct_names *names, const struct ct_record *r)
{
	unsigned int shown = 0;
	size_t used = 0;

	*buf = 0;
	if (!r->fields)
		return buf;
	if (ct_record_is_ioctl(r)) {
		detail_ioctl(buf, &used, r);
		return buf;
	}
	if (ct_record_has(r, CT_KNOWN_GRID_X) && ct_record_has(r, CT_KNOWN_BLOCK_X)) {
		const char *kernel = ct_names_string(names, ct_record_known(r, CT_KNOWN_KERNEL));
		uint32_t v[6];

		for (unsigned int i = 0; i < 3; i++) {
			v[i] = ct_record_known(r, CT_KNOWN_GRID_X + i);
			v[3 + i] = ct_record_known(r, CT_KNOWN_BLOCK_X + i);
		}
		detail_add(buf, &used, "%.200s%sgrid %ux%ux%u, block %ux%ux%u", kernel ? kernel : "",
			   kernel ? ", " : "", v[0], v[1], v[2], v[3], v[4], v[5]);
		return buf;
	}
	for (unsigned int i = 0; i < r->class->fields_count && shown < DETAIL_FIELDS; i++)
		shown += !detail_is_number(r->class, i) && detail_field(buf, &used, names, r, i);
	return buf;
}

const char *ct_call_layer(const struct ct_class *class, bool interrupt, bool deferred)
{
	if (ct_class_is(class, CT_IS_SWITCH))
		return "off cpu";
	if (interrupt)
		return "irq";
	if (deferred)
		return "later";
	if (class->layer != CT_LAYER_USER)
		return ct_layer_word[class->layer];
	if (class->category == CT_CAT_SYSCALL)
		return "syscall";
	if (class->category == CT_CAT_MARKER)
		return "mark";
	return class->category == CT_CAT_RUNTIME ? "cudart" : ct_class_is(class, CT_IS_NCCL) ? "libnccl" : "libcuda";
}

const char *ct_call_name(const struct ct_class *class)
{
	return ct_class_is(class, CT_IS_SWITCH) ? "off the CPU" : class->name;
}
