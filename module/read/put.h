/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions that write a piece of JSON at p, where the caller provides memory for it and for 7
 * more bytes, and return the address behind it.  Most numbers of a line are not formatted by
 * printf(), because the speed of a reader depends on them.
 */
#ifndef CT_PUT_H
#define CT_PUT_H

#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/types.h>

/* Bytes that a string and a text may take in a line, after escaping; more is cut. */
#define CT_STRING_SHOWN	1024u
#define CT_TEXT_SHOWN	4096u

/*
 * Copy a text as it is.  The compiler makes a few moves of a literal, whose length it knows: of its
 * own functions, while those of the kernel may check sizes when they run.
 */
static __always_inline char *put(char *p, const char *text)
{
	size_t len = __builtin_strlen(text);

	if (__builtin_constant_p(len)) {
		__builtin_memcpy(p, text, len);
		return p + len;
	}
	while (*text)
		*p++ = *text++;
	return p;
}

/* Copy len bytes in words of 8: reads and writes up to 7 bytes more. */
static __always_inline char *put_words(char *p, const char *text, u32 len)
{
	u32 i;

	for (i = 0; i < len; i += sizeof(u64))
		__builtin_memcpy(p + i, text + i, sizeof(u64));
	return p + len;
}

static const char digit_pairs[] =
	"00010203040506070809101112131415161718192021222324252627282930313233343536373839"
	"4041424344454647484950515253545556575859606162636465666768697071727374757677787980"
	"81828384858687888990919293949596979899";

/*
 * The last count digits of v, in their place: kernels that zero variables on the stack would zero a
 * buffer there.
 */
static __always_inline char *put_digits(char *p, u64 v, u32 count)
{
	char *at = p + count;

	for (; at - p >= 2; v /= 100) {
		at -= 2;
		__builtin_memcpy(at, digit_pairs + v % 100 * 2, 2);
	}
	if (at > p)
		*p = '0' + v % 10;
	return p + count;
}

static inline char *put_u64(char *p, u64 v)
{
	u32 count = 1;
	u64 power;

	for (power = 10; count < 20 && v >= power; power *= 10)
		count++;
	return put_digits(p, v, count);
}

/* v / 1000000 with six decimals: 1234567 is 1.234567. */
static inline char *put_millionths(char *p, u64 v)
{
	return put_digits(put(put_u64(p, v / 1000000), "."), v, 6);
}

/* v / 1000 with three decimals. */
static inline char *put_thousandths(char *p, u64 v)
{
	return put_digits(put(put_u64(p, v / 1000), "."), v, 3);
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
	int shift = v ? (fls64(v) - 1) & ~3 : 0;

	p = put(p, "\"0x");
	for (; shift >= 0; shift -= 4)
		*p++ = "0123456789abcdef"[v >> shift & 15];
	*p++ = '"';
	return p;
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
		if (c >= 0x20 && c < 0x7f && c != '"' && c != '\\') {
			*p++ = c;
			follow = 0;
			continue;
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
