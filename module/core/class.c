// SPDX-License-Identifier: GPL-2.0
/* Event classes: what a definition may be, and what follows from it. */
#include <linux/ctype.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include "core/class.h"

const u8 ct_type_size[] = {
#define CT_TYPE_ROW(type, ctype, bytes)	[CT_TYPE_##type] = bytes,
	CT_TYPES(CT_TYPE_ROW)
#undef CT_TYPE_ROW
};

/* Is it a printable word that ends with a NUL inside its array of room bytes?  Clears the rest. */
static bool class_word_ok(char *s, size_t room)
{
	size_t i, len = strnlen(s, room);

	if (!len || len == room)
		return false;
	for (i = 0; i < len; i++)
		if (s[i] < 0x21 || s[i] > 0x7e)
			return false;
	memset(s + len, 0, room - len);
	return true;
}

/*
 * Is the name of field i a C identifier, and different from those of the fields before it?
 * Readers of CTF demand both; otherwise one producer's class would make the whole trace
 * unreadable.
 */
static bool class_field_name_ok(struct ct_define *def, u32 i)
{
	char *s = def->fields[i].name;
	u32 k;

	if (!class_word_ok(s, sizeof(def->fields[i].name)) || isdigit(*s))
		return false;
	for (k = 0; s[k]; k++)
		if (!isalnum(s[k]) && s[k] != '_')
			return false;
	for (k = 0; k < i; k++)
		if (!strcmp(def->fields[k].name, s))
			return false;
	return true;
}

static enum ct_role class_role_of(const struct ct_define *def, const struct ct_field *f)
{
	static const struct {
		const char *name;
		enum ct_role role;
	} names[] = {
		{ "size", CT_ROLE_SIZE }, { "direction", CT_ROLE_DIRECTION },
		{ "cmd", CT_ROLE_CMD }, { "device", CT_ROLE_DEVICE },
		{ "have", CT_ROLE_HAVE }, { "code", CT_ROLE_CODE },
		{ "status", CT_ROLE_STATUS }, { "kernel", CT_ROLE_KERNEL },
		{ "ppid", CT_ROLE_PID }, { "owner_pid", CT_ROLE_PID },
		{ "va", CT_ROLE_BUS },
	};
	unsigned int i;

	/* These fields of sched events are tids: the other thread, and the waker. */
	if (def->layer == CT_LAYER_KERNEL && def->category == CT_CAT_SWITCH &&
	    (!strcmp(f->name, "other") || !strcmp(f->name, "waker")))
		return CT_ROLE_PID;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(f->name, names[i].name))
			return names[i].role;
	if (f->type == CT_TYPE_text)
		return CT_ROLE_TEXT;
	return !strncmp(f->name, "grid_", 5) || !strncmp(f->name, "block_", 6) ?
	       CT_ROLE_GRID : CT_ROLE_NONE;
}

int ct_class_check(struct ct_class *c)
{
	struct ct_define *def = &c->def;
	u32 i, size, offset = 0;

	if (!class_word_ok(def->name, sizeof(def->name)) ||
	    !class_word_ok(def->symbol, sizeof(def->symbol)) || def->layer >= CT_LAYER_COUNT ||
	    def->category >= CT_CAT_COUNT || def->op >= CT_OP_COUNT ||
	    def->fields_count > CT_FIELDS_MAX)
		return -EINVAL;
	for (i = 0; i < def->fields_count; i++) {
		const struct ct_field *f = &def->fields[i];

		if (!class_field_name_ok(def, i) || f->type >= CT_TYPE_COUNT)
			return -EINVAL;
		if (f->type == CT_TYPE_text && i + 1 != def->fields_count)
			return -EINVAL;
		size = ct_type_size[f->type];
		if (offset % size)
			return -EINVAL;
		offset += size;
		c->role[i] = class_role_of(def, f);
		c->has_text = f->type == CT_TYPE_text;
	}
	if (!c->has_text && offset % 8)
		return -EINVAL;
	memset(def->fields + i, 0, sizeof(def->fields) - i * sizeof(def->fields[0]));
	c->fixed = offset;
	return 0;
}

void ct_class_set_id(struct ct_class *c)
{
	struct ct_define *def = &c->def;

	def->id = c->d.id;
	if (def->fields_count && !strcmp(def->fields[0].name, "uid") &&
	    ct_type_size[def->fields[0].type] == 4)
		c->mark_word = CT_MARK_UID;
	if (def->id == CT_CLASS_process)
		c->mark_word = CT_MARK_WHO;
	c->markable = def->layer == CT_LAYER_USER && def->id != CT_CLASS_clock &&
		      def->id != CT_CLASS_call_open;
	c->mark_size = c->markable && !c->has_text ?
		       sizeof(struct ct_mark_head) + c->fixed : ~0;
}

static const struct {
	const struct ct_field *fields;
	u8 count;
} layouts[] = {
#define CT_FIELD_ROW(t, n)	{ .name = #n, .type = CT_TYPE_##t },
#define CT_LAYOUT_ROW(l)						\
	[CT_LAYOUT_##l] = {						\
		(const struct ct_field[]){ CT_FIELDS_##l(CT_FIELD_ROW) {} }, \
		sizeof((const struct ct_field[])			\
			{ CT_FIELDS_##l(CT_FIELD_ROW) {} }) /		\
			sizeof(struct ct_field) - 1			\
	},
	CT_LAYOUTS(CT_LAYOUT_ROW)
#undef CT_LAYOUT_ROW
#undef CT_FIELD_ROW
};

void ct_layout_fields(enum ct_layout layout, struct ct_define *def)
{
	def->fields_count = layouts[layout].count;
	memcpy(def->fields, layouts[layout].fields,
	       def->fields_count * sizeof(struct ct_field));
}

u32 ct_payload_size(const struct ct_class *c, const void *p, u32 room)
{
	u32 size = c->fixed;
	u16 len;

	if (size > room)
		return 0;
	if (c->has_text) {
		memcpy(&len, p + size - sizeof(len), sizeof(len));
		size += len;
	}
	return size > room || size % 8 ? 0 : size;
}
