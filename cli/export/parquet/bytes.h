/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Bytes that grow.  No memory is kept as an error: what is written after it is dropped. */
#ifndef CT_CLI_PARQUET_BYTES_H
#define CT_CLI_PARQUET_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct ct_bytes {
	uint8_t *data;
	size_t len, size;
	bool failed;
};

/* Room for @more bytes at the end, which are not counted yet; NULL: no memory. */
static inline uint8_t *ct_bytes_room(struct ct_bytes *b, size_t more)
{
	size_t size = b->size ? b->size : 256;
	uint8_t *data;

	if (b->failed)
		return NULL;
	if (b->size - b->len >= more)
		return b->data + b->len;
	while (size - b->len < more)
		size *= 2;
	data = realloc(b->data, size);
	if (!data) {
		b->failed = true;
		return NULL;
	}
	b->data = data;
	b->size = size;
	return data + b->len;
}

static inline void ct_bytes_put(struct ct_bytes *b, const void *from, size_t len)
{
	uint8_t *to = ct_bytes_room(b, len);

	if (!to || !len)
		return;
	memcpy(to, from, len);
	b->len += len;
}

static inline void ct_bytes_u8(struct ct_bytes *b, uint8_t value)
{
	ct_bytes_put(b, &value, 1);
}

/* The low @width bytes of @value, the lowest first. */
static inline void ct_bytes_number(struct ct_bytes *b, uint64_t value, unsigned int width)
{
	uint8_t bytes[8];

	for (unsigned int i = 0; i < width; i++)
		bytes[i] = value >> (8 * i);
	ct_bytes_put(b, bytes, width);
}

/* ULEB128, and with the sign in the lowest bit. */
static inline void ct_bytes_varint(struct ct_bytes *b, uint64_t value)
{
	uint8_t bytes[10];
	unsigned int n = 0;

	do {
		bytes[n++] = (value & 0x7f) | (value > 0x7f ? 0x80 : 0);
		value >>= 7;
	} while (value);
	ct_bytes_put(b, bytes, n);
}

static inline void ct_bytes_zigzag(struct ct_bytes *b, int64_t value)
{
	ct_bytes_varint(b, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

static inline void ct_bytes_free(struct ct_bytes *b)
{
	free(b->data);
	*b = (struct ct_bytes){ 0 };
}

#endif
