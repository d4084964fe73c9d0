/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions that write a piece of JSON at p and return the address behind it.  The caller
 * provides memory for it and for 7 more bytes.  Numbers are not formatted by printf(),
 * because the speed of a reader depends on them.
 */
#ifndef CT_JSON_PUT_H
#define CT_JSON_PUT_H

#include <linux/bitops.h>
#include <linux/string.h>
#include <linux/types.h>

/* Bytes that a string and a text may take in a line, after escaping; more is cut. */
#define CT_STRING_SHOWN	1024u
#define CT_TEXT_SHOWN	4096u

/* Load a value from an address of any alignment. */
#define GET(type, at)	({ type v_; __builtin_memcpy(&v_, (at), sizeof(v_)); v_; })

/* Copy len bytes in words of 8: reads and writes up to 7 bytes more. */
static __always_inline char *put_words(char *p, const char *text, u32 len)
{
	u32 i;

	for (i = 0; i < len; i += sizeof(u64))
		__builtin_memcpy(p + i, text + i, sizeof(u64));
	return p + len;
}

/* Copy a literal: its length is known, so the compiler makes a few moves of it. */
#define PUT(p, literal)	\
	(__builtin_memcpy((p), (literal), sizeof(literal) - 1), (p) + sizeof(literal) - 1)

static inline char *put(char *p, const char *text)
{
	while (*text)
		*p++ = *text++;
	return p;
}

static const char digit_pairs[] =
	"00010203040506070809101112131415161718192021222324252627282930313233343536373839"
	"4041424344454647484950515253545556575859606162636465666768697071727374757677787980"
	"81828384858687888990919293949596979899";

static __always_inline void put_digit_pair(char *p, u32 v)
{
	p[0] = digit_pairs[2 * v];
	p[1] = digit_pairs[2 * v + 1];
}

static inline char *put_u64(char *p, u64 v)
{
	char digits[24];
	u32 n = 24;

	while (v >= 100) {
		u64 rest = v / 100;

		n -= 2;
		put_digit_pair(digits + n, v - rest * 100);
		v = rest;
	}
	if (v >= 10) {
		n -= 2;
		put_digit_pair(digits + n, v);
	} else {
		digits[--n] = '0' + v;
	}
	while (n < 24)
		*p++ = digits[n++];
	return p;
}

static inline char *put_s64(char *p, s64 v)
{
	if (v < 0) {
		*p++ = '-';
		return put_u64(p, -(u64)v);
	}
	return put_u64(p, v);
}

/* "0x..." in quotes, because JSON numbers lose bits above 2^53. */
static inline char *put_hex(char *p, u64 v)
{
	int shift = v ? (fls64(v) - 1) & ~3 : 0;

	p = put(p, "\"0x");
	for (; shift >= 0; shift -= 4)
		*p++ = "0123456789abcdef"[(v >> shift) & 15];
	*p++ = '"';
	return p;
}

/* v / 1000 with three decimals: 1234567 is 1234.567. */
static inline char *put_thousandths(char *p, u64 v)
{
	u64 whole = v / 1000;
	u32 rest = v - whole * 1000;

	p = put_u64(p, whole);
	p[0] = '.';
	p[1] = '0' + rest / 100;
	put_digit_pair(p + 2, rest % 100);
	return p + 4;
}

/* v / 1000000 with six decimals. */
static inline char *put_millionths(char *p, u64 v)
{
	u64 whole = v / 1000000;
	u32 rest = v - whole * 1000000;

	p = put_u64(p, whole);
	*p++ = '.';
	put_digit_pair(p, rest / 10000);
	put_digit_pair(p + 2, rest / 100 % 100);
	put_digit_pair(p + 4, rest % 100);
	return p + 6;
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
			p = put(p, "\\u00");
			*p++ = "0123456789abcdef"[c >> 4];
			*p++ = "0123456789abcdef"[c & 15];
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

static inline char *put_word(char *p, const char *text)
{
	return put_text(p, text, strlen(text), CT_STRING_SHOWN);
}

/* ,"key": */
static inline char *put_key(char *p, const char *key)
{
	*p++ = ',';
	p = put_word(p, key);
	*p++ = ':';
	return p;
}

#endif
