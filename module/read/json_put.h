/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pieces of JSON, written at p; each returns the place behind what it wrote.  Whoever
 * calls them has room for it, and for 7 bytes more.  Numbers are formatted here and
 * not by printf(): this is what a reader's speed depends on.
 */
#ifndef CT_JSON_PUT_H
#define CT_JSON_PUT_H

#include <linux/bitops.h>
#include <linux/string.h>
#include <linux/types.h>

/* Bytes that a string and a text may take in a line, after escaping; more is cut. */
#define CT_STRING_SHOWN	1024u
#define CT_TEXT_SHOWN	4096u

/* Words at any address; the moves are the compiler's. */
#define GET(type, at)	({ type v_; __builtin_memcpy(&v_, (at), sizeof(v_)); v_; })

/* len bytes, in words: may write and read up to 7 more, for which there is room. */
static __always_inline char *put_words(char *p, const char *text, u32 len)
{
	u32 i;

	for (i = 0; i < len; i += sizeof(u64))
		__builtin_memcpy(p + i, text + i, sizeof(u64));
	return p + len;
}

/* A literal: its length is known, so this is a few moves. */
#define PUT(p, literal)	\
	(__builtin_memcpy((p), (literal), sizeof(literal) - 1), (p) + sizeof(literal) - 1)

static inline char *put(char *p, const char *text)
{
	while (*text)
		*p++ = *text++;
	return p;
}

static const char pairs[] =
	"00010203040506070809101112131415161718192021222324252627282930313233343536373839"
	"4041424344454647484950515253545556575859606162636465666768697071727374757677787980"
	"81828384858687888990919293949596979899";

static __always_inline void put_pair(char *p, u32 v)
{
	p[0] = pairs[2 * v];
	p[1] = pairs[2 * v + 1];
}

static inline char *put_u64(char *p, u64 v)
{
	char digits[24];
	u32 n = 24;

	while (v >= 100) {
		u64 rest = v / 100;

		n -= 2;
		put_pair(digits + n, v - rest * 100);
		v = rest;
	}
	if (v >= 10) {
		n -= 2;
		put_pair(digits + n, v);
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

/* "0x..." in quotes: JSON numbers lose bits past 2^53. */
static inline char *put_hex(char *p, u64 v)
{
	int shift = v ? (fls64(v) - 1) & ~3 : 0;

	p = put(p, "\"0x");
	for (; shift >= 0; shift -= 4)
		*p++ = "0123456789abcdef"[(v >> shift) & 15];
	*p++ = '"';
	return p;
}

/* v / 1000 with all its decimals: 1234567 is 1234.567. */
static inline char *put_thousandths(char *p, u64 v)
{
	u64 whole = v / 1000;
	u32 rest = v - whole * 1000;

	p = put_u64(p, whole);
	p[0] = '.';
	p[1] = '0' + rest / 100;
	put_pair(p + 2, rest % 100);
	return p + 4;
}

/* The same of v / 1000000. */
static inline char *put_millionths(char *p, u64 v)
{
	u64 whole = v / 1000000;
	u32 rest = v - whole * 1000000;

	p = put_u64(p, whole);
	*p++ = '.';
	put_pair(p, rest / 10000);
	put_pair(p + 2, rest / 100 % 100);
	put_pair(p + 4, rest % 100);
	return p + 6;
}

/*
 * A JSON string: at most len bytes of text, to the first NUL, in at most room bytes
 * (cut, with "..." at its end, where it needs more).  Other than ASCII goes through
 * as it is, because a program's text is UTF-8 or not ours to mend.
 */
static inline char *put_text(char *p, const char *text, size_t len, size_t room)
{
	const char *end = p + room - sizeof("\\u0000...\"");
	size_t i;

	*p++ = '"';
	for (i = 0; i < len && text[i]; i++) {
		unsigned char c = text[i];

		if (p >= end) {
			p = put(p, "...");
			break;
		}
		if (c == '"' || c == '\\') {
			*p++ = '\\';
			*p++ = c;
		} else if (c < 0x20 || c == 0x7f) {
			p = put(p, "\\u00");
			*p++ = "0123456789abcdef"[c >> 4];
			*p++ = "0123456789abcdef"[c & 15];
		} else {
			*p++ = c;
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
