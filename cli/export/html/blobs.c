// SPDX-License-Identifier: LGPL-2.1-or-later
/* See blobs.h. */
#include "export/html/blobs.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/grow.h"
#include "export/html/json.h"

#ifdef CT_HAVE_ZLIB
#include <zlib.h>

#define BLOBS_LEVEL	6
#define BLOBS_STEP	(1u << 30)	/* zlib counts in 32 bits */

int ct_html_blobs_init(struct ct_html_blobs *b)
{
	z_stream *z = calloc(1, sizeof(*z));

	*b = (struct ct_html_blobs){ 0 };
	if (!z || deflateInit2(z, BLOBS_LEVEL, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY) != Z_OK) {
		free(z);
		return -ENOMEM;
	}
	b->stream = z;
	return 0;
}

static void blobs_end(struct ct_html_blobs *b)
{
	if (b->stream)
		deflateEnd(b->stream);
	free(b->stream);
}

/* Appends @size bytes, compressed. */
static int blobs_deflate(struct ct_html_blobs *b, const uint8_t *bytes, size_t size)
{
	z_stream *z = b->stream;
	size_t bound = size + size / 1000 + 256;
	int rc;

	if (size > BLOBS_STEP)
		return -E2BIG;
	if (b->room - b->size < bound) {
		size_t room = b->room + b->room / 2 + bound;
		uint8_t *more = realloc(b->data, room);

		if (!more)
			return -ENOMEM;
		b->data = more;
		b->room = room;
	}
	if (deflateReset(z) != Z_OK)
		return -EINVAL;
	z->next_in = (uint8_t *)bytes;
	z->avail_in = size;
	z->next_out = b->data + b->size;
	z->avail_out = bound;
	rc = deflate(z, Z_FINISH);
	if (rc != Z_STREAM_END)
		return -EINVAL;
	b->size += bound - z->avail_out;
	return 0;
}
#else
int ct_html_blobs_init(struct ct_html_blobs *b)
{
	*b = (struct ct_html_blobs){ 0 };
	return -ENOTSUP;
}

static void blobs_end(struct ct_html_blobs *b)
{
	(void)b;
}

static int blobs_deflate(struct ct_html_blobs *b, const uint8_t *bytes, size_t size)
{
	(void)b, (void)bytes, (void)size;
	return -ENOTSUP;
}
#endif

void ct_html_blobs_free(struct ct_html_blobs *b)
{
	blobs_end(b);
	free(b->data);
	free(b->list);
	free(b->raw);
	*b = (struct ct_html_blobs){ 0 };
}

/* ------------------------------------------------------------- encoding --- */

static uint8_t *blobs_varint(uint8_t *p, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		*p++ = value | 0x80;
	*p++ = value;
	return p;
}

static size_t blobs_varints(uint8_t *raw, const uint64_t *values, size_t count, bool delta)
{
	uint64_t last = 0;
	uint8_t *p = raw;

	for (size_t i = 0; i < count; i++) {
		uint64_t d = values[i] - last;

		if (!delta) {
			p = blobs_varint(p, values[i]);
			continue;
		}
		p = blobs_varint(p, d << 1 ^ -(d >> 63));
		last = values[i];
	}
	return p - raw;
}

/* Bytes of the smallest type that holds all values. */
static unsigned int blobs_width(const uint64_t *values, size_t count, bool sign)
{
	uint64_t all = 0;

	for (size_t i = 0; i < count; i++)
		all |= sign ? (values[i] ^ -(values[i] >> 63)) << 1 : values[i];
	return all >> 32 ? 8 : all >> 16 ? 4 : all >> 8 ? 2 : 1;
}

static size_t blobs_plain(uint8_t *raw, const uint64_t *values, size_t count, unsigned int width)
{
	switch (width) {
	case 8:
		memcpy(raw, values, count * 8);
		break;
	case 4:
		for (size_t i = 0; i < count; i++)
			((uint32_t *)raw)[i] = values[i];
		break;
	case 2:
		for (size_t i = 0; i < count; i++)
			((uint16_t *)raw)[i] = values[i];
		break;
	default:
		for (size_t i = 0; i < count; i++)
			raw[i] = values[i];
	}
	return count * width;
}

static struct ct_html_blob *blobs_add(struct ct_html_blobs *b)
{
	if (!ct_room(b->list, b->count, b->capacity)) {
		b->error = -ENOMEM;
		return NULL;
	}
	b->list[b->count] = (struct ct_html_blob){ .at = b->size };
	return &b->list[b->count++];
}

