// SPDX-License-Identifier: LGPL-2.1-or-later
/* See encode.h. */
#include "export/parquet/encode.h"

/* Bits of numbers one after the other, the lowest first. */
struct packer {
	struct ct_bytes *out;
	uint64_t bits;
	unsigned int count;		/* of bits; less than 8 after pack() */
};

static void pack_some(struct packer *p, uint64_t value, unsigned int width)
{
	p->bits |= value << p->count;
	p->count += width;
	for (; p->count >= 8; p->count -= 8, p->bits >>= 8)
		ct_bytes_u8(p->out, p->bits);
}

static void pack(struct packer *p, uint64_t value, unsigned int width)
{
	if (width > 32) {
		pack_some(p, value & 0xffffffff, 32);
		value >>= 32;
		width -= 32;
	}
	pack_some(p, value, width);
}

/* In groups of 8, of which the last is filled with zeros. */
static void rle_packed(struct ct_bytes *out, const uint32_t *values, size_t count, unsigned int width)
{
	struct packer p = { .out = out };
	size_t groups = (count + 7) / 8;

	if (!count)
		return;
	ct_bytes_varint(out, groups << 1 | 1);
	for (size_t i = 0; i < groups * 8; i++)
		pack(&p, i < count ? values[i] : 0, width);
}

void ct_encode_rle(struct ct_bytes *out, const uint32_t *values, size_t count, unsigned int width)
{
	size_t packed = 0, i = 0;	/* [packed, i) are to be packed */

	while (i < count) {
		size_t run = 1, fill;

		while (i + run < count && values[i + run] == values[i])
			run++;
		/* Only the last group may be filled, so a run gives what is missing. */
		fill = (8 - (i - packed) % 8) % 8;
		if (run >= fill + 8) {
			rle_packed(out, values + packed, i + fill - packed, width);
			ct_bytes_varint(out, (run - fill) << 1);
			ct_bytes_number(out, values[i], (width + 7) / 8);
			packed = i + run;
		}
		i += run;
	}
	rle_packed(out, values + packed, count - packed, width);
}

void ct_encode_bits(struct ct_bytes *out, const uint64_t *values, size_t count)
{
	struct packer p = { .out = out };

	for (size_t i = 0; i < count; i++)
		pack_some(&p, values[i] & 1, 1);
	if (p.count)
		pack_some(&p, 0, 8 - p.count);
}

#define BLOCK		128
#define MINIBLOCKS	4
#define MINI		(BLOCK / MINIBLOCKS)

static void delta_block(struct ct_bytes *out, uint64_t *deltas, unsigned int count)
{
	uint64_t least = deltas[0], widest[MINIBLOCKS] = { 0 };

	for (unsigned int i = 1; i < count; i++)
		if ((int64_t)deltas[i] < (int64_t)least)
			least = deltas[i];
	for (unsigned int i = 0; i < BLOCK; i++) {
		deltas[i] = i < count ? deltas[i] - least : 0;
		widest[i / MINI] |= deltas[i];
	}
	ct_bytes_zigzag(out, (int64_t)least);
	for (unsigned int i = 0; i < MINIBLOCKS; i++)
		ct_bytes_u8(out, ct_bits(widest[i]));
	/* Those that hold nothing have a width, and no bytes. */
	for (unsigned int i = 0; i * MINI < count; i++) {
		struct packer p = { .out = out };

		for (unsigned int k = 0; k < MINI; k++)
			pack(&p, deltas[i * MINI + k], ct_bits(widest[i]));
	}
}

void ct_encode_delta(struct ct_bytes *out, const uint64_t *values, size_t count)
{
	uint64_t deltas[BLOCK];
	unsigned int n = 0;

	ct_bytes_varint(out, BLOCK);
	ct_bytes_varint(out, MINIBLOCKS);
	ct_bytes_varint(out, count);
	ct_bytes_zigzag(out, count ? (int64_t)values[0] : 0);
	for (size_t i = 1; i < count; i++) {
		deltas[n++] = values[i] - values[i - 1];
		if (n == BLOCK || i + 1 == count) {
			delta_block(out, deltas, n);
			n = 0;
		}
	}
}
