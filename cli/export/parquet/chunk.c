// SPDX-License-Identifier: LGPL-2.1-or-later
/* See chunk.h.  The numbers of types, encodings and fields are those of parquet.thrift. */
#include "export/parquet/chunk.h"

#include <errno.h>

#include "export/parquet/encode.h"

#define PAGE_BYTES	(1u << 20)	/* of texts outside the dictionary */
#define RANGE_BYTES	128		/* the longest text that a range is told of */

enum { BOOLEAN = 0, INT32 = 1, INT64 = 2, BYTE_ARRAY = 6 };
enum { PLAIN = 0, RLE = 3, DELTA = 5, RLE_DICTIONARY = 8 };
enum { DATA_PAGE = 0, DICTIONARY_PAGE = 2 };
enum { ZSTD = 6 };

/* By enum ct_parquet_type.  converted: what older readers know, -1: nothing. */
static const struct {
	uint8_t physical, width;
	int8_t converted;
	bool is_signed;
} types[] = {
	[CT_PARQUET_BOOL] = { BOOLEAN, 1, -1, false },
	[CT_PARQUET_S32] = { INT32, 4, -1, true },
	[CT_PARQUET_S64] = { INT64, 8, -1, true },
	[CT_PARQUET_U32] = { INT32, 4, 13, false },
	[CT_PARQUET_U64] = { INT64, 8, 14, false },
	[CT_PARQUET_MICROS] = { INT64, 8, 10, true },
	[CT_PARQUET_TEXT] = { BYTE_ARRAY, 0, 0, false },
};

static bool chunk_wants_dictionary(const struct ct_parquet_column *column)
{
	return column->type != CT_PARQUET_BOOL && !column->rising && !column->various;
}

int ct_chunk_init(struct ct_chunk *c, const struct ct_parquet_column *column)
{
	*c = (struct ct_chunk){ .column = column };
	c->known.texts = column->type == CT_PARQUET_TEXT;
	c->dictionary = chunk_wants_dictionary(column);
	c->present = malloc(CT_PAGE_ROWS * sizeof(*c->present));
	c->indices = malloc(CT_PAGE_ROWS * sizeof(*c->indices));
	c->numbers = malloc(CT_PAGE_ROWS * sizeof(*c->numbers));
	return c->present && c->indices && c->numbers ? 0 : -ENOMEM;
}

void ct_chunk_free(struct ct_chunk *c)
{
	free(c->present);
	free(c->indices);
	free(c->numbers);
	ct_bytes_free(&c->texts);
	ct_bytes_free(&c->pages);
	ct_dictionary_free(&c->known);
	*c = (struct ct_chunk){ 0 };
}

/* ------------------------------------------------------------------ pages --- */

static void chunk_page_head(struct ct_chunk *c, unsigned int type, size_t plain, size_t packed,
			    unsigned int encoding, uint32_t values)
{
	struct ct_thrift t = ct_thrift(&c->pages);

	ct_thrift_struct(&t);
	ct_thrift_field_i32(&t, 1, type);
	ct_thrift_field_i32(&t, 2, plain);
	ct_thrift_field_i32(&t, 3, packed);
	ct_thrift_field_struct(&t, type == DATA_PAGE ? 5 : 7);
	ct_thrift_field_i32(&t, 1, values);
	ct_thrift_field_i32(&t, 2, encoding);
	if (type == DATA_PAGE) {
		ct_thrift_field_i32(&t, 3, RLE);
		ct_thrift_field_i32(&t, 4, RLE);
	}
	ct_thrift_end(&t);
	ct_thrift_end(&t);
}

static void chunk_put_page(struct ct_chunk *c, struct ct_compress *z, unsigned int type,
			   struct ct_bytes *plain, unsigned int encoding, uint32_t values)
{
	struct ct_bytes packed = { 0 };
	size_t before = c->pages.len;

	ct_compress_put(z, &packed, plain);
	chunk_page_head(c, type, plain->len, packed.len, encoding, values);
	c->plain_size += c->pages.len - before + plain->len;
	ct_bytes_put(&c->pages, packed.data, packed.len);
	c->failed |= plain->failed || packed.failed || c->pages.failed;
	ct_bytes_free(&packed);
}

static unsigned int chunk_put_values(struct ct_chunk *c, struct ct_bytes *page)
{
	unsigned int width = types[c->column->type].width;

	if (!c->values)
		return PLAIN;
	if (c->dictionary) {
		width = ct_bits(c->known.count - 1);
		ct_bytes_u8(page, width);
		ct_encode_rle(page, c->indices, c->values, width);
		c->indexed = true;
		return RLE_DICTIONARY;
	}
	if (c->column->type == CT_PARQUET_TEXT)
		ct_bytes_put(page, c->texts.data, c->texts.len);
	else if (c->column->type == CT_PARQUET_BOOL)
		ct_encode_bits(page, c->numbers, c->values);
	else if (c->column->rising)
		ct_encode_delta(page, c->numbers, c->values);
	else
		for (uint32_t i = 0; i < c->values; i++)
			ct_bytes_number(page, c->numbers[i], width);
	return c->column->rising ? DELTA : PLAIN;
}

