// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Buffered output.  Must never call printf for a field of a record: a trace has
 * millions of them.
 */
#include "base/out.h"

#include <errno.h>
#include <stdlib.h>

#include "base/file.h"

int ct_out_open(struct ct_out *out, int fd)
{
	*out = (struct ct_out){ .fd = fd, .buffer = malloc(CT_OUT_SIZE) };
	return out->buffer ? 0 : -ENOMEM;
}

int ct_out_flush(struct ct_out *out)
{
	if (!out->error)
		out->error = ct_write_all(out->fd, out->buffer, out->used);
	out->used = 0;
	return out->error;
}

void ct_out_long(struct ct_out *out, const char *bytes, size_t len)
{
	while (len) {
		size_t space = CT_OUT_SIZE - out->used, n = len < space ? len : space;

		memcpy(out->buffer + out->used, bytes, n);
		out->used += n;
		bytes += n;
		len -= n;
		if (out->used == CT_OUT_SIZE)
			ct_out_flush(out);
	}
}

int ct_out_close(struct ct_out *out)
{
	int rc = out->buffer ? ct_out_flush(out) : -EINVAL;

	free(out->buffer);
	out->buffer = NULL;
	return rc;
}

/* Two digits at a time, from the end of @end backwards. */
static char *out_digits(char *end, uint64_t value)
{
	static const char pairs[] =
		"00010203040506070809101112131415161718192021222324"
		"25262728293031323334353637383940414243444546474849"
		"50515253545556575859606162636465666768697071727374"
		"75767778798081828384858687888990919293949596979899";

	while (value >= 100) {
		end -= 2;
		memcpy(end, pairs + 2 * (value % 100), 2);
		value /= 100;
	}
	if (value >= 10) {
		end -= 2;
		memcpy(end, pairs + 2 * value, 2);
	} else {
		*--end = '0' + value;
	}
	return end;
}

void ct_out_u64(struct ct_out *out, uint64_t value)
{
	char text[20], *p = out_digits(text + sizeof(text), value);

	ct_out_bytes(out, p, text + sizeof(text) - p);
}

void ct_out_s64(struct ct_out *out, int64_t value)
{
	if (value < 0) {
		ct_out_char(out, '-');
		ct_out_u64(out, -(uint64_t)value);
	} else {
		ct_out_u64(out, value);
	}
}

void ct_out_hex(struct ct_out *out, uint64_t value)
{
	static const char digit[] = "0123456789abcdef";
	char text[18], *p = text + sizeof(text);

	do {
		*--p = digit[value & 15];
		value >>= 4;
	} while (value);
	*--p = 'x';
	*--p = '0';
	ct_out_bytes(out, p, text + sizeof(text) - p);
}

void ct_out_fixed(struct ct_out *out, int64_t value, unsigned int decimals)
{
	uint64_t v = value < 0 ? -(uint64_t)value : (uint64_t)value;
	char text[24], *end = text + sizeof(text), *p;

	p = out_digits(end, v);
	while ((size_t)(end - p) <= decimals)
		*--p = '0';
	if (value < 0)
		ct_out_char(out, '-');
	ct_out_bytes(out, p, end - p - decimals);
	ct_out_char(out, '.');
	ct_out_bytes(out, end - decimals, decimals);
}

unsigned int ct_utf8(const char *text, size_t left)
{
	const unsigned char *p = (const unsigned char *)text;
	unsigned int len = *p >= 0xf0 && *p <= 0xf4 ? 4 : *p >= 0xe0 && *p <= 0xef ? 3 :
			   *p >= 0xc2 && *p <= 0xdf ? 2 : 0;

	if (!len || left < len)
		return 0;
	for (unsigned int i = 1; i < len; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	/* Overlong forms, surrogates, beyond U+10FFFF. */
	if ((*p == 0xe0 && p[1] < 0xa0) || (*p == 0xed && p[1] > 0x9f) ||
	    (*p == 0xf0 && p[1] < 0x90) || (*p == 0xf4 && p[1] > 0x8f))
		return 0;
	return len;
}

void ct_out_json(struct ct_out *out, const char *text, size_t len)
{
	static const char digit[] = "0123456789abcdef";
	const unsigned char *p = (const unsigned char *)text, *end = p + len;

	ct_out_char(out, '"');
	while (p < end) {
		const unsigned char *plain = p;
		unsigned int n;

		while (p < end && *p >= 0x20 && *p < 0x7f && *p != '"' && *p != '\\')
			p++;
		if (p > plain)
			ct_out_bytes(out, plain, p - plain);
		if (p == end)
			break;
		if (*p == '"' || *p == '\\') {
			ct_out_char(out, '\\');
			ct_out_char(out, *p++);
		} else if (*p < 0x20 || *p == 0x7f ||
			   (*p == 0xc2 && end - p > 1 && p[1] >= 0x80 && p[1] < 0xa0)) {
			/* Control characters, also those of Latin-1: a terminal obeys both. */
			unsigned int c = *p == 0xc2 ? p[1] : *p;
			char escape[6] = { '\\', 'u', '0', '0', digit[c >> 4], digit[c & 15] };

			ct_out_bytes(out, escape, 6);
			p += *p == 0xc2 ? 2 : 1;
		} else {
			n = ct_utf8((const char *)p, end - p);
			if (n)
				ct_out_bytes(out, p, n);
			else
				ct_out_bytes(out, "\xef\xbf\xbd", 3);
			p += n ? n : 1;
		}
	}
	ct_out_char(out, '"');
}
