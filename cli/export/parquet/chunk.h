/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The values of one column in one row group.  They are gathered into pages, which are encoded
 * and compressed as soon as they are full: only the page that is being filled is held as it is.
 */
#ifndef CT_CLI_PARQUET_CHUNK_H
#define CT_CLI_PARQUET_CHUNK_H

#include "export/parquet/compress.h"
#include "export/parquet/dictionary.h"
#include "export/parquet/thrift.h"

/* What a column holds, as readers see it. */
enum ct_parquet_type {
	CT_PARQUET_BOOL, CT_PARQUET_S32, CT_PARQUET_S64, CT_PARQUET_U32, CT_PARQUET_U64,
	CT_PARQUET_MICROS,	/* us since 1970, UTC */
	CT_PARQUET_TEXT,	/* UTF-8 */
};

struct ct_parquet_column {
	const char *name;
	enum ct_parquet_type type;
	bool required;		/* each row has a value */
	bool rising;		/* numbers that mostly rise: differences are written */
	bool various;		/* numbers that seldom come again: no dictionary */
};

#define CT_PAGE_ROWS	20000

/* Texts that stay where they are: their indices in the dictionary. */
#define CT_CHUNK_KNOWN	256
struct ct_chunk_known {
	const char *text;
	uint32_t index;
};

struct ct_chunk {
	const struct ct_parquet_column *column;
	/* The page that is being filled. */
	uint32_t *present;	/* of each row: 1, or 0 for none */
	uint32_t *indices;	/* of values in the dictionary */
	uint64_t *numbers;	/* of values that are not there */
	struct ct_bytes texts;	/* also */
	uint32_t rows, values;
	bool dictionary;	/* it has indices */
	/* The row group. */
	struct ct_dictionary known;
	struct ct_chunk_known kept[CT_CHUNK_KNOWN];
	struct ct_bytes pages;
	uint64_t total_rows, nulls, plain_size;	/* plain_size: of the pages without compression */
	uint64_t ended_size;			/* plain_size of the last row group */
	uint64_t least, most;			/* of numbers, as they are compared */
	bool ranged;				/* there was a value */
	bool indexed, fell_back;		/* a page has indices; one has not, though it might */
	bool failed;				/* no memory */
};

/* 0 or -ENOMEM; ends with ct_chunk_free(), also after an error. */
int ct_chunk_init(struct ct_chunk *c, const struct ct_parquet_column *column);
void ct_chunk_free(struct ct_chunk *c);

/* A row.  A text must be UTF-8; @kept: it stays where it is until the row group ends. */
void ct_chunk_null(struct ct_chunk *c, struct ct_compress *z);
void ct_chunk_number(struct ct_chunk *c, struct ct_compress *z, uint64_t number);
void ct_chunk_text(struct ct_chunk *c, struct ct_compress *z, const char *text, size_t len, bool kept);

/* Where a text that stays is, if it was given already: then its text is the same. */
static inline const struct ct_chunk_known *ct_chunk_known(const struct ct_chunk *c, const char *text)
{
	return &c->kept[((uintptr_t)text ^ (uintptr_t)text >> 8) % CT_CHUNK_KNOWN];
}

/* Bytes that the row group has until now, about. */
static inline size_t ct_chunk_size(const struct ct_chunk *c)
{
	return c->pages.len + c->texts.len + c->known.page.len;
}

/**
 * ct_chunk_end() - the end of the row group
 * @offset: where in the file the chunk will be
 * @t: the chunk's description is written to it, as an element of a list
 * @out: the chunk's bytes are put to it
 *
 * Return: 0 or -ENOMEM.  The chunk is then empty, for the next row group.
 */
int ct_chunk_end(struct ct_chunk *c, struct ct_compress *z, uint64_t offset, struct ct_thrift *t,
		 struct ct_bytes *out);

/* The column in the file's schema, as an element of a list. */
void ct_chunk_schema(const struct ct_parquet_column *column, struct ct_thrift *t);

#endif
