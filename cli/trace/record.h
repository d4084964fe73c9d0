/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One record of a packet, decoded.  Nothing is copied: a record points into its
 * packet, which must outlive it.
 */
#ifndef CT_CLI_RECORD_H
#define CT_CLI_RECORD_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "trace/class.h"
#include "trace/packet.h"
#include "trace/registry.h"

#define CT_NO_CPU	(-1)

struct ct_record {
	const struct ct_class *class;
	const uint8_t *fields;	/* class->size bytes, then a text's bytes */
	uint32_t size;		/* of the whole record */
	uint32_t pid, tid;
	int32_t  cpu;		/* where it ended, or CT_NO_CPU */
	uint8_t  depth;		/* as the record says; 0 where the writer can't know */
	uint8_t  flags;		/* CT_F_* */
	uint64_t end;		/* ns */
	uint64_t duration;	/* ns */
	uint64_t op;
	int64_t  result;
};

static inline uint64_t ct_record_begin(const struct ct_record *r)
{
	return r->duration < r->end ? r->end - r->duration : 0;
}

/**
 * ct_record_parse() - the record at @offset of packet @p
 * @why: on failure a constant string
 *
 * Reads nothing outside the packet's content, whatever the packet holds.
 *
 * Return: the record's size in bytes, or 0.
 */
uint32_t ct_record_parse(const struct ct_packet_view *p, uint32_t offset,
			 const struct ct_registry *reg, struct ct_record *r, const char **why);

/* Field @i, widened; a signed one is extended.  Of a text its length. */
static inline uint64_t ct_record_field(const struct ct_record *r, unsigned int i)
{
	const struct ct_class_field *f = &r->class->fields[i];
	uint64_t value = 0;

	memcpy(&value, r->fields + f->offset, f->bytes);
	switch (f->type) {
	case CT_TYPE_s8:
		return (int64_t)(int8_t)value;
	case CT_TYPE_s16:
		return (int64_t)(int16_t)value;
	case CT_TYPE_s32:
		return (int64_t)(int32_t)value;
	}
	return value;
}

static inline bool ct_record_has(const struct ct_record *r, enum ct_quick quick)
{
	return r->class->quick[quick] >= 0;
}

/* The field, or 0 if the class has none. */
static inline uint64_t ct_record_quick(const struct ct_record *r, enum ct_quick quick)
{
	int i = r->class->quick[quick];

	return i < 0 || !r->fields ? 0 : ct_record_field(r, i);
}

/* The bytes of the text, *@len of them without trailing NULs, or NULL. */
static inline const char *ct_record_text(const struct ct_record *r, uint16_t *len)
{
	const char *text;

	*len = 0;
	if (!r->class->has_text || !r->fields)
		return NULL;
	memcpy(len, r->fields + r->class->size - 2, 2);
	text = (const char *)r->fields + r->class->size;
	while (*len && !text[*len - 1])
		--*len;
	return text;
}

/* The call returned, and not with success. */
bool ct_record_failed(const struct ct_record *r);

/* It was an ioctl of the driver, as the kernel or as the program saw it. */
static inline bool ct_record_is_ioctl(const struct ct_record *r)
{
	return ct_record_has(r, CT_QUICK_CMD) && ct_record_has(r, CT_QUICK_DEVICE);
}

#endif
