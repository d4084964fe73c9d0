/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Characters of Python's strings as UTF-8.  The recorder, which reads them from outside, uses it, too. */
#ifndef CT_STACKS_TEXT_H
#define CT_STACKS_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* Control characters would end lines of the registry; half a surrogate is a byte of a file's name that is no UTF-8. */
static inline uint32_t text_printable(uint32_t c)
{
	return c < 0x20 || c == 0x7f ? '?' : (c >= 0xd800 && c < 0xe000) || c >= 0x110000 ? 0xfffd : c;
}

static inline size_t text_utf8_size(uint32_t c)
{
	c = text_printable(c);
	return c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
}

/* Writes it; the number of its bytes. */
static inline size_t text_utf8(char *to, uint32_t c)
{
	size_t size = text_utf8_size(c);

	c = text_printable(c);
	for (size_t i = size - 1; i; i--, c >>= 6)
		to[i] = (char)(0x80 | (c & 63));
	to[0] = (char)(size == 1 ? c : (0xf00u >> size & 0xf0) | c);
	return size;
}

#endif