static void chunk_end_page(struct ct_chunk *c, struct ct_compress *z)
{
	struct ct_bytes page = { 0 }, levels = { 0 };
	unsigned int encoding;

	if (!c->rows)
		return;
	if (!c->column->required) {
		ct_encode_rle(&levels, c->present, c->rows, 1);
		ct_bytes_number(&page, levels.len, 4);
		ct_bytes_put(&page, levels.data, levels.len);
	}
	c->failed |= levels.failed || c->texts.failed;
	encoding = chunk_put_values(c, &page);
	chunk_put_page(c, z, DATA_PAGE, &page, encoding, c->rows);
	c->total_rows += c->rows;
	c->rows = c->values = 0;
	c->texts.len = 0;
	ct_bytes_free(&levels);
	ct_bytes_free(&page);
}

/* The dictionary is full: what comes now stands as it is. */
static void chunk_fall_back(struct ct_chunk *c, struct ct_compress *z)
{
	chunk_end_page(c, z);
	c->failed |= c->known.failed;
	c->dictionary = false;
	c->fell_back = true;
}

static void chunk_row(struct ct_chunk *c, struct ct_compress *z, bool present)
{
	c->present[c->rows++] = present;
	c->values += present;
	c->nulls += !present;
	if (c->rows == CT_PAGE_ROWS || c->texts.len >= PAGE_BYTES)
		chunk_end_page(c, z);
}

void ct_chunk_null(struct ct_chunk *c, struct ct_compress *z)
{
	chunk_row(c, z, false);
}

/* Signed numbers are compared as unsigned ones after their sign is turned round. */
static uint64_t chunk_order(const struct ct_chunk *c, uint64_t number)
{
	return types[c->column->type].is_signed ? number ^ 1ull << 63 : number;
}

void ct_chunk_number(struct ct_chunk *c, struct ct_compress *z, uint64_t number)
{
	uint64_t order = chunk_order(c, number);
	uint8_t bytes[8];
	uint32_t i;

	if (!c->ranged || order < c->least)
		c->least = order;
	if (!c->ranged || order > c->most)
		c->most = order;
	c->ranged = true;
	if (c->dictionary) {
		for (i = 0; i < 8; i++)
			bytes[i] = number >> (8 * i);
		i = ct_dictionary_index(&c->known, bytes, types[c->column->type].width);
		if (i == CT_DICTIONARY_FULL)
			chunk_fall_back(c, z);
		else
			c->indices[c->values] = i;
	}
	if (!c->dictionary)
		c->numbers[c->values] = number;
	chunk_row(c, z, true);
}

void ct_chunk_text(struct ct_chunk *c, struct ct_compress *z, const char *text, size_t len, bool kept)
{
	struct ct_chunk_known *known = (struct ct_chunk_known *)ct_chunk_known(c, text);
	uint32_t i;

	c->ranged = true;
	if (c->dictionary && kept && known->text == text) {
		c->indices[c->values] = known->index;
	} else if (c->dictionary) {
		i = ct_dictionary_index(&c->known, text, len);
		if (i == CT_DICTIONARY_FULL) {
			chunk_fall_back(c, z);
		} else {
			c->indices[c->values] = i;
			if (kept)
				*known = (struct ct_chunk_known){ text, i };
		}
	}
	if (!c->dictionary) {
		ct_bytes_number(&c->texts, len, 4);
		ct_bytes_put(&c->texts, text, len);
	}
	chunk_row(c, z, true);
}

/* -------------------------------------------------------------- the chunk --- */

static int chunk_compare(const uint8_t *a, size_t a_len, const uint8_t *b, size_t b_len)
{
	int order = memcmp(a, b, a_len < b_len ? a_len : b_len);

	return order ? order : a_len < b_len ? -1 : a_len > b_len;
}

/* The range of texts is that of the dictionary; without one it is not told. */
static void chunk_text_range(const struct ct_chunk *c, struct ct_thrift *t)
{
	const uint8_t *least = NULL, *most = NULL, *value;
	size_t least_len = 0, most_len = 0, len;

	for (uint32_t i = 0; i < c->known.count; i++) {
		value = ct_dictionary_value(&c->known, i, &len);
		if (!least || chunk_compare(value, len, least, least_len) < 0)
			least = value, least_len = len;
		if (!most || chunk_compare(value, len, most, most_len) > 0)
			most = value, most_len = len;
	}
	if (!most || c->fell_back || least_len > RANGE_BYTES || most_len > RANGE_BYTES)
		return;
	ct_thrift_field_bytes(t, 5, most, most_len);
	ct_thrift_field_bytes(t, 6, least, least_len);
}