/* Compresses @size bytes as the blob that was added last. */
static void blobs_store(struct ct_html_blobs *b, const uint8_t *bytes, size_t size)
{
	size_t at = b->size;

	b->error = blobs_deflate(b, bytes, size);
	b->list[b->count - 1].size = b->size - at;
}

static bool blobs_const(const uint64_t *values, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (values[i] != values[0])
			return false;
	return !count || values[0] >> 53 == 0;
}

static void blobs_encode(struct ct_html_blobs *b, struct ct_html_blob *blob, enum ct_html_coding coding,
			 const uint64_t *values)
{
	static const char *const types[2][9] = {
		{ [1] = "u8", [2] = "u16", [4] = "u32", [8] = "u64" },
		{ [1] = "s8", [2] = "s16", [4] = "s32", [8] = "s64" },
	};
	size_t count = blob->count, size;
	unsigned int width;

	if (blobs_const(values, count)) {
		blob->coding = "const";
		blob->value = count ? values[0] : 0;
		return;
	}
	if (b->raw_room < count * 10) {
		free(b->raw);
		b->raw = malloc(count * 10);
		b->raw_room = b->raw ? count * 10 : 0;
	}
	if (!b->raw) {
		b->error = -ENOMEM;
		return;
	}
	if (coding == CT_HTML_VARINT || coding == CT_HTML_DELTA) {
		blob->coding = coding == CT_HTML_DELTA ? "delta" : "varint";
		size = blobs_varints(b->raw, values, count, coding == CT_HTML_DELTA);
	} else {
		blob->coding = "plain";
		width = blobs_width(values, count, coding == CT_HTML_SIGNED);
		blob->type = types[coding == CT_HTML_SIGNED][width];
		size = blobs_plain(b->raw, values, count, width);
	}
	blobs_store(b, b->raw, size);
}

void ct_html_column(struct ct_html_blobs *b, enum ct_html_coding coding, const uint64_t *values, size_t count,
		    const char *name, ...)
{
	struct ct_html_blob *blob = b->error ? NULL : blobs_add(b);
	va_list list;

	if (!blob)
		return;
	va_start(list, name);
	vsnprintf(blob->name, sizeof(blob->name), name, list);
	va_end(list);
	blob->count = count;
	blobs_encode(b, blob, coding, values);
}

void ct_html_json_blob(struct ct_html_blobs *b, const char *name, const char *bytes, size_t size)
{
	struct ct_html_blob *blob = b->error ? NULL : blobs_add(b);

	if (!blob)
		return;
	snprintf(blob->name, sizeof(blob->name), "%s", name);
	blob->count = 1;
	blob->coding = "json";
	blobs_store(b, (const uint8_t *)bytes, size);
}

/* -------------------------------------------------------------- writing --- */

void ct_html_blobs_list(const struct ct_html_blobs *b, struct ct_out *out)
{
	for (uint32_t i = 0; i < b->count; i++) {
		const struct ct_html_blob *blob = &b->list[i];

		ct_out_text(out, i ? ",\n\"" : "{\n\"");
		ct_out_text(out, blob->name);
		ct_out_text(out, "\":{\"coding\":\"");
		ct_out_text(out, blob->coding);
		ct_out_text(out, "\",\"count\":");
		ct_out_u64(out, blob->count);
		if (*blob->coding == 'c') {
			ct_html_u64(out, ",\"value\":", blob->value);
		} else {
			ct_html_u64(out, ",\"at\":", blob->at);
			ct_html_u64(out, ",\"size\":", blob->size);
		}
		if (blob->type)
			ct_html_text(out, ",\"type\":", blob->type);
		ct_out_char(out, '}');
	}
	ct_out_text(out, b->count ? "}" : "{}");
}

void ct_html_blobs_base64(const struct ct_html_blobs *b, struct ct_out *out)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const uint8_t *p = b->data, *end = p + b->size;
	char text[4];

	for (; end - p >= 3; p += 3) {
		text[0] = digits[p[0] >> 2];
		text[1] = digits[(p[0] & 3) << 4 | p[1] >> 4];
		text[2] = digits[(p[1] & 15) << 2 | p[2] >> 6];
		text[3] = digits[p[2] & 63];
		ct_out_bytes(out, text, 4);
	}
	if (p == end)
		return;
	text[0] = digits[p[0] >> 2];
	text[1] = digits[(p[0] & 3) << 4 | (end - p > 1 ? p[1] >> 4 : 0)];
	text[2] = end - p > 1 ? digits[(p[1] & 15) << 2] : '=';
	text[3] = '=';
	ct_out_bytes(out, text, 4);
}
