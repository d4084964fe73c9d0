/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions that write a piece of JSON at p, where the caller provides memory for it, and return
 * the address behind it.  Most numbers of a line are not formatted by printf(), because the speed
 * of a reader depends on them.
 */
#ifndef CT_PUT_H
#define CT_PUT_H

#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/types.h>

/* Bytes that a string and a text may take in a line, after escaping; more is cut. */
#define CT_STRING_SHOWN	1024u
#define CT_TEXT_SHOWN	4096u

/* Copy a text as it is.  The compiler makes a few moves of a literal, whose length it knows. */
static __always_inline char *put(char *p, const char *text)
{
	size_t len = strlen(text);

	memcpy(p, text, len);
	return p + len;
}

/* v divided by a power of ten: put_decimal(p, 1234567, 3) writes 1234.567. */
static inline char *put_decimal(char *p, u64 v, u32 decimals)
{
	char text[24], *end = text + sizeof(text), *at = end;
	u32 digits = 0;

	for (; v || digits <= decimals; v /= 10, digits++) {
		if (decimals && digits == decimals)
			*--at = '.';
		*--at = '0' + v % 10;
	}
	while (at < end)
		*p++ = *at++;
	return p;
}

static inline char *put_u64(char *p, u64 v)
{
	return put_decimal(p, v, 0);
}

static inline char *put_s64(char *p, s64 v)
{
	if (v < 0)
		*p++ = '-';
	return put_u64(p, v < 0 ? -(u64)v : v);
}

/* In quotes, because JSON numbers lose bits above 2^53. */
static inline char *put_hex(char *p, u64 v)
{
	return p + sprintf(p, "\"0x%llx\"", v);
}

/*
 * A JSON string: at most len bytes of text, up to the first NUL.  It takes at most room
 * bytes; a longer one is cut and ends in "...".  Control characters are escaped, for many read in
 * a terminal, which obeys them: also those above ASCII, U+0080 to U+009F, in UTF-8 or as a single
 * byte where no character has begun.  Other bytes above 0x7f are copied unchanged: a program's text
 * is UTF-8, or cannot be repaired here.
 */
static inline char *put_text(char *p, const char *text, size_t len, size_t room)
{
	const char *end = p + room - sizeof("\\u0000...\"");
	u32 follow = 0;	/* bytes of the character that has begun */
	size_t i;

	*p++ = '"';
	for (i = 0; i < len && text[i]; i++) {
		unsigned char c = text[i];

		if (p >= end) {
			p = put(p, "...");
			break;
		}
		/* A byte that begins a character ends one that was cut. */
		if (c < 0x80 || c >= 0xc0)
			follow = 0;
		if (c == '"' || c == '\\') {
			*p++ = '\\';
			*p++ = c;
		} else if (c < 0x20 || c == 0x7f || (!follow && c >= 0x80 && c < 0xa0)) {
			p += sprintf(p, "\\u%04x", c);
		} else if (c == 0xc2 && i + 1 < len && ((u8)text[i + 1] & 0xe0) == 0x80) {
			continue;	/* the next byte is escaped */
		} else {
			*p++ = c;
			if (c >= 0xc0)
				follow = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : 1;
			else if (follow)
				follow--;
		}
	}
	*p++ = '"';
	return p;
}

static inline char *put_string(char *p, const char *text)
{
	return put_text(p, text, strlen(text), CT_STRING_SHOWN);
}

#endif
