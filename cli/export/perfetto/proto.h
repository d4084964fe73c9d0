/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Protocol Buffers, as far as a writer needs them: a message is a row of fields, each with its
 * number and a varint, 8 bytes, or a length and bytes.  A message inside another is written into
 * a buffer of its own first.
 */
#ifndef CT_CLI_PROTO_H
#define CT_CLI_PROTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct ct_proto {
	uint8_t *data;
	size_t used, size;
	bool failed;		/* no memory: what follows is dropped */
};

#define CT_PROTO_VARINT	10	/* bytes at most */

static inline bool ct_proto_reserve(struct ct_proto *p, size_t len)
{
	size_t size;
	uint8_t *more;

	if (p->failed)
		return false;
	if (p->size - p->used >= len)
		return true;
	size = 2 * p->size + len + 64;
	more = realloc(p->data, size);
	if (!more) {
		p->failed = true;
		return false;
	}
	p->data = more;
	p->size = size;
	return true;
}

static inline void ct_proto_put_varint(struct ct_proto *p, uint64_t value)
{
	if (!ct_proto_reserve(p, CT_PROTO_VARINT))
		return;
	for (; value > 0x7f; value >>= 7)
		p->data[p->used++] = value | 0x80;
	p->data[p->used++] = value;
}

/* A number, an enum or a bool; a negative number is given as uint64_t. */
static inline void ct_proto_number(struct ct_proto *p, unsigned int field, uint64_t value)
{
	ct_proto_put_varint(p, field << 3);
	ct_proto_put_varint(p, value);
}

static inline void ct_proto_fixed64(struct ct_proto *p, unsigned int field, uint64_t value)
{
	ct_proto_put_varint(p, field << 3 | 1);
	if (!ct_proto_reserve(p, 8))
		return;
	for (unsigned int i = 0; i < 8; i++)
		p->data[p->used++] = value >> 8 * i;
}

static inline void ct_proto_bytes(struct ct_proto *p, unsigned int field, const void *bytes, size_t len)
{
	ct_proto_put_varint(p, field << 3 | 2);
	ct_proto_put_varint(p, len);
	if (!len || !ct_proto_reserve(p, len))
		return;
	memcpy(p->data + p->used, bytes, len);
	p->used += len;
}

/* @inner as a message, which is empty afterwards. */
static inline void ct_proto_message(struct ct_proto *p, unsigned int field, struct ct_proto *inner)
{
	p->failed |= inner->failed;
	ct_proto_bytes(p, field, inner->data, inner->used);
	inner->used = 0;
}

/* A string of any bytes: what is no UTF-8, and NUL, becomes U+FFFD. */
void ct_proto_text(struct ct_proto *p, unsigned int field, const char *text, size_t len);

static inline void ct_proto_free(struct ct_proto *p)
{
	free(p->data);
	*p = (struct ct_proto){ 0 };
}

#endif
