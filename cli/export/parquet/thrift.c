// SPDX-License-Identifier: LGPL-2.1-or-later
/* See thrift.h. */
#include "export/parquet/thrift.h"

enum { TRUE = 1, FALSE = 2, I8 = 3, I64 = 6, LIST = 9 };

static void thrift_field(struct ct_thrift *t, unsigned int id, unsigned int type)
{
	unsigned int *last = &t->last[t->depth];

	/* Ids up to 15 after the last one stand in the byte of the type. */
	if (id > *last && id - *last <= 15) {
		ct_bytes_u8(t->out, (id - *last) << 4 | type);
	} else {
		ct_bytes_u8(t->out, type);
		ct_bytes_zigzag(t->out, id);
	}
	*last = id;
}

void ct_thrift_struct(struct ct_thrift *t)
{
	t->last[++t->depth] = 0;
}

void ct_thrift_end(struct ct_thrift *t)
{
	ct_bytes_u8(t->out, 0);
	t->depth--;
}

void ct_thrift_field_struct(struct ct_thrift *t, unsigned int id)
{
	thrift_field(t, id, CT_THRIFT_STRUCT);
	ct_thrift_struct(t);
}

void ct_thrift_field_list(struct ct_thrift *t, unsigned int id, enum ct_thrift_type of, size_t count)
{
	thrift_field(t, id, LIST);
	ct_bytes_u8(t->out, (count < 15 ? count : 15) << 4 | of);
	if (count >= 15)
		ct_bytes_varint(t->out, count);
}

void ct_thrift_field_bool(struct ct_thrift *t, unsigned int id, bool value)
{
	thrift_field(t, id, value ? TRUE : FALSE);
}

void ct_thrift_field_i8(struct ct_thrift *t, unsigned int id, int8_t value)
{
	thrift_field(t, id, I8);
	ct_bytes_u8(t->out, value);
}

void ct_thrift_field_i32(struct ct_thrift *t, unsigned int id, int32_t value)
{
	thrift_field(t, id, CT_THRIFT_I32);
	ct_bytes_zigzag(t->out, value);
}

void ct_thrift_field_i64(struct ct_thrift *t, unsigned int id, int64_t value)
{
	thrift_field(t, id, I64);
	ct_bytes_zigzag(t->out, value);
}

void ct_thrift_field_bytes(struct ct_thrift *t, unsigned int id, const void *bytes, size_t len)
{
	thrift_field(t, id, CT_THRIFT_BINARY);
	ct_bytes_varint(t->out, len);
	ct_bytes_put(t->out, bytes, len);
}

void ct_thrift_field_text(struct ct_thrift *t, unsigned int id, const char *text)
{
	ct_thrift_field_bytes(t, id, text, strlen(text));
}

void ct_thrift_i32(struct ct_thrift *t, int32_t value)
{
	ct_bytes_zigzag(t->out, value);
}

void ct_thrift_text(struct ct_thrift *t, const char *text)
{
	ct_bytes_varint(t->out, strlen(text));
	ct_bytes_put(t->out, text, strlen(text));
}