static void chunk_statistics(const struct ct_chunk *c, struct ct_thrift *t)
{
	unsigned int width = types[c->column->type].width;
	uint64_t least = chunk_order(c, c->least), most = chunk_order(c, c->most);
	uint8_t bytes[16];

	ct_thrift_field_struct(t, 12);
	ct_thrift_field_i64(t, 3, c->nulls);
	if (c->ranged && c->column->type == CT_PARQUET_TEXT) {
		chunk_text_range(c, t);
	} else if (c->ranged) {
		for (unsigned int i = 0; i < 8; i++) {
			bytes[i] = most >> (8 * i);
			bytes[8 + i] = least >> (8 * i);
		}
		ct_thrift_field_bytes(t, 5, bytes, width);
		ct_thrift_field_bytes(t, 6, bytes + 8, width);
	}
	ct_thrift_end(t);
}

static void chunk_describe(const struct ct_chunk *c, struct ct_thrift *t, uint64_t offset,
			   size_t dictionary, size_t size)
{
	bool plain = !c->column->rising && (!c->indexed || c->fell_back);

	ct_thrift_struct(t);
	ct_thrift_field_i64(t, 2, 0);
	ct_thrift_field_struct(t, 3);
	ct_thrift_field_i32(t, 1, types[c->column->type].physical);
	ct_thrift_field_list(t, 2, CT_THRIFT_I32, 1 + (plain || c->indexed) + c->indexed + c->column->rising);
	ct_thrift_i32(t, RLE);
	if (plain || c->indexed) /* a dictionary's page is plain */
		ct_thrift_i32(t, PLAIN);
	if (c->indexed)
		ct_thrift_i32(t, RLE_DICTIONARY);
	if (c->column->rising)
		ct_thrift_i32(t, DELTA);
	ct_thrift_field_list(t, 3, CT_THRIFT_BINARY, 1);
	ct_thrift_text(t, c->column->name);
	ct_thrift_field_i32(t, 4, ZSTD);
	ct_thrift_field_i64(t, 5, c->total_rows);
	ct_thrift_field_i64(t, 6, c->plain_size);
	ct_thrift_field_i64(t, 7, size);
	ct_thrift_field_i64(t, 9, offset + dictionary);
	if (dictionary)
		ct_thrift_field_i64(t, 11, offset);
	chunk_statistics(c, t);
	ct_thrift_end(t);
	ct_thrift_end(t);
}

static void chunk_empty(struct ct_chunk *c)
{
	ct_dictionary_empty(&c->known);
	memset(c->kept, 0, sizeof(c->kept));
	c->pages.len = 0;
	c->ended_size = c->plain_size;
	c->total_rows = c->nulls = c->plain_size = 0;
	c->dictionary = chunk_wants_dictionary(c->column);
	c->ranged = c->indexed = c->fell_back = false;
}

int ct_chunk_end(struct ct_chunk *c, struct ct_compress *z, uint64_t offset, struct ct_thrift *t,
		 struct ct_bytes *out)
{
	struct ct_bytes data;
	size_t before = out->len;

	chunk_end_page(c, z);
	data = c->pages;
	c->pages = (struct ct_bytes){ 0 };
	if (c->indexed)
		chunk_put_page(c, z, DICTIONARY_PAGE, &c->known.page, PLAIN, c->known.count);
	chunk_describe(c, t, offset, c->pages.len, c->pages.len + data.len);
	ct_bytes_put(out, c->pages.data, c->pages.len);
	ct_bytes_put(out, data.data, data.len);
	c->failed |= c->known.failed || out->failed || out->len == before;
	ct_bytes_free(&c->pages);
	c->pages = data;
	chunk_empty(c);
	return c->failed ? -ENOMEM : 0;
}

/* ------------------------------------------------------------- the schema --- */

void ct_chunk_schema(const struct ct_parquet_column *column, struct ct_thrift *t)
{
	enum ct_parquet_type type = column->type;

	ct_thrift_struct(t);
	ct_thrift_field_i32(t, 1, types[type].physical);
	ct_thrift_field_i32(t, 3, !column->required);
	ct_thrift_field_text(t, 4, column->name);
	if (types[type].converted >= 0)
		ct_thrift_field_i32(t, 6, types[type].converted);
	if (type == CT_PARQUET_TEXT) {
		ct_thrift_field_struct(t, 10);
		ct_thrift_field_struct(t, 1);
		ct_thrift_end(t);
		ct_thrift_end(t);
	} else if (type == CT_PARQUET_MICROS) {
		ct_thrift_field_struct(t, 10);
		ct_thrift_field_struct(t, 8);
		ct_thrift_field_bool(t, 1, true);	/* UTC */
		ct_thrift_field_struct(t, 2);
		ct_thrift_field_struct(t, 2);
		ct_thrift_end(t);
		ct_thrift_end(t);
		ct_thrift_end(t);
		ct_thrift_end(t);
	} else if (type == CT_PARQUET_U32 || type == CT_PARQUET_U64) {
		ct_thrift_field_struct(t, 10);
		ct_thrift_field_struct(t, 10);
		ct_thrift_field_i8(t, 1, 8 * types[type].width);
		ct_thrift_field_bool(t, 2, false);
		ct_thrift_end(t);
		ct_thrift_end(t);
	}
	ct_thrift_end(t);
}
