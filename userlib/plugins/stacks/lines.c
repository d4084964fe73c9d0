// SPDX-License-Identifier: LGPL-2.1-or-later
/* See lines.h.  Must never read behind the table. */
#include "lines.h"

/* 3.9: a byte more of code, a line more (signed), and so on. */
static int64_t lines_lnotab(const uint8_t *p, size_t size, int64_t line, int64_t at)
{
	int64_t address = 0;

	for (; size >= 2; p += 2, size -= 2) {
		address += p[0];
		if (address > at)
			break;
		line += (int8_t)p[1];
	}
	return line;
}

/* 3.10: bytes of code, and by how much its line differs from the one before; -128: it has none. */
static int64_t lines_pairs(const uint8_t *p, size_t size, int64_t line, int64_t at)
{
	int64_t end = 0;

	for (; size >= 2; p += 2, size -= 2) {
		int8_t more = (int8_t)p[1];

		end += p[0];
		if (more != -128)
			line += more;
		if (end > at)
			return more == -128 ? -1 : line;
	}
	return -1;
}

/* A number of six bits a byte, the lowest first; the lowest bit is the sign. */
static int lines_signed(const uint8_t *p, const uint8_t *end)
{
	uint32_t value = 0;
	unsigned int shift = 0;

	for (; p < end && shift < 32; p++, shift += 6) {
		value |= (uint32_t)(*p & 63) << shift;
		if (!(*p & 64))
			break;
	}
	return value & 1 ? -(int)(value >> 1) : (int)(value >> 1);
}

/* 3.11: entries begin with a byte above 127: 1, four bits of its kind, and its units less one. */
static int64_t lines_locations(const uint8_t *p, size_t size, int64_t line, int64_t at)
{
	const uint8_t *end = p + size;
	int64_t address = 0;

	while (p < end) {
		unsigned int kind = *p >> 3 & 15;

		address += 2 * ((*p & 7) + 1);
		p++;
		if (kind == 13 || kind == 14)
			line += lines_signed(p, end);
		else if (kind >= 10 && kind <= 12)
			line += (int)kind - 10;
		if (address > at)
			return kind == 15 ? -1 : line;
		while (p < end && !(*p & 128))
			p++;
	}
	return -1;
}

int lines_find(enum line_format format, const uint8_t *table, size_t size, int first, int64_t at)
{
	int64_t line = first;

	if (at >= 0 && format == LINES_LNOTAB)
		line = lines_lnotab(table, size, first, at);
	else if (at >= 0 && format == LINES_PAIRS)
		line = lines_pairs(table, size, first, at);
	else if (at >= 0)
		line = lines_locations(table, size, first, at);
	return line == (int)line ? line : -1;
}
