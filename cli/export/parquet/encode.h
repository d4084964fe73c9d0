/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parquet's encodings of numbers. */
#ifndef CT_CLI_PARQUET_ENCODE_H
#define CT_CLI_PARQUET_ENCODE_H

#include "export/parquet/bytes.h"

/* Bits that hold @value; 0 for 0. */
static inline unsigned int ct_bits(uint64_t value)
{
	return value ? 64 - __builtin_clzll(value) : 0;
}

/* RLE: runs of equal numbers of @width bits, and packed ones between them. */
void ct_encode_rle(struct ct_bytes *out, const uint32_t *values, size_t count, unsigned int width);

/* One bit each. */
void ct_encode_bits(struct ct_bytes *out, const uint64_t *values, size_t count);

/* DELTA_BINARY_PACKED: differences to the last number. */
void ct_encode_delta(struct ct_bytes *out, const uint64_t *values, size_t count);

#endif
